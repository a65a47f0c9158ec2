"""The coordination "grid": a whole sort in one launch, whose work-groups are all resident and wait for each other.

Each holds its keys in registers.  In every pass it counts their digits and ranks them, waits until all have counted,
sums the counts of those before it, stores its keys where they belong, and waits until all have stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix.kernels import grid
from hsgen.algorithms.radix.params import Params
from hsgen.core.device import Device
from hsgen.core.plan import Binding, BitRange, Grid, Guard, Plan, Scratch, Step

MAX_N = (1 << 30) - 1  # kernels count in signed 32-bit numbers


def max_n(p: Params) -> int:
    """Return the greatest count: what all work-groups hold."""
    return min(p.groups * p.tile, MAX_N)


def _table(p: Params) -> int:
    """Bytes of the two tables of counts, which passes use by turns, as a multiple of 1024."""
    return -(-2 * 4 * p.radix * p.groups // 1024) * 1024


def plan(p: Params, before: Iterable[Step]) -> Plan:
    """Return the plan: the rows `before`, for what one work-group sorts alone, and one for all other counts.

    Scratch holds the counts, then the second buffer of values; keys need none.
    """
    bound = {
        "source": Binding(role="source"),
        "destination": Binding(role="destination"),
        "words": Binding(role="scratch"),
        "values_in": Binding(role="values"),
        "values_out": Binding(role="values_out"),
        "values_tmp": Binding(role="scratch", plus=_table(p)),
        "device_n": Binding(role="count"),
    }
    least = p.work_group * p.least
    row = Step(
        kernel="grid",
        bindings=tuple(bound[b.name] for b in grid(p).buffers),
        guard=Guard(min_n=p.alone, max_n=max_n(p)),
        grid=Grid(add=least - 1, div=least, cap=p.groups),
        argument=BitRange(),
    )
    return Plan(
        steps=(*before, row),
        max_n=max_n(p),
        first_bit=p.begin,
        bits=(p.key.bits if p.end is None else p.end) - p.begin,
        scratch=Scratch(min_n=p.alone, plus=_table(p), per_n=p.form.value_bytes),
    )


def moved(p: Params, n: int) -> int:
    """Return the bytes that the launch reads and writes: keys and values once each a pass, and the counts, which every
    work-group reads."""
    groups = min(-(-n // (p.work_group * p.least)), p.groups)
    both = 2 * n * (p.key.bytes + p.form.value_bytes)
    made = n * p.form.value_bytes if p.form.index else 0  # places are not read, they are made
    return len(p.digits) * (both + 4 * p.radix * groups * (groups + 1)) - made


def edges(p: Params) -> Iterator[int]:
    """Yield the counts at which there are more work-groups, or, once there are all, more rows of keys in each."""
    least = p.work_group * p.least
    yield from (least * k for k in (1, 2, 3, p.groups))
    yield from (p.groups * p.work_group * rows for rows in (1, 2, p.least + 1, p.items - 1, p.items))


def problems(p: Params, device: Device) -> Iterator[Problem]:
    """Yield what cannot work with this coordination, or with choices that are only for it."""
    if p.coordination != "grid":
        for key, given in (("least", p.least > 1), ("places", p.places)):
            if given:
                yield key, 'is for the coordination "grid" only', "leave it out"
        return
    if not device.cooperative:
        what = "its work-groups wait for each other, all of a launch (device.cooperative = true)"
        yield "coordination", what, 'give "lookback" or "scan"'
    if p.ranker not in ("ballot", "broadcast"):
        yield "ranker", f"in one launch the ranker {p.ranker} cannot sort", 'give "ballot" or "broadcast"'
    if p.least > p.items:
        yield "least", f"a lane holds {p.items} keys", f"give at most {p.items}"
    if p.places:
        powers = p.places & (p.places - 1) == p.work_group & (p.work_group - 1) == 0
        if not powers or p.places < p.work_group:
            what = f"{p.places} places of {p.work_group} lanes are not powers of two, each lane with one place or more"
            yield "places", what, "give a power of two, and lanes that are one"
    if p.large:
        yield "large", "one launch sorts what its work-groups hold", "leave it out"
