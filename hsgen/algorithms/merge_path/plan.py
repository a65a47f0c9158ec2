"""The launch plan of a merge."""

from __future__ import annotations

from hsgen.algorithms.merge_path.kernels import SPLITS, alone, kernels, of_ranges
from hsgen.algorithms.merge_path.params import Params
from hsgen.core.kernels import Kernel
from hsgen.core.plan import UNCAPPED, Binding, CallNumber, Grid, Guard, Literal, Plan, Step
from hsgen.core.scratch import Scratch, scratch_of

MAX_N = 1 << 30  # kernels count in signed 32-bit integers, up to n and a tile more

_BOUND = {
    "source": Binding(role="source"),
    "second": Binding(role="other"),
    "destination": Binding(role="destination"),
    "values_in": Binding(role="values"),
    "second_values": Binding(role="other_values"),
    "values_out": Binding(role="values_out"),
    "words": Binding(role="scratch"),
}


def plan(p: Params) -> Plan:
    """Return the launch plan.

    n is the count of both arrays together.  After n, a call passes the count of the first array, `first_count`.
    """
    return Plan(steps=tuple(_step(p, k) for k in kernels(p)), max_n=MAX_N, bits=p.key.bits, scratch=scratch(p))


def scratch(p: Params) -> Scratch:
    """Return the rule for the size of scratch, which holds the regions `Words`.

    Without sequential lanes, the region `splits` has a word for each tile.  Sequential lanes need no such words,
    because they search for the ends of their tiles themselves.

    Excess work-groups of a grid have a word too, although they exit before the statement that reads it.  Intel's
    compiler for CPUs moves the read out of its loop over lanes, ahead of the test for the exit.
    """
    plus = 4 * (SPLITS + 1 + p.spare)
    return (
        scratch_of(plus=plus) if p.walks else scratch_of(plus=plus, unit=p.tile, per_unit=4, units=-(-MAX_N // p.tile))
    )


def _step(p: Params, kernel: Kernel) -> Step:
    """Return the plan row of a kernel.  `split` has a lane for each tile, and one more for the end of the last tile."""
    first, splits = kernel.name == "begin", kernel.name == "split"
    few = {"merge_alone": (0, p.alone, alone(p).tile), "merge_ranges": (p.alone, p.ranged, of_ranges(p).tile)}
    above, most, tile = few.get(kernel.name, (0 if first else max(p.alone, p.ranged), MAX_N, p.tile))
    lanes, cap = p.work_group if splits else 1, 1 if first else p.ranges if kernel.name == "merge_ranges" else UNCAPPED
    return Step(
        kernel=kernel.name,
        bindings=tuple(_BOUND[b.name] for b in kernel.buffers),
        guard=Guard(min_n=above, max_n=most),
        grid=Grid(add=tile - 1 + tile * lanes * splits, div=tile * lanes, cap=cap),
        argument=CallNumber() if first or ((splits or kernel.name in few) and not p.noted) else Literal(),
    )


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` reads and writes for `n` keys, without those of binary searches."""
    splits = 0 if p.walks else 4 * -(-n // p.tile)
    keys = 2 * n * (p.key.bytes + p.signature.value_bytes)
    sizes = {"merge_alone": keys, "merge_ranges": keys, "merge": keys + splits, "split": splits}
    return sizes.get(step.kernel, 4)


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest`: those at which other launches run, and those that fill tiles or lanes."""
    counts = {0, 1, greatest, p.items, p.share, *range(0, min(4 * p.tile, greatest) + 1, p.tile)}
    counts.add(p.tile * p.work_group)  # every lane of one work-group of `split` then has a tile
    if p.alone:
        tile = alone(p).tile
        counts |= {p.alone, *range(0, min(4 * tile, p.alone) + 1, tile)}
    if p.ranged:
        tile = of_ranges(p).tile
        counts |= {p.ranged, *(tile * t for t in range(5))}
        counts |= {tile * (p.ranges * most + more) for most in (1, 2, 3) for more in (0, 1)}
    return sorted(n for n in counts if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` whose last key is in the middle of a row of a tile, one count for each row.

    A row is one key of each lane.  Only some lanes then store a key of the row.
    """
    if p.walks:
        return []
    ends = {row * p.work_group + p.work_group // 2 for row in range(p.items)}
    return [n for n in sorted({e + base for e in ends for base in (0, p.tile)}) if n <= greatest]
