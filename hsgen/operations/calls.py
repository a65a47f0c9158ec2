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
"""The content of each 32-bit word of a validation's outputs before the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A validation call: its inputs, expected results and options.

    n: the count; the capacity if the call has a device-side count.
    keys: the elements of the n items, shape (n * columns,).
    expected: the expected keys; None if the call discards them.
    values, values_expected: values before and after the call, shape (n, 32-bit words of a value); None without values.
    count: the device-side count; None if the host passes the count.
    other: the second of two arrays, or the offsets of segments.
    other_values: the values of the second array, or the ends of segments.
    takes, value_starts: for each row of a selection, the number of keys to take and the index of the first value.
    report: the expected start of the report.
    report_room: the number of words of an epilogue's report, whose contents cannot be verified.
    counts, firsts: the expected lengths of runs and indices of their first keys, which the call stores in the roles
    other and other_values; None if the call does not store them.
    unchanged: for each element of the result, shape (n,), whether the call must not change it.
    shared: for each role without a separate array, the role whose array the call passes.
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
    takes: NDArray[np.uint32] | None = None
    value_starts: NDArray[np.uint32] | None = None
    report: NDArray[np.uint32] | None = None
    report_room: int | None = None
    counts: NDArray[np.uint32] | None = None
    firsts: NDArray[np.uint32] | None = None
    unchanged: NDArray[np.bool_] | None = None
    shared: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A benchmark workload: its inputs, expected results and options.

    keys, expected: keys before and after the call.
    values, values_expected: values before and after the call, as rows of 32-bit words; None without values.
    kind: a name in `hsgen.tools.bench.INPUTS`.
    other, other_values: the second array of a merge; `keys` and `values` are the first.
    offsets: the boundaries of segments or rows, shape (segments + 1,).
    report: the expected report.
    columns: the number of elements per item.
    count: n, if the result may have fewer items; else None.
    counts: whether `values_expected` contains the lengths of runs.
    room: the number of rows of the values' output, if it exceeds the number of expected rows; else 0.
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
        """The number of items."""
        return len(self.expected) // self.columns if self.count is None else self.count

    @property
    def copied(self) -> int:
        """The size in bytes of the keys and values after the call, or before the call if its result is shorter."""
        if self.count is not None:
            return self.keys.nbytes + (0 if self.values is None else self.values.nbytes)
        return self.expected.nbytes + (0 if self.values_expected is None else self.values_expected.nbytes)
