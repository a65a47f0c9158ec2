"""The kernels of a selection.

There are four groups of kernels:
- `bounded` returns kernels that select by a bound, computed from keys in registers.
- The kernels `WHOLE` sort a whole row on chip.
- `sampled` returns kernels that select by a bound, estimated from a sample.
- The kernel `row` selects by passes over digits, with one work-group for each row.  If several work-groups share a row,
  six kernels do so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, SOURCE, VALUES_IN, VALUES_OUT, word_array
from hsgen.algorithms.radix.parts import sums
from hsgen.algorithms.radix_select.params import CROWDED, GATHERED, PICK, WHOLE, Bounded, Params, Sampled, layout
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

WORDS = Buffer(name="words", type="u32")
COUNTS = Buffer(name="list_counts", type="u32")
LISTS = Buffer(name="lists", type="pair")
LISTED = replace(LISTS, read_only=True)
LENGTHS = Buffer(name="lengths", type="u32", read_only=True)
STARTS = Buffer(name="starts", type="u32", read_only=True)
TAKES = Buffer(name="takes", type="u32", read_only=True)
ROW_COUNT = Buffer(name="row_count", type="u32", read_only=True)
VALUE_STARTS = Buffer(name="value_starts", type="u32", read_only=True)
_RESULT = ("short_rows", "short_row", *WHOLE, "merge", "finish", "row", "place", "order")
"""The names of the kernels that store results to the destination."""
LANES_OF_CORE, MOST_RESIDENT = 1024, 32
"""The number of lanes on a core, and the most work-groups, for which kernels for whole rows are compiled.

With 1024 lanes on a core, a lane has 64 registers.
"""


def _resident(p: Params, lanes: int) -> int:
    """Return the number of work-groups of `lanes` lanes that a core must hold at once (`Kernel.resident`).

    The result is 1 if 64 registers per lane would be too few: for keys of two words, and without `Params.bin_sort`.
    """
    return p.resident if lanes == 256 and p.bin_sort and p.key_words == 1 else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The variant of a kernel's phase that sorts keys on chip (see `hsgen.core.kernels.VARIANT`).

    sorter: whether a work-group sorts its keys by bins, or by a bitonic network.
    """

    sorter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The sizes of a kernel that selects by a bound, and the variants of its loads and stores.

    shape: the sizes, such as the number of lanes, and of keys that a lane holds in registers.
    input: how keys are loaded: those of a row, of a section of a row, or of the lists of chunks.
    output: where the first k keys are stored: to the result, or to the list of a section.
    """

    shape: Bounded
    input: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """The sizes of a kernel that samples rows."""

    shape: Sampled


def _bounded(
    p: Params, name: str, summary: str, shape: Bounded, ends: tuple[str, str], buffers: tuple[Buffer, ...]
) -> Kernel:
    """Return a kernel that selects by a bound.

    ends: the names of the variants of `Part.input` and `Part.output`, in ends.j2.
    """
    source, result = (f"radix_select/ends.j2:{x}" for x in ends)
    pairs = {"least_pairs": shape.lanes, "candidates": shape.room, "bounds": shape.blocks}
    return Kernel(
        name=name,
        template=f"radix_select/bounded:{'chunks' if ends[0] == 'section' else 'select'}",
        summary=summary,
        work_group=shape.rows * shape.lanes,
        subgroup=shape.subgroup,
        resident=_resident(p, shape.lanes),
        buffers=(*buffers, *_rows(p, name)),
        arrays=(
            *[Array(name=x, type="pair", count=shape.rows * count) for x, count in pairs.items()],
            word_array("gathered_pairs", shape.rows),
        ),
        algorithm="radix_select",
        params=p,
        data=Part(shape=shape, input=source, output=result),
    )


def bounded(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels that select by a bound that is computed from keys in registers, for a small k."""
    values = _values(p)
    read, out = (SOURCE, *values[:-1]), (DESTINATION, *values[-1:])
    return (
        _bounded(p, "short_rows", "select from short rows", p.short, ("row", "result"), (*read, *out)),
        _bounded(p, "short_row", "select from a row in registers", p.chunk, ("section", "result"), (*read, *out)),
        _bounded(p, "chunks", "select from each section of a row", p.chunk, ("section", "list"), (SOURCE, LISTS)),
        _bounded(
            p, "merge", "select from the keys of all chunks", p.chunk, ("lists", "result"), (LISTED, *values[:-1], *out)
        ),
    )


def _sample(p: Params, name: str, shape: Sampled) -> Kernel:
    least = Array(name="least_pairs", type="pair", count=p.work_group)
    summary = "estimate a bound of the first keys"
    kernel = _kernel(p, name, summary, (SOURCE, LISTS, COUNTS), least, template="sampled")
    return replace(kernel, template="radix_select/sampled:sample", data=Estimates(shape=shape))


def sampled(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels that select from long rows, by a bound that is estimated from a sample."""
    s, values = p.sampled, _values(p)
    pairs, words = Array(name="estimates", type="pair", count=s.blocks), word_array("tile_counts", 2)
    chosen = Array(name="chosen", type="pair", count=1)
    return (
        _sample(p, "sample", p.sampled),
        _sample(p, "sample_long", p.sampled_long),
        replace(
            _kernel(
                p,
                "collect",
                "list the keys up to the bound",
                (SOURCE, LISTS, COUNTS),
                *(pairs, chosen, words),
                template="sampled",
            ),
            work_group=p.chunk.lanes,
            resident=_resident(p, p.chunk.lanes),
            data=p.chunk,
        ),
        _kernel(
            p,
            "finish",
            "select from the list of a row",
            (SOURCE, DESTINATION, *values, LISTED, replace(COUNTS, read_only=True)),
            *_local(p),
            template="sampled",
        ),
    )


def _rows(p: Params, name: str) -> tuple[Buffer, ...]:
    """Return the buffers, such as the lengths of rows, from which the kernel `name` reads numbers for each row."""
    s, stores, reads_keys = p.signature, name in _RESULT, name not in ("clear", "spine")
    return (
        *[LENGTHS] * (s.row_lengths and reads_keys),
        *[STARTS] * (s.row_starts and reads_keys),
        *[TAKES] * (s.row_takes and (stores or name in ("count", "sift"))),
        *[VALUE_STARTS] * (s.value_starts and stores),
        *[ROW_COUNT] * s.row_count,
    )


def _values(p: Params) -> tuple[Buffer, ...]:
    valued = p.signature.value_bytes > 0
    return (*([] if p.signature.index else [VALUES_IN]), VALUES_OUT) if valued else ()


def _local(p: Params) -> tuple[Array, ...]:
    """Return the local arrays of a kernel that narrows down candidates by digits, and then sorts them."""
    return (*_keys(p), *_narrowing(p, _sums(p)), word_array("gathered_keys", GATHERED), *_sorting(p))


def _keys(p: Params) -> tuple[Array, ...]:
    """Return the local arrays of the keys that a work-group holds, and of their indices."""
    return Array(name="keys", type="key", count=p.capacity), word_array("index", p.capacity)


def _narrowing(p: Params, lane_sums: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return the local arrays for the histogram of a digit, the sums over lanes, and the bin of the k-th key.

    lane_sums: the arrays for prefix sums over the lanes.
    """
    return word_array("bins", p.bins), *lane_sums, word_array("pick", PICK)


def _sums(p: Params) -> tuple[Array, ...]:
    """Return the local arrays for prefix sums over the lanes of a work-group."""
    tops = sums(p.work_group, p.subgroup)[-1]
    return word_array("sums", p.work_group), tops


def _sorting(p: Params) -> tuple[Array, ...]:
    """Return the additional local arrays that a sort by bins needs; none if a bitonic network sorts."""
    return (word_array("ranges", p.ranges), word_array("crowded", CROWDED)) if p.bin_sort else ()


def _on_chip(p: Params) -> tuple[Array, ...]:
    """Return the local arrays of a kernel that sorts keys and does not narrow down candidates."""
    return (*_keys(p), word_array("bins", p.bins), *_sums(p), *_sorting(p)) if p.bin_sort else _keys(p)


def _kernel(
    p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], *arrays: Array, template: str = "shared_rows"
) -> Kernel:
    spills = name in ("row", "place", "finish") or (
        name == "order" and p.bin_sort
    )  # without `resident`, compilers spill registers so that more work-groups fit a core
    wide = name == "finish" and p.key_words == 2 and bool(_values(p))  # spills with two work-groups on a core
    return Kernel(
        name=name,
        template=f"radix_select/{template if ':' in template else f'{template}:{name}'}",
        summary=summary,
        work_group=p.work_group,
        subgroup=p.subgroup if any(array.name == "tops" for array in arrays) else 1,
        buffers=(*buffers, *_rows(p, name)),
        arrays=arrays,
        resident=1 if wide else 2 if spills else 0,
        algorithm="radix_select",
        params=p,
        data=Body(sorter=f"radix_select/sort.j2:{'by_bins' if p.bin_sort else 'by_network'}"),
        scratch=layout(p) if WORDS in buffers else None,
    )


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels in the order in which they run."""
    out = (DESTINATION, *_values(p))
    narrowing, (lane_sums, _) = _narrowing(p, sums(p.work_group, p.subgroup)), _sums(p)
    counts = word_array("tile_counts", 2)
    return (
        *bounded(p),
        *(
            replace(
                _kernel(sizes, name, "sort a whole row", (SOURCE, *out), *_on_chip(sizes), template="row:whole"),
                resident=max(1, min(MOST_RESIDENT, LANES_OF_CORE // sizes.work_group)) if p.key_words == 1 else 2,
            )
            for name, sizes in zip(WHOLE, p.wholes, strict=False)
        ),
        *sampled(p),
        _kernel(p, "row", "select from a row in one work-group", (SOURCE, *out), *_local(p), template="row"),
        _kernel(p, "clear", "clear the histograms of all rows", (WORDS,)),
        _kernel(p, "count", "count the next digit of keys that may be the k-th", (SOURCE, WORDS), *narrowing),
        _kernel(p, "sift", "gather the keys that fit, or count those of a tile", (SOURCE, WORDS), *narrowing, counts),
        _kernel(p, "spine", "scan the counts of the tiles of a row", (WORDS,), lane_sums),
        _kernel(p, "place", "store the selected keys in the order of the row", (SOURCE, *out, WORDS), lane_sums),
        _kernel(p, "order", "sort the keys that were gathered", (*out, WORDS), *_on_chip(p)),
    )


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {}
