"""The kernels of a merge.

- `begin` stores the count of the first array in scratch.
- `split` searches for the ends of all tiles in both arrays, and stores them in scratch.
- `merge` merges the tiles: a work-group merges one tile.
- `merge_alone` and `merge_ranges` replace `split` and `merge` for smaller counts: each work-group searches for the ends
  of its own tile, or range of tiles, and then merges.
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
"""The index of the first word of the regions `first_count` and `splits`."""

WORDS = Buffer(name="words", type="u32")
LANES = 1024
"""The number of lanes that a core must hold at once, for kernels that load and store vectors.

The compiler limits the registers of a lane accordingly.
"""
SECOND = Buffer(name="second", read_only=True)
SECOND_VALUES = Buffer(name="second_values", type="value", read_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The regions of scratch.

    first_count: the count of the first array.
    splits: for each tile, the number of output keys before the tile that come from the first array; then the count of
    the first array.
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
    """Return a kernel whose template is the macro `name` of a file in ``templates/merge_path``."""
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
    """Return the data of the kernels, for entries that are keys."""
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
    """Return the kernel that stores the count of the first array in scratch."""
    return _kernel(p, "begin", "store the count of the first array", (WORDS,))


def split(p: Params) -> Kernel:
    """Return the kernel that searches for the ends of all tiles in both arrays; each lane searches for one."""
    return _kernel(p, "split", "find where tiles start in both arrays", (SOURCE, SECOND, WORDS))


def merge(p: Params) -> Kernel:
    """Return the kernel that merges the tiles, one in each work-group."""
    values = (VALUES_IN, SECOND_VALUES, VALUES_OUT) if p.valued else ()
    arrays = [Array(name="tile", type="key", count=p.tile + room(p))] * (not p.walks)
    arrays += [word_array("slots", p.tile)] * (p.valued and not p.walks)
    summary, buffers = f"merge {p.tile} keys in a work-group", (SOURCE, SECOND, DESTINATION, *values, WORDS)
    kernel = _kernel(p, "merge", summary, buffers, tuple(arrays))
    if p.walks:
        return replace(kernel, template="merge_path/walk:walk", row=p.row)
    return replace(kernel, key_vectors=p.vectors, resident=max(1, LANES // p.work_group) * p.vectors)


def room(p: Params) -> int:
    """Return how many keys local memory must hold in addition to those of a tile; 0 without `p.vectors`.

    With vectors, the keys of both arrays start at the same alignment as in global memory, which leaves gaps.  After the
    keys of each array come `items` copies of the greatest key, so that a lane may read beyond the end.
    """
    return 2 * p.items + 4 * (16 // p.key.held) if p.vectors else 0


def alone(p: Params) -> Params:
    """Return the parameters of the kernel `merge_alone`."""
    return replace(p, items=p.alone_items, vectors=True)


def of_ranges(p: Params) -> Params:
    """Return the parameters of the kernel `merge_ranges`."""
    return replace(p, work_group=p.range_lanes, items=p.range_items, vectors=True)


def merge_alone(p: Params) -> Kernel:
    """Return the kernel in which each work-group searches for the ends of its tile in both arrays, then merges it."""
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
    """Return the kernel in which each work-group searches for the ends of a range of tiles, then merges them."""
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
    """Return every kernel, in the order of their launches."""
    splits = [] if p.walks else [split(p)]
    few = [*([merge_alone(p)] if p.alone else []), *([merge_ranges(p)] if p.ranged else [])]
    return (*([begin(p)] if p.noted else []), *few, *splits, merge(p))


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`: none."""
    return {}
