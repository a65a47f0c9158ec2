"""The kernels of a segmented sort (see `hsgen.algorithms.segmented`)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from hsgen.algorithms.buffers import DESTINATION, OTHER, SOURCE, VALUES_IN, VALUES_OUT, VALUES_TMP
from hsgen.algorithms.radix import per_thread
from hsgen.algorithms.radix.parts import picking, sums
from hsgen.algorithms.radix.per_thread import PerThread
from hsgen.algorithms.radix.rankers import rank_arrays
from hsgen.algorithms.radix.reduce_scan import ReduceScan
from hsgen.algorithms.segmented import words
from hsgen.algorithms.segmented.capacity import CROWD, NETWORKS, TINY
from hsgen.algorithms.segmented.params import Params
from hsgen.core import networks
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

OFFSETS = Buffer(name="offsets", type="u32", read_only=True)
STOPS = Buffer(name="stops", type="u32", read_only=True)
WORDS = Buffer(name="words", type="u32")
COUNTED = Buffer(name="counted", type="u32", read_only=True)
KEYS = (SOURCE, DESTINATION, OTHER)
FILES = {
    **dict.fromkeys(("begin", "sift"), "lists:"),
    "alone": "medium:",
    **dict.fromkeys(("count", "rows", "scatter", "copy"), "long:"),
}
"""The template files that contain several kernels, by kernel name.  Any other kernel has a file of its own."""


def _array(name: str, count: int) -> Array:
    return Array(name=name, type="u32", count=count)


def _kernel(
    p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], arrays: tuple[Array, ...] = (), lanes: int = 0
) -> Kernel:
    """Return a kernel of a segmented sort.

    Sequential lanes handle keys in another order, so most kernels have a separate template for sequential lanes.
    lanes: the number of lanes of a work-group; 0 means `p.rank.work_group`.
    """
    walks = p.serial and name not in ("begin", "sift", "copy")
    file = FILES.get(name, "")
    return Kernel(
        name=name,
        template=f"segmented_sort/{file}{'serial_' if walks else ''}{name}",
        summary=summary,
        work_group=lanes or p.rank.work_group,
        buffers=buffers,
        arrays=arrays,
        algorithm="segmented_sort",
        params=p,
        scratch=words.words(p) if WORDS in buffers else None,
    )


def ranking(kernel: Kernel, shape: ReduceScan) -> Kernel:
    """Return the kernel with the subgroups that its ranker needs, and with `resident` set for 512 lanes on a core.

    Without `resident`, some compilers spill a few registers so that even more lanes fit a core.
    """
    resident = max(1, 512 // shape.work_group)
    return replace(kernel, subgroup=shape.subgroup, ballot=shape.ranker == "match_ballot", resident=resident)


def valued(p: Params, *more: Buffer) -> tuple[Buffer, ...]:
    """Return the buffers of values that the signature needs, and the buffers `more`; none if keys have no values."""
    if not p.signature.value_bytes:
        return ()
    return (*([] if p.signature.index else [VALUES_IN]), VALUES_OUT, *more)


def _bounds(p: Params) -> tuple[Buffer, ...]:
    """Return the buffer of segment starts and, if callers pass segment ends, the buffer of those."""
    return (OFFSETS, STOPS) if p.signature.segment_ends else (OFFSETS,)


def begin(p: Params) -> Kernel:
    """Return the kernel that stores the number of segments in scratch, and sets the lengths of lists to 0.

    If there are 0 segments, the kernel also checks the only offset.
    """
    form, summary = p.signature, "store the number of segments, clear counts"
    buffers = (*[OFFSETS] * (not form.segment_ends), WORDS, *[COUNTED] * form.segment_count)
    return _kernel(
        p, "begin", summary, buffers, lanes=p.wave if p.bin_items else 1
    )  # with bins, many lanes clear the region `bounds`


def sift(p: Params) -> Kernel:
    """Return the kernel that checks the offsets, and lists the medium and the long segments."""
    return _kernel(p, "sift", "check offsets, list longer segments", (*_bounds(p), WORDS), lanes=p.wave)


def windows(p: Params) -> Kernel:
    """Return the kernel in which each work-group sorts the short segments that start in its window."""
    summary = f"sort segments of up to {p.small} keys"
    keys = (SOURCE, DESTINATION)
    if isinstance(p.chip, PerThread):
        buffers = (*keys, *valued(p, VALUES_TMP), *_bounds(p), WORDS)
        if not p.networks:
            rows = (Array(name="tile", type="key", count=p.window + p.small + 4 * p.wave),)
            kernel = _kernel(p, "windows", summary, buffers, rows, p.wave)
            return replace(kernel, template="segmented_sort/serial_windows:windows")
        listed = (_array("listed", p.window // (p.wave + 1) + 1), _array("sizes", p.levels), _array("starts", p.levels))
        keys_held = Array(name="held", type="key", count=p.window + p.small)
        columns = (Array(name="tile", type="key", count=p.small * p.wave), keys_held, *listed)
        return replace(
            _kernel(p, "windows", summary, buffers, columns, p.wave), template="segmented_sort/serial_columns:windows"
        )
    if p.bin_items:
        return _by_bins(p, summary)
    return _ranked(p, "windows", summary)


def _marks(p: Params, count: int) -> tuple[Array, ...]:
    """Return the local arrays that mark segment starts among `count` keys, and those that speed up searches for a mark.

    The array `marks` has one bit for each key, which is set if a segment starts at the key.
    """
    words = -(-count // 32)
    arrays = (_array("marks", words), _array("prior", words), _array("ends", 3))
    return (*arrays, *[_array("gaps", words)] * p.signature.segment_ends)


def _ranked(p: Params, name: str, summary: str) -> Kernel:
    """Return the kernel `name` that sorts the short segments of a window by ranking the window's keys."""
    shape, buffers = p.chip, (SOURCE, DESTINATION, *valued(p), *_bounds(p), WORDS)
    assert isinstance(shape, ReduceScan)
    return ranking(_kernel(p, name, summary, buffers, (*rank_arrays(shape), *_marks(p, p.tile))), shape)


def _by_bins(p: Params, summary: str) -> Kernel:
    """Return the kernel that sorts the short segments of a window by bins; a core must hold 1024 of its lanes."""
    lanes, subgroup = p.chip.work_group, p.chip.subgroup
    keys = (Array(name="tile", type="key", count=p.capacity), _array("bins", p.capacity))
    order = (_array("order", p.capacity + 1), *_marks(p, p.capacity))
    arrays = (*keys, *order, _array("shares", lanes + 1), _array("full", 5), *sums(lanes, subgroup))
    kernel = _kernel(p, "windows", summary, (SOURCE, DESTINATION, *valued(p), *_bounds(p), WORDS), arrays)
    kernel = replace(kernel, template="segmented_sort/windows_by_bins:windows", subgroup=subgroup)
    return replace(kernel, resident=max(1, 1024 // lanes))


def windows_rest(p: Params) -> Kernel:
    """Return the kernel that sorts the windows with a crowded bin, by ranking their keys."""
    return _ranked(p, "windows_rest", "sort the short segments of crowded windows")


def alone(p: Params) -> Kernel:
    """Return the kernel in which a work-group sorts one medium segment at a time."""
    summary = f"sort segments of {p.small + 1} to {p.tile} keys"
    shape = chip(p)
    if isinstance(shape, PerThread):
        arrays = (_array("counts", per_thread.counters(shape)),)
        return _kernel(p, "alone", summary, (*KEYS, *valued(p, VALUES_TMP), *_bounds(p), WORDS), arrays)
    buffers = (SOURCE, DESTINATION, *valued(p), *_bounds(p), WORDS)
    kernel = _kernel(p, "alone", summary, buffers, rank_arrays(shape))
    return ranking(replace(kernel, template="segmented_sort/medium:apart") if p.apart else kernel, shape)


def chip(p: Params) -> ReduceScan | PerThread:
    """Return the parameters with which a work-group sorts one segment on chip.

    The result is `Params.chip`, but without indices for keys without values: only a sort of several segments needs
    them.
    """
    return replace(p.chip, signature=p.signature)


def count(p: Params) -> Kernel:
    """Return the kernel that stores a histogram for each column of each long segment."""
    counters = per_thread.counters(p.rank) if isinstance(p.rank, PerThread) else p.rank.radix
    arrays = (_array("counts", counters),)
    kernel = _kernel(p, "count", "count the digits of long segments", (*KEYS, WORDS), arrays)
    return kernel if p.serial else picking(kernel)


def rows(p: Params) -> Kernel:
    """Return the kernel that replaces the counts of each long segment by prefixes over the columns of the segment."""
    sums = () if p.serial else (_array("sums", p.rank.work_group),)
    return _kernel(p, "rows", "scan the counts of long segments", (WORDS,), sums)


def scatter(p: Params) -> Kernel:
    """Return the kernel that stores each key of a long segment at the offset of its digit plus its rank."""
    buffers = (*KEYS, *valued(p, VALUES_TMP), WORDS)
    summary = "scatter the keys of long segments"
    if isinstance(p.rank, PerThread):
        return _kernel(p, "scatter", summary, buffers, (_array("counts", p.rank.radix),))
    arrays = (*rank_arrays(p.rank), _array("bases", p.rank.radix))
    return picking(ranking(_kernel(p, "scatter", summary, buffers, arrays), p.rank))


def copy(p: Params) -> Kernel:
    """Return the kernel that copies long segments to the destination, in place after an odd number of passes."""
    return _kernel(p, "copy", "copy long segments to the destination", (*KEYS, *valued(p, VALUES_TMP), WORDS))


@lru_cache(maxsize=1)
def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return every kernel, in the order of their launches."""
    short = (windows(p), *([windows_rest(p)] if p.bin_items else []))
    always = (begin(p), sift(p), *short, alone(p), count(p), rows(p), scatter(p))
    return (*always, *([copy(p)] if len(p.rank.digits) % 2 or p.signature.bit_range else []))


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {
        "r": p.rank,
        "solo": chip(p),
        "sorting": networks.sorting(p.wave),
        "halves": networks.halves(p.wave),
        "crowd": CROWD,
        "sorters": [(n, networks.sorting(n)) for n in NETWORKS[p.key.held]],
        "mean": TINY,
    }
