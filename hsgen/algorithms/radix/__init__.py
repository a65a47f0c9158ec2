"""Radix sorts: stable sorts with one pass per digit, least significant digit first.

A *strategy* is the way in which the work-groups of a pass learn where to store their keys.  There are seven strategies,
each in a module of its name: `reduce_scan`, `onesweep`, `cooperative`, `hybrid`, `partition`, `per_thread` and
`single`.  Strategies share the parameters of tiles (`tile`) and four algorithms that rank the keys of a tile
(`rankers`).  Strategies also share the layout of scratch (`words`), and functions that build a launch plan (`rows`).
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
    """Return the bytes that a launch of `step` reads and writes for `n` keys, if every pass moves all keys."""
    return of(p).moved(p, step, n)


def block(p: Tile) -> int:
    """Return the keys of a tile or, if less, the most keys that one work-group sorts alone, `p.alone`, unless it is 0.

    Validation tests counts around multiples of the result.
    """
    return min(p.tile, p.alone) or p.tile


def test_counts(p: Tile, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the launches or their grids change, such as multiples of a tile."""
    return sorted(n for n in of(p).test_counts(p, greatest) if n <= greatest)


def row_test_counts(p: Tile, greatest: int) -> list[int]:
    """Return counts up to `greatest`, one for each row of a tile: in this row, only half of the lanes have a key.

    A row is one key of each lane, or of each lane in a subgroup.  Its bounds check then excludes half of the lanes.
    """
    return rows.row_test_counts(p, greatest)


def notes(p: Tile) -> list[tuple[str, str]]:
    """Return derived values of the parameters as (name, text) pairs, for `hsgen show`."""
    digits, tile = counts_of(p)
    ranker, *more = of(p).notes(p)
    most = ("one work-group alone", f"up to {p.alone} keys")
    return [digits, tile, ranker, ("strategy", p.STRATEGY), most, *more]
