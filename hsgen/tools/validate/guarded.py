"""Framed device buffers: every array that a sort gets lies between guard words, which must survive.

An input that is only read must not change either.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen import operations
from hsgen.engines.engine import COUNT, KEYS, KEYS_OUT, OTHER, OTHER_VALUES, REPORT, VALUES, VALUES_OUT, Engine
from hsgen.operations.calls import Call
from hsgen.stages.attach import report_words
from hsgen.targets import assembly

FRONT = 1024  # guard bytes before an array, at least; a multiple of every device's base alignment
SHIFTS = 16  # places at which arrays begin, an element or what the device asks for apart
_SLOTS = {"other": OTHER, "other_values": OTHER_VALUES}
_GUARD = 0x5A
_MORE = 64  # elements behind the last block that are guarded as well

Bytes = NDArray[np.uint8]


class Frame:
    """The buffers of an engine with guards, and what it takes to run calls in them."""

    def __init__(self, engine: Engine, greatest: int) -> None:
        sort = engine.sort
        self._engine, self._item = engine, sort.item_bytes
        self._value = sort.signature.value_bytes
        self.unit = max(engine.align, sort.key.bytes)
        self._value_unit = max(engine.align, self._value, 4)
        self.back = (assembly.block(sort) + _MORE) * max(self._item, self._value)
        rooms = {KEYS: self._item, KEYS_OUT: self._item}
        rooms |= {VALUES: self._value, VALUES_OUT: self._value} if self._value else {}
        rooms |= {_SLOTS[role]: size for role, size in operations.of(sort).inputs(sort).items()}
        words, words_per_key = report_words(sort)
        if words or words_per_key:
            rooms |= {REPORT: 4 * max(1, words_per_key)}
        for slot, size in rooms.items():
            engine.allocate(
                slot, FRONT + SHIFTS * max(self.unit, self._value_unit) + greatest * size + self.back + 4 * words
            )
        self._count_unit = max(engine.align, 4)
        if sort.signature.device_count:
            engine.allocate(COUNT, FRONT + SHIFTS * self._count_unit + self.back)

    def framed(self, array: NDArray[Any], place: int) -> Bytes:
        """Return the bytes of a buffer in which `array` begins at `place`, with guards around."""
        data = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        image = np.full(place + len(data) + self.back, _GUARD, np.uint8)
        image[place : place + len(data)] = data
        return image

    def run(self, call: Call, shifts: tuple[int, int] = (0, 0)) -> str | None:
        """Sort; the places of the arrays are shifted by these units.  Say what is wrong, or return None."""
        engine, (a, b) = self._engine, shifts
        source = FRONT + a * self.unit
        destination = source if call.in_place else FRONT + b * self.unit
        at = {"source": (KEYS, source)}
        before = {KEYS: self.framed(call.keys, source)}
        after = dict(before)
        if call.in_place:
            at["destination"] = at["source"]
            after[KEYS] = self.framed(_whole(call.expected, call.keys), source)
        elif call.expected is not None:
            blank = _blank(call.keys if call.other is None else call.expected)
            at["destination"] = (KEYS_OUT, destination)
            before[KEYS_OUT] = self.framed(blank, destination)
            after[KEYS_OUT] = self.framed(_whole(call.expected, blank), destination)
        self._values(call, shifts, at, before, after)
        for role, slot, array in (("other", OTHER, call.other), ("other_values", OTHER_VALUES, call.other_values)):
            if array is not None:
                unit = self._value_unit if slot == OTHER_VALUES or array.itemsize == 4 else self.unit
                at[role] = (slot, FRONT + (a * 3 + b) % SHIFTS * unit)
                before[slot] = after[slot] = self.framed(array, at[role][1])
        report = np.zeros(0, np.uint32) if call.report_room is not None else call.report
        if report is not None:
            at["report"] = (REPORT, FRONT + (a + b * 3) % SHIFTS * self._value_unit)
            room = call.n + 1 if call.report_room is None else call.report_room
            blank = _blank(np.zeros(max(room, len(report)), np.uint32))
            before[REPORT] = self.framed(blank, at["report"][1])
            after[REPORT] = self.framed(_whole(report, blank), at["report"][1])
        if call.count is not None:
            at["count"] = (COUNT, FRONT + (a + b) % SHIFTS * self._count_unit)
            before[COUNT] = after[COUNT] = self.framed(np.array([call.count], np.uint32), at["count"][1])
        for slot, image in before.items():
            engine.write(slot, image)
        engine.run(call.n, at, call.how)
        for slot, image in after.items():
            found = np.empty_like(image)
            engine.read(slot, found)
            if slot == REPORT and call.report_room is not None:
                told = slice(at["report"][1], at["report"][1] + 4 * call.report_room)
                image[told] = found[told]
            if not np.array_equal(found, image):
                place = next((p for s, p in at.values() if s == slot), 0)
                return self._describe(slot, found, image, before[slot], place, call)
        return None

    def _values(
        self,
        call: Call,
        shifts: tuple[int, int],
        at: dict[str, tuple[int, int]],
        before: dict[int, Bytes],
        after: dict[int, Bytes],
    ) -> None:
        """Add the buffers of values to those of keys."""
        if call.values_expected is None:
            if call.values is not None:  # which are only read
                at["values"] = (VALUES, FRONT + shifts[0] * 3 % SHIFTS * self._value_unit)
                before[VALUES] = after[VALUES] = self.framed(call.values, at["values"][1])
            return
        from_, to = (FRONT + (s * 3 % SHIFTS) * self._value_unit for s in shifts)
        rows = len(call.keys) + (0 if call.other_values is None else len(call.other_values))
        blank = np.full((rows, call.values_expected.shape[1]), 0x5A5A5A5A, np.uint32)
        if call.values is not None:
            at["values"] = (VALUES, from_)
            before[VALUES] = after[VALUES] = self.framed(call.values, from_)
            if call.in_place:
                at["values_out"] = at["values"]
                after[VALUES] = self.framed(_whole(call.values_expected, call.values), from_)
                return
        at["values_out"] = (VALUES_OUT, to)
        before[VALUES_OUT] = self.framed(blank, to)
        after[VALUES_OUT] = self.framed(_whole(call.values_expected, blank), to)

    def _describe(self, slot: int, found: Bytes, image: Bytes, before: Bytes, place: int, call: Call) -> str:
        at = int(np.flatnonzero(found != image)[0]) - place
        if slot == REPORT:
            return f"byte {at} of the report is {found[place + at]}, should be {image[place + at]}"
        values = slot in (VALUES, VALUES_OUT, OTHER_VALUES)
        size = self._value if values else self._engine.sort.key.bytes
        items = call.n if values else call.n * self._item // size
        what = "value" if values else operations.of(self._engine.sort).element
        if at < 0:
            return f"byte {-at} before the {what}s was overwritten"
        if at >= items * size:
            return f"byte {at - items * size} after the {what}s was overwritten"
        if np.array_equal(image, before) and slot in (KEYS, VALUES, OTHER, OTHER_VALUES):
            return "the input was changed"
        one = slice(place + at // size * size, place + at // size * size + size)
        shown = [int.from_bytes(x[one].tobytes(), "little") for x in (found, image)]
        return f"{what} {at // size} is {shown[0]}, should be {shown[1]}"


def _blank(array: NDArray[Any]) -> NDArray[Any]:
    return np.full(array.nbytes, _GUARD, np.uint8).view(array.dtype).reshape(array.shape)


def _whole(expected: NDArray[Any] | None, rest: NDArray[Any]) -> NDArray[Any]:
    """What was expected, and behind it what must be as it was: keys at or beyond the count on the device."""
    assert expected is not None
    return np.concatenate([expected, rest[len(expected) :]])
