"""Segmented sorts in `hsgen.cuda` and `hsgen.opencl`: the options of a call, and the checks of its arguments."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

from hsgen.core.interpreter import Options
from hsgen.core.numbers import MOST, integer
from hsgen.operations.segmented_sort import OPERATION
from hsgen.runners.base import Calls, Numbers
from hsgen.runners.ranges import AnyRange
from hsgen.runners.sort import check_sorted_values

REFUSED = "offsets decrease, segments overlap, or one ends beyond the keys; nothing was written"
"""The message for a call with invalid offsets."""
UNSEGMENTED = "offsets is missing: give offsets, or segments where all are of equal length"


class SegmentedCalls(Calls):
    """Checks the arguments of calls that sort each segment of an array."""

    operation = OPERATION
    noun, verb, done = "sort", "sort", "sorted"
    hint = ", and the rows as segments={rows}"

    def integers(self, segments: Any, begin: Any, end: Any) -> Numbers:
        """Return the numbers of a call as Python integers; None for a missing number of segments."""
        return None if segments is None else integer("segments", segments, 0, MOST), *self.bits(begin, end)

    def settle(self, ranges: dict[str, AnyRange], numbers: Numbers) -> tuple[int, Options]:
        """See `Calls`; without a number of segments, the size of the offsets determines it."""
        segments, begin, end = numbers
        signature, bits = self.sort.signature, self.sort.plan.bits
        if segments is None:
            if "other" not in ranges:
                raise ValueError(UNSEGMENTED)
            segments = max(ranges["other"].size // 4 - (not signature.segment_ends), 0)
        last = bits if end is None else end
        if (begin, last) != (0, bits) and not signature.bit_range:
            raise ValueError("begin_bit or end_bit is given; make the sorter with bit_range=True")
        options = replace(self.options, segment_count=segments, begin=begin, end=last)
        return self.length_of(ranges, None), options

    def check_given(self, present: Container[str]) -> None:
        """See `Calls`; if the sorter has `segment_ends`, a call must have both offsets and ends, or neither."""
        signature = self.sort.signature
        if "other_values" in present and not signature.segment_ends:
            raise ValueError("ends is given; make the sorter with segment_ends=True")
        if "count" in present and not signature.segment_count:
            raise ValueError("count is given; make the sorter with segment_count=True")
        if signature.segment_ends and ("other" in present) != ("other_values" in present):
            name = "ends" if "other" in present else "offsets"
            raise ValueError(f"{name} is missing: this sorter takes offsets and ends of segments")
        check_sorted_values(self, present)

    def length(self, role: str, n: int, options: Options) -> int:
        """See `Calls`; a call with ends of segments uses as many offsets as ends."""
        ends = role == "other" and self.sort.signature.segment_ends
        return super().length("other_values" if ends else role, n, options)

    def purpose(self, role: str, options: Options) -> str:
        """See `Calls`; for offsets and ends, the text also names the number of segments."""
        text, count = super().purpose(role, options), options.segment_count
        return f"{text} for {count} segment{'s' * (count != 1)}" if role in ("other", "other_values") else text
