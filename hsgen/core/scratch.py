"""Rules for the size of scratch memory by count; C runtimes evaluate the same rules."""

from __future__ import annotations

from dataclasses import dataclass, replace

ANY_N = 2**63 - 1
"""The bound that stands for unlimited counts."""
UNIT = 1024
"""The alignment of offsets in scratch memory, in bytes."""


def aligned(size: int) -> int:
    """Return a number of bytes rounded up to a multiple of `UNIT`."""
    return -(-size // UNIT) * UNIT


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchRule:
    """The scratch size in bytes of the steps for a range of counts: 0 for up to `min_n` keys, else
    ``plus + per_n * m + per_unit * min(ceil(m / unit), units)`` with ``m = min(n, max_n)``."""

    min_n: int = 0
    max_n: int = ANY_N
    plus: int = 0
    per_n: int = 0
    unit: int = 1
    per_unit: int = 0
    units: int = 0

    def bytes(self, n: int) -> int:
        """Return the scratch size for `n` keys, in bytes."""
        if n <= self.min_n:
            return 0
        m = min(n, self.max_n)
        return self.plus + self.per_n * m + self.per_unit * min(-(-m // self.unit), self.units)


@dataclass(frozen=True, slots=True)
class Scratch:
    """The scratch size: for each count, the maximum over the rules.

    A rule also applies beyond its `max_n`, so the scratch for n keys suffices for fewer keys.
    """

    rules: tuple[ScratchRule, ...] = ()

    def bytes(self, n: int) -> int:
        """Return the scratch size for `n` keys, in bytes."""
        return max((rule.bytes(n) for rule in self.rules), default=0)

    def after(self, room: int) -> Scratch:
        """Return the scratch size of steps that start `room` bytes later; counts without scratch still need none."""
        return Scratch(tuple(replace(r, plus=r.plus + room) for r in self.rules))

    def within(self, low: int, high: int) -> Scratch:
        """Return the scratch size of the steps restricted to counts above `low` up to `high`."""
        narrowed = (replace(r, min_n=max(r.min_n, low), max_n=min(r.max_n, high)) for r in self.rules)
        return Scratch(tuple(r for r in narrowed if r.min_n < r.max_n))


def scratch_limit(n: int, item: int) -> int:
    """Return the greatest scratch size, in bytes, that a sort of `n` items may need.

    item: the size of a key and its value in bytes.  The limit is a second buffer for the items, 3 % more, and 512 KiB.
    """
    return 103 * item * n // 100 + (512 << 10)


def scratch_of(**rule: int) -> Scratch:
    """Return the scratch size of one rule with these fields."""
    return Scratch((ScratchRule(**rule),))
