"""The kernels of a merge.

`begin` stores the count of the first array.  `split` searches for the tile boundaries.  `merge` merges the tiles.
`merge_alone` and `merge_ranges` search for boundaries themselves and then merge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, SOURCE, VALUES_IN, VALUES_OUT, word_array
from hsgen.algorithms.merge_path.entries import Entries, Merge, Values
from hsgen.algorithms.merge_path.params import Params
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel
from hsgen.core.regions import Region

PARTS, SPLITS = 0, 32
"""The index of the first word of each region in `Words`."""

WORDS = Buffer(name="words", type="u32")
LANES = 1024
"""If tiles are moved by vectors, this many lanes must fit a core at once.  This limits the registers of a lane."""
SECOND = Buffer(name="second", read_only=True)
SECOND_VALUES = Buffer(name="second_values", type="value", read_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The regions of scratch.

    first_count: the count of the first array.
    splits: for the start of each tile and the end of the last tile, the number of preceding keys of the first array.
    """

    first_count: Region
    splits: Region


def words() -> Words:
    """Return the layout of scratch."""
    return Words(
        first_count=Region(name="FIRST_COUNT", start=PARTS, size=1, meaning="the count of the first array"),
        splits=Region(name="SPLITS", start=SPLITS, meaning="of each tile: the keys of the first array before it"),
    )


def _kernel(
    p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], arrays: tuple[Array, ...] = (), file: str = "merge"
) -> Kernel:
    """Return the kernel `name` from a file in `templates/merge_path`."""
    return Kernel(
        name=name,
        template=f"merge_path/{file}:{name}",
        summary=summary,
        work_group=p.work_group,
        buffers=buffers,
        arrays=arrays,
        algorithm="merge_path",
        params=p,
        data=_merge(p),
        scratch=words(),
    )


def _merge(p: Params) -> Merge:
    """Return the input of the templates for a merge of keys."""
    return Merge(
        entries=Entries(),
        values=Values(bytes=p.signature.value_bytes) if p.valued else None,
        lanes=p.work_group,
        items=p.items,
        vector=16 // p.key.bytes,
        chains=p.chains,
        row=p.row,
    )


def begin(p: Params) -> Kernel:
    """Return the kernel that stores the count of the first array."""
    return _kernel(p, "begin", "store the count of the first array", (WORDS,))


def split(p: Params) -> Kernel:
    """Return the kernel that computes where tiles start in both arrays."""
    return _kernel(p, "split", "find where tiles start in both arrays", (SOURCE, SECOND, WORDS))


def merge(p: Params) -> Kernel:
    """Return the kernel that merges the tiles."""
    values = (VALUES_IN, SECOND_VALUES, VALUES_OUT) if p.valued else ()
    arrays = [Array(name="tile", type="key", count=p.tile + room(p))] * (not p.walks)
    arrays += [word_array("slots", p.tile)] * (p.valued and not p.walks)
    summary, buffers = f"merge {p.tile} keys in a work-group", (SOURCE, SECOND, DESTINATION, *values, WORDS)
    kernel = _kernel(p, "merge", summary, buffers, tuple(arrays))
    if p.walks:
        return replace(kernel, template="merge_path/walk:walk", row=p.row)
    return replace(kernel, key_vectors=p.vectors, resident=max(1, LANES // p.work_group) * p.vectors)


def room(p: Params) -> int:
    """Return how many more keys than a tile local memory must hold if tiles are moved by vectors; 0 without vectors.

    Keys of both arrays are in local memory.  The keys of each array start at the same alignment as in global memory.
    As many copies of the greatest key as a lane merges follow them.
    """
    return 2 * p.items + 4 * (16 // p.key.held) if p.vectors else 0


def alone(p: Params) -> Params:
    """Return the parameters for `merge_alone`, whose work-groups search for the ends of their tiles themselves."""
    return replace(p, items=p.alone_items, vectors=True)


def of_ranges(p: Params) -> Params:
    """Return the parameters for `merge_ranges`, whose work-groups merge ranges of tiles."""
    return replace(p, work_group=p.range_lanes, items=p.range_items, vectors=True)


def merge_alone(p: Params) -> Kernel:
    """Return the kernel whose work-groups search for the ends of their tile in both arrays, and then merge the tile."""
    kernel = merge(alone(p))
    return replace(
        kernel,
        name="merge_alone",
        template="merge_path/merge:merge_alone",
        summary=f"find the ends of {alone(p).tile} keys, and merge them",
        arrays=(*kernel.arrays, word_array("ends", 2)),
        subgroup=p.subgroup,
        ballot=True,
    )


def merge_ranges(p: Params) -> Kernel:
    """Return the kernel whose work-groups search for the ends of a range of tiles, and then merge tile after tile."""
    shape = of_ranges(p)
    arrays = [Array(name="ring", type="key", count=2 * (shape.ring + shape.margin))]
    arrays += [Array(name="stage", type="key", count=shape.tile)]
    arrays += [word_array("slots", shape.work_group * (shape.items // 2 + 1))] * p.valued
    return replace(
        merge(shape),
        name="merge_ranges",
        template="merge_path/ranges:merge_ranges",
        summary=f"find the ends of a range of keys, and merge these {shape.tile} at a time",
        arrays=(*arrays, word_array("ends", 2)),
        subgroup=p.subgroup,
        ballot=True,
        resident=p.resident,
    )


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels in the order in which they run."""
    splits = [] if p.walks else [split(p)]
    few = [*([merge_alone(p)] if p.alone else []), *([merge_ranges(p)] if p.ranged else [])]
    return (*([begin(p)] if p.noted else []), *few, *splits, merge(p))


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`: none."""
    return {}
