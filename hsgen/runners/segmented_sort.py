"""Segmented sorts in the Python APIs: the arrays that a call needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.numbers import MOST, integer
from hsgen.runners.base import Base, Given
from hsgen.runners.ranges import Range

REFUSED = "offsets decrease, segments overlap, or one ends beyond the keys; nothing was written"
"""The message for a call with invalid offsets."""
UNSEGMENTED = "offsets is missing: give offsets, or segments where all are of equal length"

_NAMES = {"source": "keys", "destination": "out", "other": "offsets", "other_values": "ends"}


class SegmentedCalls(Base):
    """Calls of a segmented sort."""

    _names = _NAMES
    _numbers: Mapping[str, str] = {"segment_count": "segments"}
    _counting = (*Base._counting, "other", "other_values")
    _operation = "segmented_sort"
    _rows_hint = ", and the rows as segments={rows}"
    _segment_count = 0  # of the current call

    def _signature(self, key: Any, value: Any, order: str, **features: Any) -> Signature:
        """Return the signature of the sort of these keys; `features` are True for features that calls may use."""
        options = self._name_keys(key, value, order)
        plain = Signature(value=self.value, key_transform=options.kind > 0 or options.descending)
        used: dict[str, Any] = {name: bool(has) for name, has in features.items()}
        return replace(plain, **used)

    def _counted(self, size: int) -> int:
        """Return the number of segments of offsets with this size in bytes."""
        return max(size // 4 - (not self._sort.signature.segment_ends), 0)

    def _integers(self, segments: Any, begin: Any, end: Any) -> tuple[int | None, int, int | None]:
        """Return the numbers of a call as integers of Python."""
        return None if segments is None else integer("segments", segments, 0, MOST), *self._bits(begin, end)

    def _called(self, segments: int, begin: int, end: int | None) -> Options:
        """Return the options of a call, after checks of the bit range."""
        bits = self._sort.plan.bits
        last = bits if end is None else end
        options = replace(self._how, segment_count=segments, begin=begin, end=last)
        if (options.begin, last) != (0, bits) and not self._sort.signature.bit_range:
            raise ValueError("begin_bit or end_bit is given; make the sorter with bit_range=True")
        return options

    def _check_given(self, arrays: Given) -> None:
        """Check for unexpected and missing values, and for ends of segments without starts."""
        signature = self._sort.signature
        if arrays["other_values"] is not None and not signature.segment_ends:
            raise ValueError("ends is given; make the sorter with segment_ends=True")
        if arrays["count"] is not None and not signature.segment_count:
            raise ValueError("count is given; make the sorter with segment_count=True")
        if signature.segment_ends and (arrays["other"] is None) != (arrays["other_values"] is None):
            name = "offsets" if arrays["other"] is None else "ends"
            raise ValueError(f"{name} is missing: this sorter takes offsets and ends of segments")
        for role, takes in (
            ("values", signature.value_bytes and not signature.index),
            ("values_out", signature.value_bytes),
        ):
            if arrays[role] is not None and not takes:
                reason = "makes values of its own" if signature.index else "has none; give value= when it is made"
                raise ValueError(f"{role} is given, but this sorter {reason}")
        missing = "values_out" if signature.index else "values"
        if signature.value_bytes and arrays[missing] is None:
            raise ValueError(f"{missing} is missing: this sorter has {signature.value_bytes} bytes a key")

    def _length(self, role: str, n: int) -> int:
        """Return the number of items that a call uses in the buffer of a role."""
        if role in ("other", "other_values"):
            return self._segment_count + (not self._sort.signature.segment_ends)
        return super()._length(role, n)

    def _check_room(self, role: str, x: Range, need: int) -> None:
        """Check that an array has enough items; messages about offsets and ends have the number of segments."""
        if role in ("other", "other_values") and 4 * need > x.size:
            name, are = self._names[role], "is" if need == 1 else "are"
            of = f"{self._segment_count} segment{'s' * (self._segment_count != 1)}"
            raise ValueError(f"{name} holds {x.size // 4} numbers, {need} {are} needed for {of}")
        super()._check_room(role, x, need)

    def _size(self, role: str) -> int:
        """Return the bytes of one item in the buffer of a role."""
        return 4 if role in ("other", "other_values") else super()._size(role)

    def _elements(self, role: str) -> str:
        """Return the required element type of an array; "" is any type of the right size."""
        return "uint32" if role in ("other", "other_values") else super()._elements(role)
