"""The launch plan of a reduction by key."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.reduce_by_key.kernels import kernels
from hsgen.algorithms.reduce_by_key.params import MAX_N, Params
from hsgen.core.buffers import COUNT_BUFFER
from hsgen.core.plan import UNCAPPED, Binding, CallNumber, Grid, Guard, Plan, Step
from hsgen.core.scratch import scratch_of

BOUND = {
    "source": Binding(role="source"),
    "destination": Binding(role="destination"),
    "values_in": Binding(role="values"),
    "values_out": Binding(role="values_out"),
    "counts": Binding(role="other"),
    "firsts": Binding(role="other_values"),
    "report": Binding(role="report"),
    "words": Binding(role="scratch"),
    COUNT_BUFFER: Binding(role="count"),
}


def plan(p: Params) -> Plan:
    """Return the launch plan.

    Up to a tile of keys, also for n = 0, there is one launch.  More keys take two launches with sections, or three with
    spans.  With a device-side count, a launch of the kernel `clear`, which reports 0 groups, precedes them.
    """
    few = Guard(max_n=p.tile, at_zero=True)
    guards = {"clear": Guard(max_n=MAX_N, at_zero=True), "single": few}
    tiles = Grid(add=p.tile - 1, div=p.tile, cap=p.groups)
    sections = replace(tiles, cap=UNCAPPED)
    cleared = p.tile * p.work_group // p.state_words  # the keys of those tiles whose states a work-group clears
    begin = replace(sections, add=cleared - 1, div=cleared)
    grids = {"count": tiles, "write": tiles, "begin": begin, "sections": sections}
    steps = tuple(
        Step(
            kernel=k.name,
            bindings=tuple(BOUND[b.name] for b in k.buffers),
            guard=guards.get(k.name, Guard(min_n=p.tile, max_n=MAX_N)),
            grid=grids.get(k.name, Grid(add=1, cap=1)),
            argument=CallNumber(),
        )
        for k in kernels(p)
    )
    scratch = scratch_of(min_n=p.tile, unit=p.tile, per_unit=4 * p.span_words, units=p.groups)
    if p.sections:
        tiles_of = -(-MAX_N // p.tile)
        scratch = scratch_of(min_n=p.tile, plus=4 * p.states, unit=p.tile, per_unit=4 * p.state_words, units=tiles_of)
    return Plan(steps=steps, max_n=MAX_N, bits=p.key.bits, scratch=scratch)


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that a launch reads for `n` equal keys, which are a single group: it stores almost nothing."""
    values = p.signature.value_bytes
    reads = {"single": p.key.bytes + values, "count": p.key.bytes, "write": p.key.bytes + values}
    reads["sections"] = p.key.bytes + values
    return n * reads.get(step.kernel, 0)


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the plan changes its launches, or a kernel its method.

    The counts are multiples of a tile, those that fill sections, and those that need the greatest number of spans.
    """
    counts = {0, 1, greatest, *range(0, min(4 * p.tile, greatest) + 1, p.tile)}
    spans = p.section_tiles if p.sections else p.groups
    counts.update(x * spans * p.tile + y for x in (1, 2) for y in (0, p.tile))
    return sorted(n for n in counts if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` for tests of bounds checks.

    There is a count for each row of a tile, at which only half of the lanes have a key in the row.  Further counts end
    at each of the keys of the first two lanes.
    """
    ends = {row * p.work_group + p.work_group // 2 for row in range(p.items)} | set(range(2 * p.items))
    return [n for n in sorted(ends | {e + p.tile for e in ends}) if n <= greatest]
