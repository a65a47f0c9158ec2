"""Calls of validations and benchmarks as plain data: inputs, expected results and options."""

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

    n: the count; with a device-side count, the capacity.
    keys: the elements of the n items, shape (n * elements per item,).
    expected: the expected keys; None if the call discards its keys.
    in_place: whether the call is in place.
    values: the values before the call, shape (n, 32-bit words of a value); None without values.
    values_expected: the expected values after the call, in the same form.
    how: the options.
    count: the device-side count; None if the host passes the count.
    other: the array of the role "other", such as the second of two arrays, or the offsets of segments.
    other_values: the array of the role "other_values", such as the values of the second array, or the ends of segments.
    takes: for each row of a selection, the number of keys to take.
    value_starts: for each row of a selection, the index of the first value.
    report: the expected first words of the report.
    report_room: the number of words that an epilogue may write to its report; validations do not check these words.
    counts: the expected lengths of runs, which the call stores in the role "other"; None if it does not store them.
    firsts: the expected indices of the runs' first keys, which the call stores in the role "other_values"; None if it
    does not store them.
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
    count: n, for operations whose number of results may differ from n; None if n is the number of results.
    counts: whether `values_expected` has the lengths of runs instead of values.
    room: the number of values for which the output must have room, if it exceeds the number of expected values; else 0.
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
        """The size in bytes of the copy of memory with which benchmarks compare the speed of the call.

        It is the size of the keys and values after the call or, if `count` is given, before the call.
        """
        if self.count is not None:
            return self.keys.nbytes + (0 if self.values is None else self.values.nbytes)
        return self.expected.nbytes + (0 if self.values_expected is None else self.values_expected.nbytes)
