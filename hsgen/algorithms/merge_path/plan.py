"""The launch schedule of a merge, as plan rows."""

from __future__ import annotations

from hsgen.algorithms.merge_path.kernels import SPLITS, kernels
from hsgen.algorithms.merge_path.params import Params
from hsgen.core.kernels import Kernel
from hsgen.core.plan import UNCAPPED, Binding, CallNumber, Grid, Guard, Literal, Plan, Scratch, Step

MAX_N = 1 << 30  # kernels count in signed 32-bit numbers, with a tile to spare

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
    """Return the whole merge of n keys, of which the first array has as many as the call says besides n."""
    return Plan(steps=tuple(_step(p, k) for k in kernels(p)), max_n=MAX_N, bits=p.key.bits, scratch=scratch(p))


def scratch(p: Params) -> Scratch:
    """Return the scratch rule: the count, and where tiles begin unless lanes find that for themselves.

    A work-group that a grid has too many has a word, too: it leaves before it reads it, but Intel's compiler for CPUs
    moves the read out of its loop over lanes, ahead of the test.
    """
    plus = 4 * (SPLITS + 1 + p.spare)
    return Scratch(plus=plus) if p.walks else Scratch(plus=plus, unit=p.tile, per_unit=4, units=-(-MAX_N // p.tile))


def _step(p: Params, kernel: Kernel) -> Step:
    """A row.  `split` has a lane for each tile, and one for the end of the last."""
    first, splits = kernel.name == "begin", kernel.name == "split"
    lanes = p.work_group if splits else 1
    return Step(
        kernel=kernel.name,
        bindings=tuple(_BOUND[b.name] for b in kernel.buffers),
        guard=Guard(max_n=MAX_N),
        grid=Grid(add=p.tile - 1 + p.tile * lanes * splits, div=p.tile * lanes, cap=1 if first else UNCAPPED),
        argument=CallNumber() if first or (splits and not p.noted) else Literal(),
    )


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` for `n` keys reads and writes.

    What binary searches read counts as nothing: a few keys a tile.
    """
    splits = 0 if p.walks else 4 * -(-n // p.tile)
    sizes = {"merge": 2 * n * (p.key.bytes + p.signature.value_bytes) + splits, "split": splits}
    return sizes.get(step.kernel, 4)


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the merge changes its way: the ends of tiles and of lanes."""
    found = {0, 1, greatest, p.items, p.own, *range(0, min(4 * p.tile, greatest) + 1, p.tile)}
    found.add(p.tile * p.work_group)  # a work-group that finds begins of tiles is full
    return sorted(n for n in found if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of a tile's stores: there its guard matters for some lane."""
    if p.walks:
        return []
    ends = {row * p.work_group + p.work_group // 2 for row in range(p.items)}
    return [n for n in sorted({e + base for e in ends for base in (0, p.tile)}) if n <= greatest]
