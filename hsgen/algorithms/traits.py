"""What others ask of an algorithm before they have its plan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What an algorithm is able to do.

    bit_ranges: its kernels sort by a bit range that a call chooses; the others of a target's sort lend it such calls.
    several: shapes of it that differ may serve different counts of one sort: kernels of all but the first get a suffix,
    and its `words.j2` takes them `every`.
    """

    bit_ranges: bool = False
    several: bool = False
