"""The kernels of a prefix sum, for each coordination (see `hsgen.algorithms.scan`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, SOURCE, word_array
from hsgen.algorithms.scan import words
from hsgen.algorithms.scan.params import Params
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

SUMS, WORDS = Buffer(name="sums"), Buffer(name="words", type="u32")
REDUCE_SCAN, LOOKBACK, SECTIONS, SERIAL = "reduce_scan", "lookback", "sections", "serial"
"""The names of the files in ``templates/scan`` that contain kernels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookBack:
    """The choice of code for a kernel with look-back (see `hsgen.core.kernels.VARIANT`).

    progress: how long a tile waits for an earlier tile: without a limit ("spinning"), or up to `spins` polls
    ("bounded").
    """

    progress: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The choice of code for a kernel with sections (see `hsgen.core.kernels.VARIANT`).

    tile: whether the tile is in registers, or in local memory.
    """

    tile: str


def _keys(name: str, count: int) -> Array:
    """Return an array of `count` elements in local memory."""
    return Array(name=name, type="key", count=count)


def _kernel(
    p: Params, file: str, name: str, summary: str, buffers: tuple[Buffer, ...], arrays: tuple[Array, ...] = ()
) -> Kernel:
    """Return a kernel whose template is the macro `name` of a file in ``templates/scan``."""
    return Kernel(
        name=name,
        template=f"scan/{file}:{name}",
        summary=summary,
        work_group=p.work_group,
        buffers=buffers,
        arrays=arrays,
        algorithm="scan",
        params=p,
        scratch=words.words(p) if WORDS in buffers else None,
    )


def _tile(p: Params) -> tuple[Array, ...]:
    """Return the local arrays of a kernel that scans a tile: its rows, and for each column the sum before the tile."""
    return _keys("tile", p.work_group * p.pitch), _keys("bases", p.columns)


def single(p: Params) -> Kernel:
    """Return the kernel in which one work-group scans up to `p.tile` rows alone."""
    summary, buffers = f"sum up to {p.tile} rows in one work-group", (SOURCE, DESTINATION)
    if p.sections:
        return replace(_by_subgroups(p, _kernel(p, SECTIONS, "single", summary, buffers)), resident=0)
    if p.serial:
        return _kernel(p, SERIAL, "single", summary, buffers)
    return _kernel(p, REDUCE_SCAN, "single", summary, buffers, _tile(p))


def reduce(p: Params) -> Kernel:
    """Return the kernel in which each work-group stores the sum of all of its rows."""
    summary, buffers = "sum the rows of a work-group", (SOURCE, SUMS)
    if p.serial:
        return _kernel(p, SERIAL, "reduce", summary, buffers)
    return _kernel(p, REDUCE_SCAN, "reduce", summary, buffers, (_keys("lane_sums", p.work_group),))


def spine(p: Params) -> Kernel:
    """Return the kernel that replaces the sums of work-groups by their exclusive scan."""
    sums = _keys("lane_sums", p.spine)
    kernel = _kernel(p, REDUCE_SCAN, "spine", "scan the sums of all work-groups", (SUMS,), (sums,))
    return replace(kernel, work_group=p.spine)


def scan(p: Params) -> Kernel:
    """Return the kernel in which each work-group scans its tiles one after another, from its exclusive sum on."""
    summary, buffers = "scan the rows of a work-group", (SOURCE, DESTINATION, SUMS)
    if p.serial:
        return _kernel(p, SERIAL, "scan", summary, buffers)
    return _kernel(p, REDUCE_SCAN, "scan", summary, buffers, _tile(p))


def begin(p: Params) -> Kernel:
    """Return the kernel that clears the ticket and the states of tiles."""
    return _kernel(
        p, SECTIONS if p.sections else LOOKBACK, "begin", "clear the ticket and the states of tiles", (WORDS,)
    )


def lookback(p: Params) -> Kernel:
    """Return the kernel of the coordination "lookback": it sums a tile, looks back for its prefix, and stores sums."""
    summary, buffers = "scan a tile, look back, store", (SOURCE, DESTINATION, WORDS)
    data = LookBack(progress="scan/progress.j2:" + ("spinning" if p.forward_progress else "bounded"))
    if p.serial:
        return replace(_kernel(p, SERIAL, "lookback", summary, buffers), data=data)
    window = p.window * p.columns
    gave_up = () if p.forward_progress else (word_array("gave_up", 1),)
    flags = (word_array("ticket", 1), word_array("pending", 2), *gave_up)
    arrays = (*_tile(p), _keys("window_sums", window), word_array("window_kinds", window), *flags)
    return replace(_kernel(p, LOOKBACK, "lookback", summary, buffers, arrays), data=data)


def sections(p: Params) -> Kernel:
    """Return the kernel of the coordination "sections": it sums a tile, looks back in its section, and stores sums."""
    arrays = (_keys("state_sums", p.subgroups * p.columns), word_array("ticket", 1))
    summary, buffers = "scan a tile, look back in its section, store", (SOURCE, DESTINATION, WORDS)
    return _by_subgroups(p, _kernel(p, SECTIONS, "sections", summary, buffers, arrays))


def _by_subgroups(p: Params, kernel: Kernel) -> Kernel:
    """Return the kernel with the subgroups, the local arrays and the variant of a kernel with sections."""
    tile = (Array(name="tile", type="key", count=p.tile * p.columns, align=16),) if p.local else ()
    arrays = (*tile, _keys("subgroup_sums", p.subgroups * p.columns), *kernel.arrays)
    data = Section(tile="scan/local.j2" if p.local else "scan/registers.j2")
    return replace(kernel, arrays=arrays, subgroup=p.subgroup, resident=p.resident, vectors=True, data=data)


def settle(p: Params) -> Kernel:
    """Return the kernel that computes the prefixes of the tiles whose look-back gave up."""
    arrays = (_keys("lane_sums", p.spine), word_array("lane_inclusive", p.spine))
    summary = "find the prefixes of tiles whose look-back gave up"
    return replace(_kernel(p, LOOKBACK, "settle", summary, (WORDS,), arrays), work_group=p.spine)


def apply(p: Params) -> Kernel:
    """Return the kernel that scans the tiles whose look-back gave up, with the prefixes of `settle`."""
    summary, buffers = "scan the tiles whose look-back gave up", (SOURCE, DESTINATION, WORDS)
    if p.serial:
        return _kernel(p, SERIAL, "apply", summary, buffers)
    return _kernel(p, LOOKBACK, "apply", summary, buffers, _tile(p))


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return every kernel, in the order of their launches."""
    if p.sections:
        return single(p), begin(p), sections(p)
    if p.looks:
        return single(p), begin(p), lookback(p), *(() if p.forward_progress else (settle(p), apply(p)))
    return (single(p), reduce(p), *(() if p.serial else (spine(p),)), scan(p))


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`: none."""
    return {}
