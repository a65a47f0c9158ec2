"""Rules that compute the size of scratch memory from the count.  The C runtimes evaluate the same rules."""

from __future__ import annotations

from dataclasses import dataclass, replace

ANY_N = 2**63 - 1
"""The greatest count of a rule or a plan that sets no bound of its own."""
UNIT = 1024
"""The alignment of offsets in scratch memory, in bytes."""


def aligned(size: int) -> int:
    """Return `size` bytes, rounded up to a multiple of `UNIT`."""
    return -(-size // UNIT) * UNIT


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchRule:
    """The scratch size that some steps of a plan need, in bytes, as a function of the count n.

    Up to `min_n` keys, the size is 0.  Above, with ``m = min(n, max_n)``, the size is
    ``plus + per_n * m + per_unit * min(ceil(m / unit), units)``.
    """

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
    """The scratch size of a plan: for each count, the greatest size that any rule gives.

    Above its `max_n`, a rule still gives the size for `max_n` keys.  The scratch for n keys therefore also suffices for
    every lower count.
    """

    rules: tuple[ScratchRule, ...] = ()

    def bytes(self, n: int) -> int:
        """Return the scratch size for `n` keys, in bytes."""
        return max((rule.bytes(n) for rule in self.rules), default=0)

    def after(self, room: int) -> Scratch:
        """Return the scratch size for a plan whose scratch offsets are all `room` bytes greater (`Plan.after`).

        For counts that need no scratch, the size stays 0.
        """
        return Scratch(tuple(replace(r, plus=r.plus + room) for r in self.rules))

    def within(self, low: int, high: int) -> Scratch:
        """Return the scratch size of the same steps if they run only for counts above `low` up to `high`."""
        narrowed = (replace(r, min_n=max(r.min_n, low), max_n=min(r.max_n, high)) for r in self.rules)
        return Scratch(tuple(r for r in narrowed if r.min_n < r.max_n))


def scratch_limit(n: int, item: int) -> int:
    """Return the limit, in bytes, that the scratch size of a sort of `n` items must not exceed.

    item: the size in bytes of a key with its value.
    The limit is 1.03 times the size of all items, plus 512 KiB.
    """
    return 103 * item * n // 100 + (512 << 10)


def scratch_of(**rule: int) -> Scratch:
    """Return a `Scratch` with a single rule; the arguments are the fields of `ScratchRule`."""
    return Scratch((ScratchRule(**rule),))
