"""Keys with values passed by some of their highest digits, then sorted on chip, piece by piece: kernels and plan.

Where `pairs` passes two digits, and all of them if some bucket is too large, a sample of the keys says here how many
digits it takes: 2, 3 or 4 of those that are not constant, or all.  Buckets that are too large are cut into pieces where
the digits that were passed change.  What is alike in all of these, or crowds places, is sorted in memory by one
work-group for each, which compares the keys first: equal ones are in order already.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hsgen.algorithms.buffers import DESTINATION, VALUES_OUT
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import rows
from hsgen.algorithms.radix.hybrid import pairs
from hsgen.algorithms.radix.hybrid.buckets_plan import launched
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.parts import ALL, WORDS, moving, picking, ranking
from hsgen.algorithms.radix.portions import whole
from hsgen.algorithms.radix.rankers import array, digit_arrays
from hsgen.algorithms.radix.words import words
from hsgen.core.flags import DIRECT
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Grid, Literal, Step, fixed

SHARED = ("finish_starts", "finish_bounds", "finish_cuts", "finish_settle")
"""Kernels whose text does not depend on the size of buckets."""
_GROUPS = 528
"""The most work-groups that sort in memory."""


def groups(p: Hybrid) -> int:
    """Return the work-groups that sort in memory."""
    return min(p.groups, _GROUPS)


def kernels(p: Hybrid) -> tuple[Kernel, ...]:
    """Return the kernels in the order of their launches."""
    at = words(p)
    data = pairs.layout(p, at.finish, at.table)
    common = replace(data, **{**pairs.SIZES, "groups": groups(p)})
    plan, find = "choose the digits that are passed, and make starts of counts", "find where each bucket begins"
    cut, settle = "cut buckets that are too large", "sort crowded or alike keys in memory, a digit at a time"
    more = (array("bases", p.radix), array("starts", p.radix), array("differ", p.key.bits // 32))
    tile = replace(p, items=max(1, p.items // 2))  # few ranges are larger, and no lane spills
    rest = ranking(tile, "finish_settle", settle, moving(p, *ALL), more, folder="radix/hybrid/")
    return (
        pairs.kernel(p, common, "finish_starts", plan, (WORDS,), digit_arrays(p), "finish_plan"),
        pairs.kernel(p, common, "finish_bounds", find, (DESTINATION, WORDS), (), "finish_starting"),
        pairs.kernel(p, common, "finish_cuts", cut, (DESTINATION, WORDS)),
        pairs.on_chip(p, data, (DESTINATION, VALUES_OUT, WORDS), "finish_piece"),
        replace(picking(rest), data=common),
    )


def steps(p: Hybrid, made: tuple[Kernel, ...], low: int, high: int) -> tuple[list[Step], list[Step]]:
    """Return the rows before the passes and those behind them, for all bits of the keys and counts above `low` up to
    `high`."""
    limit, top = pairs.limit(p), pairs.top_bits(p)
    own = {k.name: k for k in made}
    bound = rows.bound(p)
    every = fixed(pairs.bound_groups(p))
    buckets = [(limit << b - 1, limit << b, fixed(1 << b)) for b in range(1, top + 1)]
    if p.signature.device_count:
        buckets = [(0, pairs.most(p), Grid(add=-1, div=limit, mul=2, cap=1 << top))]
    grids = {
        "finish_bounds": [(0, pairs.most(p), every)],
        "finish_cuts": [(0, pairs.most(p), fixed(2 * pairs.bound_groups(p)))],
        "finish": buckets,
        "finish_settle": [(0, pairs.most(p), fixed(groups(p)))],
    }
    first = rows.launch(
        own["finish_starts"], bound, low, high, fixed(1), Literal(value=pairs.sizes(p), flags=DIRECT), part="whole"
    )
    return [first], [s for name, grid in grids.items() for s in launched(own[name], bound, grid, low, high)]


def moved(p: Hybrid, step: Step, n: int) -> int | None:
    """Return the bytes that a launch reads and writes for `n` keys that two digits deal into buckets; None where
    nothing is other than in passes over all digits."""
    buckets, count = 1 << pairs.bits(p, n), len(p.digits)
    own = {
        "finish_starts": 8 * count * p.radix,
        "finish_bounds": 4 * buckets,
        "finish_cuts": 0,
        "finish": 2 * n * (p.key.bytes + p.signature.value_bytes) + 4 * buckets,
        "finish_settle": 0,
    }
    if step.kernel == "onesweep" and (step.pass_number or 0) < count - 2:
        return 0
    return own.get(step.kernel)


def problems(p: Hybrid) -> Iterator[Problem]:
    """Yield what cannot work with a sample of the keys."""
    if p.sample & p.sample - 1:
        what = f"{p.sample} keys are compared by a table of twice as many"
        yield "sample", f"{what}, and are no power of two", f"give {1 << p.sample.bit_length() - 1}"
    if not p.finish:
        return
    if 32 % p.bits or p.key.bits % p.bits:
        yield "sample", f"digits of {p.bits} bits lie across words of keys", "leave it out, or give 8 bits"
    elif p.sorted_exit:
        yield "sample", "keys in order are found in another way", "leave it out, or sorted_exit"
    elif p.ranker != "match_ballot":
        yield "sample", "lanes that sort in memory vote", 'leave it out, or give the ranker "match_ballot"'
    elif pairs.limit(p) >> pairs.SLACK:
        yield "finish_items", f"buckets of {pairs.limit(p)} pairs are too large for a sample", "give fewer"
    elif 24 * p.tile * (1 + (pairs.most(p) > whole(p))) > pairs.limit(p) * p.radix:
        yield "finish_items", "the table of tiles has no room for so many pieces", "give more"
