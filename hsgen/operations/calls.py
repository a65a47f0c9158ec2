"""Calls as plain values: inputs, expected results and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import PLAIN, Options
from hsgen.operations.inputs import Keys

UNTOUCHED = 0x5A5A5A5A
"""The words of a validation's outputs before the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A validation call: its inputs, expected results and options.

    keys: the elements of the n items, shape (n * columns,).  values: input values, shape (n, 32-bit words of a value);
    None without any.  expected: keys; None if they are discarded.  values_expected: values; None without any.
    count: the device-side count, with `n` as the capacity; None if the host gives n.  other: the second of two arrays,
    or the offsets of segments.  other_values: the values of the second array.  report: the expected start of the
    report.  report_room: the words of a report whose contents cannot be verified, that of an epilogue.
    counts, firsts: the expected counts of runs and indices of their first keys, in the roles of the second array and of
    its values; None if they are not stored.  kept: whether each element of the result, shape (n,), must not change.
    shared: roles without an array of their own, each with the role whose array it reads.
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
    counts: NDArray[np.uint32] | None = None
    firsts: NDArray[np.uint32] | None = None
    kept: NDArray[np.bool_] | None = None
    shared: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A benchmark workload: its inputs, expected results and options; values are rows of 32-bit words.

    kind: a name in `hsgen.tools.bench.INPUTS`.  In a merge, `keys` and `values` are the first array, `other` and
    `other_values` the second.  offsets: segment boundaries, one more than segments, also for rows of equal length.
    report: the expected report.  columns: elements of each of the n items.  count: n, if
    the result is shorter.  counts: the values expected are the counts of runs.  room: the rows of values that their
    output has room for, if it must have room for more than are expected.
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
    columns: int = 1
    count: int | None = None
    counts: bool = False
    room: int = 0

    @property
    def n(self) -> int:
        """The number of keys, or of rows."""
        return len(self.expected) // self.columns if self.count is None else self.count

    @property
    def copied(self) -> int:
        """The size of keys and values in bytes; of those before a call that returns fewer."""
        if self.count is not None:
            return self.keys.nbytes + (0 if self.values is None else self.values.nbytes)
        return self.expected.nbytes + (0 if self.values_expected is None else self.values_expected.nbytes)
