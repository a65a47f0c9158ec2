"""The memory ranges of a call's arrays: functions that check them for overlaps, and detect calls in place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True)
class Range:
    """The memory range of the caller's array or buffer `argument`: `size` bytes from byte `at` of the memory `root`.

    Ranges of different roots never overlap.  The root of an array without elements is None.
    """

    argument: Any
    root: Any
    at: int
    size: int

    def begins_with(self, second: Range) -> bool:
        """Return True if both ranges start at the same address, or belong to the same array.

        The second case covers arrays without elements, which have no address.
        """
        if self.argument is not None and self.argument is second.argument:
            return True
        return bool(self.root is not None and self.root == second.root and self.at == second.at)


AnyRange = TypeVar("AnyRange", bound=Range)


def overlapping(used: Iterable[tuple[str, Range, int, bool]]) -> tuple[str, str] | None:
    """Return the names of the first two overlapping ranges of which the call writes one or both; None if none overlap.

    used: (name, range, number of bytes that the call uses, whether the call writes the range) for each range.
    """
    places = [x for x in used if x[2] > 0]
    for i, (name, a, size, written) in enumerate(places):
        for second, b, length, too in places[i + 1 :]:
            if (written or too) and a.root == b.root and a.at < b.at + length and b.at < a.at + size:
                return name, second
    return None


def in_place(ranges: Mapping[str, AnyRange], verb: str, *, discard: bool) -> dict[str, AnyRange]:
    """Return the memory ranges by role.  If the call is in place, each output has the same `Range` object as its input.

    A call is in place if each of its outputs is missing or begins with its input.
    verb: the verb for the operation in messages.
    discard: whether the call has no output for keys.

    Raises:
        ValueError: the keys would be sorted in place but not their values, or only the values.
    """
    pairs = [("source", "destination")] * (not discard) + [("values", "values_out")] * ("values" in ranges)
    same = {to not in ranges or ranges[to].begins_with(ranges[from_]) for from_, to in pairs}
    if len(same) > 1:
        raise ValueError(f"one of out and values_out is given; give both, or neither to {verb} in place")
    return {**ranges, **{to: ranges[from_] for from_, to in pairs}} if same == {True} else dict(ranges)
