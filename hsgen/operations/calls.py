"""Calls as plain values: arrays before and after, and how the call is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import PLAIN, Options
from hsgen.operations.inputs import Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a validation: the arrays before and after it, and how it is made.

    `keys` are the elements of the n items, `values` rows of words, None where there are none to read.  `expected` is
    None where keys are not wanted, `values_expected` where there are none.  `count` is what lies on the device as the
    count, None where n is given by the host; `n` is then the capacity.  `other` and `other_values` are the second
    of two arrays with its values, `keys` and `values` then the first; or offsets of segments.  `report` is what must be
    told besides, from the begin of a buffer of n words and more; or, of an epilogue, of which nobody knows what it
    tells, there is a buffer of `report_room` words for it.
    """

    n: int
    keys: NDArray[Any]
    expected: NDArray[Any] | None
    in_place: bool
    values: NDArray[Any] | None = None
    values_expected: NDArray[Any] | None = None
    how: Options = PLAIN
    count: int | None = None
    other: NDArray[Any] | None = None
    other_values: NDArray[Any] | None = None
    report: NDArray[np.uint32] | None = None
    report_room: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is sorted in a benchmark, how, and what must come of it; values are rows of words.

    `kind` is a name in `hsgen.tools.bench.INPUTS`.  Of a merge `keys` and `values` are the first array, `other` and
    `other_values` the second.  `offsets` are those of segments, one more than there are, also where these are rows.
    `report` is what is told besides.
    """

    keys: Keys
    values: NDArray[Any] | None
    expected: Keys
    values_expected: NDArray[Any] | None
    how: Options
    kind: str = "random"
    other: Keys | None = None
    other_values: NDArray[Any] | None = None
    offsets: NDArray[np.int64] | None = None
    report: NDArray[np.uint32] | None = None

    @property
    def n(self) -> int:
        """The number of keys."""
        return len(self.expected)

    @property
    def copied(self) -> int:
        """The bytes of keys and values together."""
        return self.expected.nbytes + (0 if self.values_expected is None else self.values_expected.nbytes)
