"""The kernels of the strategy `per_thread`: each lane, or each subgroup, handles a chunk key by key."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import OTHER, VALUES_TMP, word_array
from hsgen.algorithms.radix.parts import ALL, WORDS, Body, copy, moving, order_check, order_flag, plain
from hsgen.algorithms.radix.per_thread.params import PerThread, alone_shape, counters
from hsgen.algorithms.radix.phases import Scan
from hsgen.algorithms.radix.words import columns
from hsgen.core.buffers import GROUP, Array, Buffer
from hsgen.core.kernels import Kernel

_SERIAL = "radix/per_thread/serial.j2"


def _local(p: PerThread, count: int) -> tuple[Array, ...]:
    return () if p.compact else (word_array("counts", count),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk(Body):
    """The choice of code for the phases of `count` and `scatter` (see `hsgen.algorithms.radix.phases`).

    order: whether the first pass checks if the keys are in order already, and which lanes evaluate the check.
    table: whether a row of the table of histograms has the counts of a chunk, or those of a digit.
    store: whether keys are stored one by one, or in lines of 64 bytes.
    """

    order: str
    table: str
    store: str = f"{_SERIAL}:by_key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone(Body):
    """The choice of code for the phases of the kernel in which one work-group sorts a small count.

    scan: whether the work-group that scans the counts has one lane, or several.
    values: whether the compact kernel moves keys only, or keys and values.
    """

    scan: str
    values: str


def _walk(p: PerThread) -> Walk:
    """Return the choice of code for the kernels of a pass."""
    order = "order_alone" if p.folded else "order_together"
    return Walk(
        order=f"{_SERIAL}:{order if p.sorted_exit else 'any_order'}",
        table=f"{_SERIAL}:" + ("row_by_chunk" if p.folded else "row_by_digit"),
    )


def _alone_phases(p: PerThread) -> Alone:
    """Return the choice of code for the kernel in which one work-group sorts a small count."""
    return Alone(
        scan=f"{_SERIAL}:" + ("alone" if p.work_group == 1 else "together"),
        values=f"{_SERIAL}:" + ("compact_pairs" if p.valued else "compact_keys"),
    )


def _walking(
    p: PerThread, name: str, summary: str, buffers: tuple[Buffer, ...], arrays: tuple[Array, ...] = ()
) -> Kernel:
    """Return a kernel of the template `serial` (chunks of lanes) or `simd` (chunks of subgroups)."""
    file = "serial" if p.subgroup == 1 else "simd"
    kernel = plain(p, name, summary, buffers, arrays, template=f"radix/per_thread/{file}:{name}")
    return replace(kernel, subgroup=p.subgroup, ballot=p.subgroup > 1, data=_walk(p))


def count(p: PerThread) -> Kernel:
    """Return the kernel that stores the histogram of each chunk in the table of counts."""
    return _walking(p, "count", "count the digits", ALL, (*_local(p, counters(p)), *order_flag(p)))


def scanned(p: PerThread) -> Kernel:
    """Return the kernel that replaces the counts of each digit by prefixes over all chunks; a lane scans one digit."""
    template = "radix/reduce_scan/reduce_scan:rows_by_lane"
    kernel = plain(p, "rows", "scan the counts of one digit a lane", (WORDS,), template=template)
    return replace(kernel, data=Scan(order_check=order_check(p.sorted_exit)))


def scatter(p: PerThread) -> Kernel:
    """Return the kernel that stores each key of a chunk at the next free index of the key's digit."""
    lane_sums = () if p.folded else (word_array("sums", p.work_group),)
    arrays = (*_local(p, p.radix * columns(p)), *lane_sums)
    return _walking(p, "scatter", "walk chunks and store each key at its place", moving(p, *ALL), arrays)


def stream(p: PerThread) -> Kernel:
    """Return the variant of `scatter` that collects the keys of a digit in a line of 64 bytes.

    The kernel stores full lines past the caches.
    """
    lines = Array(name="lines", type="key", count=p.radix * p.line, align=64)
    summary = "walk chunks and store keys by the line, past the caches"
    kernel = replace(scatter(p), name="scatter_lines", summary=summary)
    arrays = (*kernel.arrays, word_array("firsts", p.radix), lines)
    return replace(kernel, arrays=arrays, data=replace(_walk(p), store=f"{_SERIAL}:by_line"))


def single(p: PerThread) -> Kernel:
    """Return the kernel in which one work-group sorts up to `p.alone` keys, by passes in memory."""
    summary, p = f"sort up to {p.alone} keys in one work-group", alone_shape(p)
    if p.compact:
        buffers = tuple(replace(b, times=2) if b in (OTHER, VALUES_TMP) else b for b in moving(p, *ALL))
        return replace(_walking(p, "compact", summary, buffers), name="single", data=_alone_phases(p))
    moved = moving(p, *ALL[:3])
    buffers = tuple(b if b.read_only else replace(b, coherent=GROUP if p.work_group > 1 else "") for b in moved)
    arrays = (word_array("counts", counters(p)), word_array("sums", p.work_group))
    return replace(_walking(p, "single", summary, buffers, arrays), data=_alone_phases(p))


def kernels(p: PerThread) -> tuple[Kernel, ...]:
    """Return every kernel, in the order of their launches."""
    alone = [single(p)] if p.alone else []
    scans = [] if p.folded else [scanned(p)]
    return (*alone, count(p), *scans, scatter(p), *([stream(p)] if p.stream else []), copy(p))
