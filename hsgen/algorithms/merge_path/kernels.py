"""The kernels of a merge: storing the count of the first array, finding tile boundaries, merging tiles."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.buffers import DESTINATION, SOURCE, VALUES_IN, VALUES_OUT
from hsgen.algorithms.merge_path.params import Params
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

PARTS, SPLITS = 0, 32
"""Indices of 32-bit words in scratch: the count of the first array; for each tile, and for the end of the last, the
number of its keys that precede it."""

WORDS = Buffer(name="words", type="u32")
LANES = 1024
"""Lanes of a core that registers must suffice for, where tiles are moved by vectors."""
SECOND = Buffer(name="second", read_only=True)
SECOND_VALUES = Buffer(name="second_values", type="value", read_only=True)


def _kernel(
    p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], arrays: tuple[Array, ...] = (), body: str = ""
) -> Kernel:
    return Kernel(
        name=name,
        template=f"merge_path/{body or name}",
        summary=summary,
        work_group=p.work_group,
        buffers=buffers,
        arrays=arrays,
        algorithm="merge_path",
        params=p,
    )


def begin(p: Params) -> Kernel:
    """Return the kernel that stores the count of the first array."""
    return _kernel(p, "begin", "store the count of the first array", (WORDS,))


def split(p: Params) -> Kernel:
    """Return the kernel that finds where tiles start in both arrays."""
    return _kernel(p, "split", "find where tiles start in both arrays", (SOURCE, SECOND, WORDS))


def merge(p: Params) -> Kernel:
    """Return the kernel that merges the tiles."""
    values = (VALUES_IN, SECOND_VALUES, VALUES_OUT) if p.valued else ()
    arrays = [Array(name="tile", type="key", count=p.tile + room(p))] * (not p.walks)
    arrays += [Array(name="slots", type="u32", count=p.tile)] * (p.valued and not p.walks)
    body = "walk_rows" if p.row else "walk" if p.walks else "merge_vectors" if p.vectors else "merge"
    what = f"merge {p.tile} keys in a work-group"
    made = _kernel(p, "merge", what, (SOURCE, SECOND, DESTINATION, *values, WORDS), tuple(arrays), body)
    return replace(made, row=p.row, key_vectors=p.vectors, resident=max(1, LANES // p.work_group) * p.vectors)


def room(p: Params) -> int:
    """Return the keys of local memory that vectors take in addition to a tile.

    Its parts begin where they do in memory, and behind each are as many greatest keys as a lane merges.
    """
    return 2 * p.items + 4 * (16 // p.key.held) if p.vectors else 0


def alone(p: Params) -> Params:
    """Return the parameters of work-groups that find the ends of their tiles by themselves."""
    return replace(p, items=p.alone_items, vectors=True)


def of_ranges(p: Params) -> Params:
    """Return the parameters of work-groups that merge ranges of tiles."""
    return replace(p, work_group=p.range_lanes, items=p.range_items, vectors=True)


def merge_alone(p: Params) -> Kernel:
    """Return the kernel that also finds where its tile starts and ends."""
    own = alone(p)
    made, summary = merge(own), f"find the ends of {own.tile} keys, and merge them"
    arrays = (*made.arrays, Array(name="ends", type="u32", count=2))
    made = replace(made, name="merge_alone", template="merge_path/merge_alone", summary=summary, arrays=arrays)
    return replace(made, subgroup=p.subgroup, ballot=True)


def merge_ranges(p: Params) -> Kernel:
    """Return the kernel that finds the ends of a range of tiles, and merges these one after another."""
    own = of_ranges(p)
    arrays = [Array(name="ring", type="key", count=2 * (own.ring + own.margin))]
    arrays += [Array(name="stage", type="key", count=own.tile)]
    arrays += [Array(name="slots", type="u32", count=own.work_group * (own.items // 2 + 1))] * p.valued
    arrays += [Array(name="ends", type="u32", count=2)]
    made, summary = merge(own), f"find the ends of a range of keys, and merge these {own.tile} at a time"
    made = replace(made, name="merge_ranges", template="merge_path/merge_ranges", summary=summary, arrays=tuple(arrays))
    return replace(made, subgroup=p.subgroup, ballot=True, resident=p.resident)


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels in the order in which they run."""
    splits = [] if p.walks else [split(p)]
    few = [*([merge_alone(p)] if p.alone else []), *([merge_ranges(p)] if p.ranged else [])]
    return (*([begin(p)] if p.noted else []), *few, *splits, merge(p))


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {"parts_at": PARTS, "splits_at": SPLITS}
