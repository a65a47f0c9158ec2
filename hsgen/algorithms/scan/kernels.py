"""The kernels of a prefix sum: of tiles with known prefixes, of the sums of tiles, and of tiles that look back."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.buffers import DESTINATION, SOURCE
from hsgen.algorithms.scan import words
from hsgen.algorithms.scan.params import Params
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

SUMS, WORDS = Buffer(name="sums"), Buffer(name="words", type="u32")


def _keys(name: str, count: int) -> Array:
    return Array(name=name, type="key", count=count)


def _kernel(
    p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], arrays: tuple[Array, ...] = (), lanes: int = 0
) -> Kernel:
    """A kernel; sequential lanes have separate templates where the distribution of rows among lanes matters."""
    alone = p.serial and name not in ("spine", "begin", "settle")
    return Kernel(
        name=name,
        template=f"scan/{'serial_' if alone else ''}{name}",
        summary=summary,
        work_group=lanes or p.work_group,
        buffers=buffers,
        arrays=arrays,
        algorithm="scan",
        params=p,
    )


def _tiling(p: Params) -> tuple[Array, ...]:
    """The local memory for the scan of a tile."""
    if p.serial:
        return ()
    return _keys("tile", p.work_group * p.pitch), _keys("bases", p.columns)


def single(p: Params) -> Kernel:
    """Return the kernel for counts that one work-group scans."""
    made = _kernel(p, "single", f"sum up to {p.tile} rows in one work-group", (SOURCE, DESTINATION))
    if p.sections:
        return replace(_by_subgroups(p, replace(made, template="scan/sections_single")), resident=0)
    return replace(made, arrays=_tiling(p))


def reduce(p: Params) -> Kernel:
    """Return the kernel that sums the rows of each work-group."""
    arrays = () if p.serial else (_keys("part", p.work_group),)
    return _kernel(p, "reduce", "sum the rows of a work-group", (SOURCE, SUMS), arrays)


def spine(p: Params) -> Kernel:
    """Return the kernel of the exclusive scan of the sums of work-groups."""
    return _kernel(p, "spine", "scan the sums of all work-groups", (SUMS,), (_keys("part", p.spine),), p.spine)


def scan(p: Params) -> Kernel:
    """Return the kernel that scans the tiles of each work-group in sequence."""
    return _kernel(p, "scan", "scan the rows of a work-group", (SOURCE, DESTINATION, SUMS), _tiling(p))


def begin(p: Params) -> Kernel:
    """Return the kernel that clears the states of tiles."""
    return _kernel(p, "begin", "clear the ticket and the states of tiles", (WORDS,))


def lookback(p: Params) -> Kernel:
    """Return the single-pass kernel: sum a tile, look back for its prefix, store."""
    seen = (
        _keys("seen", p.window * p.columns),
        Array(name="marks", type="u32", count=p.window * p.columns),
        Array(name="late", type="u32", count=4),
    )
    arrays = () if p.serial else (*_tiling(p), *seen)
    return _kernel(p, "lookback", "scan a tile, look back, store", (SOURCE, DESTINATION, WORDS), arrays)


def sections(p: Params) -> Kernel:
    """Return the single-pass kernel whose tiles look back within sections."""
    seen = (_keys("seen", p.subgroups * p.columns), Array(name="drawn", type="u32", count=1))
    made = _kernel(p, "sections", "scan a tile, look back in its section, store", (SOURCE, DESTINATION, WORDS), seen)
    return _by_subgroups(p, made)


def _by_subgroups(p: Params, made: Kernel) -> Kernel:
    """A kernel whose subgroups exchange sums of a tile in registers or in local memory."""
    tile = (Array(name="tile", type="key", count=p.tile * p.columns, align=16),) if p.local else ()
    arrays = (*tile, _keys("part", p.subgroups * p.columns), *made.arrays)
    return replace(made, arrays=arrays, subgroup=p.subgroup, resident=p.resident, vectors=True)


def settle(p: Params) -> Kernel:
    """Return the kernel that finds the prefixes of tiles whose look-back gave up."""
    arrays = (_keys("part", p.spine), Array(name="marks", type="u32", count=p.spine))
    return _kernel(p, "settle", "find the prefixes of tiles whose look-back gave up", (WORDS,), arrays, p.spine)


def apply(p: Params) -> Kernel:
    """Return the kernel that redoes the tiles whose look-back gave up."""
    return _kernel(p, "apply", "scan the tiles whose look-back gave up", (SOURCE, DESTINATION, WORDS), _tiling(p))


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels in the order in which they run."""
    if p.sections:
        return single(p), begin(p), sections(p)
    if p.looks:
        return single(p), begin(p), lookback(p), *(() if p.forward_progress else (settle(p), apply(p)))
    return (single(p), reduce(p), *(() if p.serial else (spine(p),)), scan(p))


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {
        "failed": words.FAILED,
        "ticket": words.TICKET,
        "states": words.STATES,
        "counted": f"{words.COUNTED}u",
        "summed": f"{words.SUMMED}u",
        "open": f"{words.OPEN}u",
    }
