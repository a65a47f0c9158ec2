"""The launch plan of a prefix sum."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.scan.kernels import kernels
from hsgen.algorithms.scan.params import Params
from hsgen.algorithms.scan.words import SCRATCH, device_status, scratch
from hsgen.core.plan import UNCAPPED, Binding, Grid, Guard, Plan, Step

_BOUND = {
    "source": Binding(role="source"),
    "destination": Binding(role="destination"),
    "sums": SCRATCH,
    "words": SCRATCH,
}


def plan(p: Params) -> Plan:
    """Return the launch plan: the kernel `single` if there are at most `p.tile` rows, otherwise all other kernels.

    The kernels `settle` and `apply` return at once if no look-back has given up.
    """
    tiles = Grid(add=p.tile - 1, div=p.tile)
    clearing = Grid(add=p.cleared * p.tile - 1, div=p.cleared * p.tile) if p.sections else replace(tiles, cap=p.groups)
    caps = {"single": 1, "spine": 1, "settle": 1, "lookback": UNCAPPED, "sections": UNCAPPED}
    steps = []
    for kernel in kernels(p):
        alone = kernel.name == "single"
        steps.append(
            Step(
                kernel=kernel.name,
                bindings=tuple(_BOUND[b.name] for b in kernel.buffers),
                guard=Guard(max_n=p.tile) if alone else Guard(min_n=p.tile, max_n=p.max_n),
                grid=clearing if kernel.name == "begin" else replace(tiles, cap=caps.get(kernel.name, p.groups)),
            )
        )
    return Plan(steps=tuple(steps), max_n=p.max_n, bits=p.key.bits, scratch=scratch(p), device_status=device_status(p))


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` reads and writes for `n` rows, if no look-back gives up.

    While a tile looks back, it may read a state several times.  Only the first read is counted; caches serve the
    others.
    """
    tiles = -(-n // p.tile)
    rows = n * p.columns * p.key.bytes
    sums = min(tiles, p.groups) * p.columns * p.key.bytes
    states = 4 * tiles * p.columns * p.pieces
    return {
        "single": 2 * rows,
        "reduce": rows + sums,
        "spine": 2 * sums,
        "scan": 2 * rows + sums,
        "begin": states,
        "lookback": 2 * rows + 3 * states,  # a state is written twice and read at least once
        "sections": 2 * rows + 2 * states,
    }.get(step.kernel, 0)


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the plan changes its launches, or a kernel its method.

    The counts are multiples of a tile, and those that need the greatest number of work-groups.  Further counts fill a
    section, or the window of a look-back.
    """
    counts = {0, 1, greatest, *range(0, min(4 * p.tile, greatest) + 1, p.tile)}
    near = p.section_tiles if p.sections else p.window
    counts.update((p.groups * p.tile, p.groups * p.tile + p.tile, 2 * p.groups * p.tile, near * p.tile))
    return sorted(n for n in counts if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest`, one for each element per lane: only about half of the lanes have this element.

    The bounds check of the element then excludes the other lanes.
    """
    if p.serial:
        return []
    ends = {(row * p.work_group + p.work_group // 2) // p.columns for row in range(p.items * p.columns)}
    return [n for n in sorted({e + base for e in ends for base in (0, p.tile)}) if n <= greatest]
