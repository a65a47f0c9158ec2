"""Runs calls in device buffers with guard bytes before and after each array.

A call is faulty if it changes a guard byte, or an input that it should only read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen import operations
from hsgen.engines.engine import (
    COUNT,
    KEYS,
    KEYS_OUT,
    OTHER,
    OTHER_VALUES,
    REPORT,
    TAKES,
    VALUE_STARTS,
    VALUES,
    VALUES_OUT,
    Engine,
)
from hsgen.operations.calls import UNTOUCHED, Call
from hsgen.stages.attach import report_words
from hsgen.targets import assembly

FRONT = 1024  # least number of guard bytes before an array; it is a multiple of each device's base alignment
SHIFTS = 16  # number of start positions of an array in its buffer, spaced by an element or by the device's alignment
_SLOTS = {
    "source": KEYS,
    "other": OTHER,
    "other_values": OTHER_VALUES,
    "values": VALUES,
    "takes": TAKES,
    "value_starts": VALUE_STARTS,
}
_GUARD = 0x5A
_MORE = 64  # elements; the guard bytes after an array have the size of a block plus 64 elements

Bytes = NDArray[np.uint8]


@dataclass(slots=True)
class _Layout:
    """The arrays of a call.

    `at` has (buffer, first byte) by role.  `before` and `after` have the contents of each buffer before the call, and
    the expected contents after it.
    """

    at: dict[str, tuple[int, int]] = field(default_factory=dict)
    before: dict[int, Bytes] = field(default_factory=dict)
    after: dict[int, Bytes] = field(default_factory=dict)

    def add(self, role: str, slot: int, place: int, before: Bytes, after: Bytes | None = None) -> None:
        """Add an array in a buffer of its own; if `after` is None, the call must not change the buffer."""
        self.at[role] = (slot, place)
        self.before[slot] = before
        self.after[slot] = before if after is None else after


class Frame:
    """The buffers of an engine, large enough for calls of up to `greatest` keys and for guard bytes."""

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
            room = max(greatest * size, operations.of(sort).least_input)
            engine.allocate(slot, FRONT + SHIFTS * max(self.unit, self._value_unit) + room + self.back + 4 * words)
        self._count_unit = max(engine.align, 4)
        if sort.signature.device_count or sort.signature.segment_count or sort.signature.row_count:
            engine.allocate(COUNT, FRONT + SHIFTS * self._count_unit + self.back)

    def framed(self, array: NDArray[Any], place: int) -> Bytes:
        """Return the contents of a buffer that has `array` at byte `place`, and guard bytes before and after it."""
        data = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        image = np.full(place + len(data) + self.back, _GUARD, np.uint8)
        image[place : place + len(data)] = data
        return image

    def run(self, call: Call, shifts: tuple[int, int] = (0, 0)) -> str | None:
        """Run a call, and compare all buffers with their expected contents; return the first fault as text, or None.

        `shifts` are the start positions of the input and the output: numbers below `SHIFTS`, in units of the alignment.
        """
        layout = self._layout(call, shifts)
        for slot, image in layout.before.items():
            self._engine.write(slot, image)
        self._engine.run(call.n, layout.at, call.how)
        for slot, image in layout.after.items():
            result = np.empty_like(image)
            self._engine.read(slot, result)
            if slot == REPORT and call.report_room is not None:
                start = layout.at["report"][1]
                free = slice(start, start + 4 * call.report_room)
                image[free] = result[free]
            if not np.array_equal(result, image):
                place = next((p for s, p in layout.at.values() if s == slot), 0)
                return self._describe(slot, result, image, layout.before[slot], place, call)
        return None

    def _layout(self, call: Call, shifts: tuple[int, int]) -> _Layout:
        """Return the buffers, positions and contents of all arrays of a call."""
        layout, (a, b) = _Layout(), shifts
        self._keys(call, shifts, layout)
        self._values(call, shifts, layout)
        for role, slot, array in (("other", OTHER, call.other), ("other_values", OTHER_VALUES, call.other_values)):
            if array is not None:
                unit = self._value_unit if slot == OTHER_VALUES or array.itemsize == 4 else self.unit
                place = FRONT + (a * 3 + b) % SHIFTS * unit
                layout.add(role, slot, place, self.framed(array, place))
        for role, slot, array in (("takes", TAKES, call.takes), ("value_starts", VALUE_STARTS, call.value_starts)):
            if array is not None:
                place = FRONT + (a + b * 5) % SHIFTS * self._value_unit
                layout.add(role, slot, place, self.framed(array, place))
        for role, slot, array in (("other", OTHER, call.counts), ("other_values", OTHER_VALUES, call.firsts)):
            if array is not None:
                place = FRONT + (a * 5 + b) % SHIFTS * self._value_unit
                blank = _blank(np.zeros(call.n, np.uint32))
                layout.add(role, slot, place, self.framed(blank, place), self.framed(_whole(array, blank), place))
        report = np.zeros(0, np.uint32) if call.report_room is not None else call.report
        if report is not None:
            place = FRONT + (a + b * 3) % SHIFTS * self._value_unit
            room = call.n + 1 if call.report_room is None else call.report_room
            blank = _blank(np.zeros(max(room, len(report)), np.uint32))
            layout.add("report", REPORT, place, self.framed(blank, place), self.framed(_whole(report, blank), place))
        if call.count is not None:
            place = FRONT + (a + b) % SHIFTS * self._count_unit
            layout.add("count", COUNT, place, self.framed(np.array([call.count], np.uint32), place))
        layout.at |= {role: layout.at[of] for role, of in call.shared.items()}
        return layout

    def _keys(self, call: Call, shifts: tuple[int, int], layout: _Layout) -> None:
        """Add the keys and the sorted keys to `layout`."""
        source, target = (FRONT + shift * self.unit for shift in shifts)
        before = self.framed(call.keys, source)
        if call.in_place:
            layout.add("source", KEYS, source, before, self.framed(_whole(call.expected, call.keys), source))
            layout.at["destination"] = layout.at["source"]
            return
        layout.add("source", KEYS, source, before)
        if call.expected is not None:
            blank = _blank(call.keys if call.other is None or call.unchanged is not None else call.expected)
            after = self.framed(_whole(_kept(call.expected, blank, call), blank), target)
            layout.add("destination", KEYS_OUT, target, self.framed(blank, target), after)

    def _values(self, call: Call, shifts: tuple[int, int], layout: _Layout) -> None:
        """Add the values and the values after the sort to `layout`."""
        from_, to = (FRONT + (s * 3 % SHIFTS) * self._value_unit for s in shifts)
        if call.values is not None:
            layout.add("values", VALUES, from_, self.framed(call.values, from_))
        if call.values_expected is None:
            return
        if call.values is not None and call.in_place:
            layout.at["values_out"] = layout.at["values"]
            layout.after[VALUES] = self.framed(_whole(call.values_expected, call.values), from_)
            return
        starts = self._engine.sort.signature.row_starts  # if set, other_values are the starts of rows, not values
        more = call.other_values if call.unchanged is None and not starts else None
        rows = len(call.keys) + (0 if more is None else len(more))
        blank = np.full((max(rows, len(call.values_expected)), call.values_expected.shape[1]), UNTOUCHED, np.uint32)
        after = self.framed(_whole(_kept(call.values_expected, blank, call), blank), to)
        layout.add("values_out", VALUES_OUT, to, self.framed(blank, to), after)

    def _describe(self, slot: int, result: Bytes, image: Bytes, before: Bytes, place: int, call: Call) -> str:
        at = int(np.flatnonzero(result != image)[0]) - place
        if slot == REPORT:
            return f"byte {at} of the report is {result[place + at]}, should be {image[place + at]}"
        values = slot in (VALUES, VALUES_OUT, OTHER_VALUES)
        size = self._value if values else self._engine.sort.key.bytes
        items = call.n if values else call.n * self._item // size
        noun = "value" if values else operations.of(self._engine.sort).element
        if at < 0:
            return f"byte {-at} before the {noun}s was overwritten"
        if at >= items * size:
            return f"byte {at - items * size} after the {noun}s was overwritten"
        if np.array_equal(image, before) and slot in (*_SLOTS.values(), COUNT):
            return "the input was changed"
        one = slice(place + at // size * size, place + at // size * size + size)
        shown = [int.from_bytes(x[one].tobytes(), "little") for x in (result, image)]
        return f"{noun} {at // size} is {shown[0]}, should be {shown[1]}"


def _blank(array: NDArray[Any]) -> NDArray[Any]:
    return np.full(array.nbytes, _GUARD, np.uint8).view(array.dtype).reshape(array.shape)


def _kept(expected: NDArray[Any], blank: NDArray[Any], call: Call) -> NDArray[Any]:
    """Return the expected elements; those that the call must not write (`call.unchanged`) come from `blank`.

    blank: the contents of the output buffer before the call.
    """
    if call.unchanged is None:
        return expected
    return np.where(call.unchanged if expected.ndim == 1 else call.unchanged[:, None], blank[: len(expected)], expected)


def _whole(expected: NDArray[Any] | None, rest: NDArray[Any]) -> NDArray[Any]:
    """Return the expected elements, followed by the elements of `rest` behind them.

    rest: the contents of the output buffer before the call.  The call must not change elements behind the expected
    ones.  Such elements exist if a device-side count is less than the capacity.
    """
    assert expected is not None
    return np.concatenate([expected, rest[len(expected) :]])
