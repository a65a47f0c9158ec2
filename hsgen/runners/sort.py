"""Sorts in `hsgen.cuda` and `hsgen.opencl`: the options of a call, and the checks of its arguments."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

from hsgen.core.interpreter import PLAIN, Options, scratch_bytes
from hsgen.core.numbers import integer
from hsgen.operations.sort import OPERATION
from hsgen.runners.base import Calls, Numbers
from hsgen.runners.ranges import AnyRange
from hsgen.stages.attach import report_length, report_words


class SortCalls(Calls):
    """Checks the arguments of calls that sort a whole array."""

    operation = OPERATION
    verb, done = "sort", "sorted"
    hint = ", or sort {rows} rows with a SegmentedSorter: segments={rows}"

    def integers(self, n: Any, begin: Any, end: Any, discard: Any, shift: Any) -> Numbers:
        """Return the numbers of a call as Python integers."""
        bits = self.sort.plan.bits
        return self.count(n), *self.bits(begin, end), bool(discard), integer("shift", shift, 0, bits - 1)

    def check_given(self, present: Container[str]) -> None:
        """See `Calls`."""
        check_sorted_values(self, present)

    def settle(self, ranges: dict[str, AnyRange], numbers: Numbers) -> tuple[int, Options]:
        """See `Calls`."""
        n, begin, end, discard, shift = numbers
        options = self._options(begin, end, "count" in ranges, discard)
        options = replace(options, shift=self._shift(shift, "report" in ranges))
        if discard and "destination" in ranges:
            raise ValueError("out and discard_keys are given; give one of them")
        return self.length_of(ranges, n), options

    def scratch_bytes(self, n: Any, *, discard_keys: bool) -> int:
        """Return the size in bytes of the scratch memory that a sort of `n` keys needs.

        discard_keys: whether the sort is an argsort that discards its keys.
        """
        options = Options(discard=True) if discard_keys else PLAIN
        return scratch_bytes(self.sort, integer("n", n, 0, self.max_n), options)

    def length(self, role: str, n: int, options: Options) -> int:
        """See `Calls`; the length of the report depends on what writes the report after the sort: run boundaries or an
        epilogue.
        """
        return report_length(self.sort, n) if role == "report" else super().length(role, n, options)

    def _options(self, begin: int, end: int | None, device_count: bool, discard: bool) -> Options:
        """Return the options of a call, after a check that the sort supports them."""
        signature, bits = self.sort.signature, self.sort.plan.bits
        last = bits if end is None else end
        options = replace(self.options, begin=begin, end=last, discard=discard, device_count=device_count)
        for used, supported, word in (
            (
                (begin, last) != (0, bits),
                signature.bit_range,
                "begin_bit or end_bit is given; make the sorter with bit_range=True",
            ),
            (device_count, signature.device_count, "count is given; make the sorter with device_count=True"),
            (
                discard,
                signature.index,
                'discard_keys needs an argsort; make the sorter with value="index" or "index64"',
            ),
        ):
            if used and not supported:
                raise ValueError(word)
        return options

    def _shift(self, shift: int, has_report: bool) -> int:
        """Return the argument `shift`, after a check that it and the report suit the sort.

        shift: the lowest bit in which the keys of a run must agree.
        """
        if has_report != (report_words(self.sort) != (0, 0)):
            raise ValueError(
                "report is given; make the sorter with run_boundaries=True, or with an epilogue that has a report"
                if has_report
                else "report is missing: this sorter reports run boundaries, or its epilogue writes a report"
            )
        if shift and not (has_report or self.sort.signature.epilogue):
            raise ValueError(f"shift {shift}: this sorter reports nothing; give 0")
        return shift


def check_sorted_values(calls: Calls, present: Container[str]) -> None:
    """Raise a ValueError if a call of a sort or an argsort has unexpected arrays of values, or lacks one.

    present: the roles of the call's arrays.
    """
    size, index = calls.sort.signature.value_bytes, calls.sort.signature.index
    for role, takes in (("values", size and not index), ("values_out", size)):
        if role in present and not takes:
            reason = f"makes {role[:6]} of its own" if index else "has none; give value= when it is made"
            raise ValueError(f"{role} is given, but this sorter {reason}")
    if size and ("values_out" if index else "values") not in present:
        problem = "values_out is missing: an argsort writes" if index else "values is missing: this sorter takes"
        raise ValueError(f"{problem} {size} bytes a key")
