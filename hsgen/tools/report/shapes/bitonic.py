"""Draws bitonic sorts: the slab, the block with its columns, and the merge levels."""

from __future__ import annotations

from hsgen.algorithms import bitonic
from hsgen.algorithms.bitonic.kernel_data import BlockSort, Stream
from hsgen.algorithms.bitonic.params import Params
from hsgen.algorithms.bitonic.paths import Path
from hsgen.algorithms.bitonic.plan import level_of, lg_stride_of
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Step
from hsgen.core.quantities import power_of_two
from hsgen.tools.report.drawing import Drawing, Figure, count, plural, power

_SIDE = 208  # pixels of the slab and the block
_MANY = 64  # if a block has more slabs, the drawing shows only the first and the last slabs


def figures(p: Params, most: int) -> list[Figure]:
    """Return the drawings of a shape that sorts up to `most` keys."""
    return [_shape(p), _levels(p, most)]


def _shape(p: Params) -> Figure:
    slab, tall = p.subgroup * p.height, p.column_slabs(p.slabs)
    words = f"slab of {p.subgroup} x {p.height} keys, block of {p.slabs} slabs, columns of {tall} slabs"
    d = Drawing(words)
    bottom = _slab(d, p)
    _block(d, p, tall, bottom)
    lanes = "a lane alone" if p.subgroup == 1 else f"{p.subgroup} lanes of a subgroup"
    many = "all slabs" if tall == p.slabs else f"{plural(tall, 'slab')} at a time"
    then = "" if p.subgroup == 1 else ", a column of each lane, before lanes are merged with each other"
    caption = (
        f"Slab: {count(slab)} keys, which {lanes} hold{'s' if p.subgroup == 1 else ''} in registers. Block: "
        f"{plural(p.slabs, 'slab')} = {count(p.block)} keys, sorted by one work-group of "
        f"{plural(p.slabs * p.subgroup, 'lane')}. Column: {many} are sorted as {plural(tall * p.height, 'row')}{then}."
    )
    return Figure(d.markup(), caption)


def _slab(d: Drawing, p: Params) -> float:
    """Draw the slab as a grid of keys; return the y coordinate of its lower edge."""
    w, h = min(24.0, _SIDE / p.subgroup), min(13.0, _SIDE / p.height)
    left, top = 96, 42
    d.grid(left, top, p.subgroup, p.height, w, h)
    right, bottom = left + p.subgroup * w, top + p.height * h
    d.text((left + right) / 2, top - 24, f"slab: {p.subgroup} x {p.height} = {count(p.subgroup * p.height)} keys")
    d.text((left + right) / 2, top - 8, plural(p.subgroup, "lane"), kind="small")
    d.text(left - 8, (top + bottom) / 2, plural(p.height, "row"), anchor="end", kind="small")
    d.text(
        (left + right) / 2,
        bottom + 18,
        f"a row is a register of {'the' if p.subgroup == 1 else 'each'} lane",
        kind="small",
    )
    d.line(right + 4, top, 420, top, "dashed")
    return bottom


def _block(d: Drawing, p: Params, tall: int, bottom: float) -> None:
    """Draw the slabs of a block; if there are more than `_MANY`, draw only the first and the last slabs."""
    left, top, w = 424, 42, 150
    shown = list(range(p.slabs)) if p.slabs <= _MANY else [*range(12), -1, p.slabs - 2, p.slabs - 1]
    h = max(4.0, min(24.0, _SIDE / len(shown)))
    d.text(left + w / 2, top - 24, f"block: {plural(p.slabs, 'slab')} = {count(p.block)} keys")
    d.text(left + w / 2, top - 8, f"{plural(p.slabs * p.subgroup, 'lane')} of a work-group", kind="small")
    ends: list[float] = []
    for at, slab in enumerate(shown):
        y = top + at * h
        if slab < 0:
            d.text(left + w / 2, y + h / 2 + 4, f"... {p.slabs - len(shown) + 1} more", kind="small")
            continue
        fill = "dark" if slab == 0 else "empty" if slab // tall % 2 else "light"
        d.box(left, y, w, h, fill, f"slab {slab}, in column {slab // tall}")
        if slab % tall == tall - 1:
            ends.append(y + h)
    d.line(96 + p.subgroup * min(24.0, _SIDE / p.subgroup) + 4, bottom, 420, top + h, "dashed")
    first = ends[0]
    d.bracket(left + w + 6, top, first)
    d.text(left + w + 20, (top + first) / 2, f"column: {plural(tall, 'slab')}", anchor="start", kind="small")
    d.text(left + w + 20, (top + first) / 2 + 15, f"= {plural(tall * p.height, 'row')}", anchor="start", kind="small")


def _levels(p: Params, most: int) -> Figure:
    """Draw the kernels of each merge level; the x axis is the distance of the keys that a kernel compares."""
    kernels = {k.name: k for k in bitonic.kernels(p)}
    every = [s for s in bitonic.plan(p).steps if s.guard.min_n < most]
    blocks = [s for s in every if isinstance(kernels[s.kernel].data, BlockSort)]
    first = {s.kernel: s for s in reversed(blocks)}  # merge paths have separate steps for each number of levels
    steps = [s for s in blocks if first[s.kernel] is s]
    rest = [s for s in every if s not in blocks and s.guard.min_n >= p.block and _own(p, s, kernels[s.kernel])]
    runs = sorted({s.guard.min_n for s in rest})
    d = Drawing(f"{plural(len(runs), 'merge level')} over blocks of {p.block} keys")
    scale = max([p.block.bit_length(), *(_span(s, kernels[s.kernel])[1] for s in rest)])
    unit = min(22.0, 520 / scale)
    left, y = 236, 34
    for k in range(0, scale, 2):
        d.text(left + (scale - k - 0.5) * unit, y - 8, power_of_two(k), kind="small")
    d.text(left - 8, y - 8, "distance", anchor="end", kind="small")
    for step in steps:
        kernel = kernels[step.kernel]
        top = (
            f" up to {power(step.guard.max_n)}"
            if step.guard.max_n < most and step.kernel != f"block_sort_{p.slabs}"
            else ""
        )
        size = kernel.data.slabs * p.height * p.subgroup  # type: ignore[attr-defined]
        _mark(d, left - 8, y, f"{_above(step)}{top}: blocks of {count(size)}")
        _stage(d, left, y, unit, scale, 0, (size - 1).bit_length(), "dark", f"{step.kernel}: {kernel.summary}")
        y += 20
    for run in runs:
        level = [s for s in rest if s.guard.min_n == run]
        _mark(d, left - 8, y, f"n > {power(run)}: runs of {power(2 * run)}")
        for step in level:
            kernel = kernels[step.kernel]
            _stage(d, left, y, unit, scale, *_span(step, kernel), _fill(kernel), f"{step.kernel}: {kernel.summary}")
        y += 20
    _legend(d, left, y + 12, "clean" if p.path_from is None else "clean, or merge by paths")
    return Figure(d.markup(), _caption(p, most, len(runs), rest))


def _own(p: Params, step: Step, kernel: Kernel) -> bool:
    """Return True if a step is the last merge level for its counts.

    With merge paths, the steps for each number of levels repeat all previous levels; these are not drawn again.
    """
    return not isinstance(kernel.data, Path) or p.block << level_of(step) == step.guard.min_n


def _caption(p: Params, most: int, levels: int, rest: list[Step]) -> str:
    trips = [sum(s.guard.min_n == run for s in rest) for run in sorted({s.guard.min_n for s in rest})]
    grow = f"{trips[0]} to {trips[-1]}" if len(set(trips)) > 1 else str(trips[0]) if trips else "no"
    return (
        f"Merge levels: blocks of {count(p.block)} keys are sorted, then each level merges pairs of runs. A box is one "
        f"launch and one trip through memory; its width is the number of its stages, from far keys (left) to "
        f"neighbours (right). {plural(levels, 'level')} of {grow} launches each; a level runs only where n exceeds its "
        f"runs. Drawn for counts up to {power(most)}."
    )


def _span(step: Step, kernel: Kernel) -> tuple[int, int]:
    """Return (log2 of the least distance, log2 of the greatest distance + 1) of the keys that a launch compares."""
    low = lg_stride_of(step)
    if isinstance(kernel.data, Path):
        return 0, (2 * step.guard.min_n - 1).bit_length()
    return (low, low + kernel.data.scale) if isinstance(kernel.data, Stream) else (0, low)


def _fill(kernel: Kernel) -> str:
    return ("hatch" if kernel.data.flip else "empty") if isinstance(kernel.data, Stream) else "mid"


def _above(step: Step) -> str:
    return f"n > {power(step.guard.min_n)}" if step.guard.min_n else "n > 0"


def _mark(d: Drawing, x: float, y: float, words: str) -> None:
    d.text(x, y + 13, words, anchor="end", kind="small")


def _stage(
    d: Drawing, left: float, y: float, unit: float, scale: int, low: int, high: int, fill: str, tip: str
) -> None:
    d.box(left + (scale - high) * unit, y, (high - low) * unit, 16, fill, tip)
    if fill in ("hatch", "empty") and unit >= 8:
        x = left + (scale - (low + high) / 2) * unit
        if fill == "hatch":
            d.box(x - 6, y + 2, 12, 12, "empty")
        d.text(x, y + 12, str(high - low), kind="small")


def _legend(d: Drawing, x: float, y: float, last: str) -> None:
    for words, fill in (("block sort", "dark"), ("flip merge", "hatch"), ("half merge", "empty"), (last, "mid")):
        d.box(x, y, 22, 12, fill)
        d.text(x + 28, y + 10, words, anchor="start", kind="small")
        x += 124
