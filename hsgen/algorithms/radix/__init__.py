"""Radix sorts: stable, one pass per digit, least significant digit first.

Seven strategies, one module each, put tiles in order: `reduce_scan`, `onesweep`, `cooperative`, `hybrid`, `partition`,
`per_thread` and `single`.  They share the tile (`tile`), four ways to rank its keys (`rankers`), the words in scratch
(`words`) and the rows of plans (`rows`).
"""

from hsgen.algorithms.radix import rows
from hsgen.algorithms.radix.constraints import alone, problems
from hsgen.algorithms.radix.context import context
from hsgen.algorithms.radix.hybrid.fields import FALLBACK
from hsgen.algorithms.radix.specialize import specialize
from hsgen.algorithms.radix.strategies import (
    FALLBACKS,
    FIELDS,
    STRATEGIES,
    STRATEGY,
    fields,
    of,
    params,
    space,
)
from hsgen.algorithms.radix.tile import Tile, counts_of
from hsgen.algorithms.traits import Traits
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Plan, Step

NAME, OPERATION = "radix", "sort"
TRAITS = Traits(bit_ranges=True, several=True)

Params = Tile


def kernels(p: Tile) -> tuple[Kernel, ...]:
    """Return every kernel, in the order in which a sort uses them."""
    return of(p).kernels(p)


def plan(p: Tile) -> Plan:
    """Return the launch plan."""
    return of(p).plan(p)


def moved(p: Tile, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` for `n` keys reads and writes where no digit is constant."""
    return of(p).moved(p, step, n)


def block(p: Tile) -> int:
    """Return the keys around which validations are dense: a tile, or what one work-group sorts alone if less."""
    return min(p.tile, p.alone) or p.tile


def test_counts(p: Tile, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the sort changes its way: tiles, the first of all, and the cap."""
    return sorted(n for n in of(p).test_counts(p, greatest) if n <= greatest)


def row_test_counts(p: Tile, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of a tile: only there does a guard matter for some lane."""
    return rows.row_test_counts(p, greatest)


def notes(p: Tile) -> list[tuple[str, str]]:
    """Return the derived values of a shape, for people."""
    digits, tile = counts_of(p)
    ranker, *more = of(p).notes(p)
    alone = ("one work-group alone", f"up to {p.alone} keys")
    return [digits, tile, ranker, ("strategy", p.STRATEGY), alone, *more]


__all__ = [
    "FALLBACK",
    "FALLBACKS",
    "FIELDS",
    "NAME",
    "OPERATION",
    "STRATEGIES",
    "STRATEGY",
    "TRAITS",
    "Params",
    "alone",
    "block",
    "context",
    "fields",
    "kernels",
    "moved",
    "notes",
    "params",
    "plan",
    "problems",
    "row_test_counts",
    "space",
    "specialize",
    "test_counts",
]
