"""Calls that validations and benchmarks make, as plain data: inputs, expected results and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import PLAIN, Options
from hsgen.operations.inputs import Keys

UNTOUCHED = 0x5A5A5A5A
"""The content of each 32-bit word of a validation call's outputs before the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A validation call: its inputs, expected results and options.

    n: the number of items; with a device-side count, the capacity.
    keys: the elements of the n items, shape (n * elements per item,).
    expected: the keys that the call should write; None if it writes none.
    in_place: whether the call is in place.
    values: the values before the call, shape (n, 32-bit words of a value); None without values.
    values_expected: the values that the call should write, one row for each; None without values.
    how: the options.
    count: the device-side count; None if the host passes the count.
    other: the array of the role "other", such as the second of two arrays, or the offsets of segments.
    other_values: the array of the role "other_values", such as the values of the second array, or the ends of segments.
    takes: for each row of a selection, the number of keys to take.
    value_starts: for each row of a selection, the index of the first value.
    report: the first words that the call should write to its report, an output besides keys and values.
    report_room: the number of words of the report that an epilogue may write; validations do not check these words.
    counts: the lengths of runs that the call should store in the role "other"; None if it stores none.
    firsts: the indices of the runs' first keys that the call should store in the role "other_values"; None if it stores
    none.
    unchanged: for each element of the result, whether the call must leave the element unchanged, shape (n,).
    shared: maps a role to another role, if the call passes the array of the other role for both roles.
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

    keys, expected: the keys before and after the call.
    values, values_expected: the values before and after the call, as rows of 32-bit words; None without values.
    how: the options.
    kind: the name of the input in `hsgen.tools.bench.INPUTS`.
    other, other_values: the second array of a merge; `keys` and `values` are the first.
    offsets: the boundaries of segments or rows, shape (segments + 1,).
    report: the expected report.
    columns: the number of elements per item.
    count: n, if the number of results may differ from n; None if the call has n results.
    counts: whether `values_expected` has the lengths of runs instead of values.
    room: the number of values that the output for values must be able to hold, if it exceeds the number of expected
    values; else 0.
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
        """The bytes of a plain memory copy whose time benchmarks compare with the time of the call.

        They are the keys and values that the call writes or, if `count` is given, those that it reads.
        """
        if self.count is not None:
            return self.keys.nbytes + (0 if self.values is None else self.values.nbytes)
        return self.expected.nbytes + (0 if self.values_expected is None else self.values_expected.nbytes)
