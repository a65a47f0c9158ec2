"""Each lane, or each subgroup, walks a chunk of its own with its own counters: CPUs, and Intel's tutorial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from hsgen.algorithms.buffers import OTHER, VALUES_TMP
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import rows, tile
from hsgen.algorithms.radix.parts import ALL, WORDS, Body, copy, found, moving, order_check, plain
from hsgen.algorithms.radix.phases import Scan
from hsgen.algorithms.radix.rankers import array
from hsgen.algorithms.radix.tile import Tile
from hsgen.algorithms.radix.words import columns, max_n
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.buffers import GROUP, Array, Buffer
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.flags import DIRECT
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType
from hsgen.core.plan import Plan, Step

FIELDS = {
    "bits": tile.BITS,
    "items": Field("int", "the least keys of a chunk", least=1, greatest=65536),
    "work_group": tile.WORK_GROUP,
    "subgroup": tile.SUBGROUP,
    "groups": tile.GROUPS,
    **tile.SINGLE,
    "single_lanes": replace(tile.WORK_GROUP, hint="the lanes of the work-group that sorts alone", required=False),
    "loads": Field(
        "int", "the keys that a lane loads before it handles the first", required=False, least=1, greatest=16
    ),
    "compact": Field("bool", "whether kernels are made for a short compilation", required=False),
    "stream_from": Field("int", "the count from which keys are stored past the caches", required=False, least=1),
    "sorted_exit": tile.SORTED_EXIT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PerThread(Tile):
    """The table ``[radix.KEY.per_thread]``.

    A lane walks a chunk, or with a subgroup > 1 a subgroup does, which then is a work-group.
    stream_from: from this count on keys are stored by the line of 64 bytes, past the caches; None means never.
    single_lanes: the lanes of the work-group that sorts small counts alone; None means `work_group`.  One lane waits
    for no barrier, which suits devices that run lanes one after the other.
    loads: the keys that a lane loads before it handles the first; None means 8 for a lane alone, else 2.
    compact: whether counters lie in scratch, since WebGPU sets local memory to zero and some compilers take time in
    proportion to it, and the lane that sorts alone moves keys between two halves of scratch, with little code.
    sorted_exit: as of `hsgen.algorithms.radix.reduce_scan.ReduceScan`.
    """

    STRATEGY: ClassVar[str] = "per_thread"
    single_lanes: int | None = None
    loads: int | None = None
    compact: bool = False
    stream_from: int | None = None
    sorted_exit: bool = False

    @property
    def serial(self) -> bool:
        """Always."""
        return True

    @property
    def folded(self) -> bool:
        """Whether work-groups are single lanes."""
        return self.work_group == 1

    @property
    def alone(self) -> int:
        """The greatest count that one work-group sorts in one launch: none if not given."""
        return self.single or 0

    @property
    def unrolled(self) -> int:
        """Keys that a lane loads before it handles the first."""
        return self.loads or (8 if self.folded else 2)

    @property
    def counter_words(self) -> int:
        """The words in scratch that a work-group's counters take, of the kernels of passes or of the one alone."""
        return max(counters(self), _alone(self).radix if self.alone else 0) if self.compact else 0

    @property
    def halves(self) -> int:
        """The greatest count that is sorted between two halves of scratch."""
        return self.alone if self.compact else 0

    @property
    def line(self) -> int:
        """Keys of a line of 64 bytes."""
        return 64 // self.key.bytes

    @property
    def stream(self) -> int | None:
        """The count from which keys are stored past the caches; values, and keys of less than a word, never are."""
        return None if self.valued or self.key.bytes < 4 else self.stream_from


Params = PerThread


def counters(p: PerThread) -> int:
    """Return the counters of a work-group: a set a lane, or two for a lane alone, so that equal digits do not wait."""
    return p.radix * (2 if p.folded else p.work_group)


def _local(p: PerThread, count: int) -> tuple[Array, ...]:
    return () if p.compact else (array("counts", count),)


def _alone(p: PerThread) -> PerThread:
    lanes, bits = p.single_lanes or p.work_group, p.single_bits or p.bits
    return replace(p, bits=bits, single_bits=None, work_group=lanes, single_lanes=None, single=None)


def _walking(
    p: PerThread, name: str, summary: str, buffers: tuple[Buffer, ...], arrays: tuple[Array, ...] = ()
) -> Kernel:
    """A kernel whose lanes or subgroups walk."""
    folder = "radix/per_thread/serial_" if p.subgroup == 1 else "radix/per_thread/simd_"
    made = plain(p, name, summary, buffers, arrays, folder=folder)
    return replace(made, subgroup=p.subgroup, ballot=p.subgroup > 1)


def count(p: PerThread) -> Kernel:
    """Return the kernel that counts the digits of the keys of each chunk."""
    return _walking(p, "count", "count the digits", ALL, (*_local(p, counters(p)), *found(p)))


def scanned(p: PerThread) -> Kernel:
    """Return the kernel that scans the counts of one digit over all chunks."""
    made = plain(p, "rows", "scan the counts of one digit a lane", (WORDS,))
    return replace(
        made, template="radix/reduce_scan/reduce_scan:rows_by_lane", data=Scan(order_check=order_check(p.sorted_exit))
    )


def scatter(p: PerThread) -> Kernel:
    """Return the kernel that brings every key to its place, by the scanned counts."""
    sums = () if p.folded else (array("sums", p.work_group),)
    arrays = (*_local(p, p.radix * columns(p)), *sums)
    return _walking(p, "scatter", "walk chunks and store each key at its place", moving(p, *ALL), arrays)


def stream(p: PerThread) -> Kernel:
    """Return the scatter that stores whole lines past the caches."""
    lines = Array(name="lines", type="key", count=p.radix * p.line, align=64)
    what = "walk chunks and store keys by the line, past the caches"
    kernel = replace(scatter(p), name="scatter_lines", summary=what)
    return replace(kernel, arrays=(*kernel.arrays, array("firsts", p.radix), lines), data=Body(lines=True))


def single(p: PerThread) -> Kernel:
    """Return the kernel that sorts what one work-group can alone."""
    summary, p = f"sort up to {p.alone} keys in one work-group", _alone(p)
    if p.compact:
        buffers = tuple(replace(b, times=2) if b in (OTHER, VALUES_TMP) else b for b in moving(p, *ALL))
        return replace(_walking(p, "compact", summary, buffers), name="single")
    moved = moving(p, *ALL[:3])
    buffers = tuple(b if b.read_only else replace(b, coherent=GROUP if p.work_group > 1 else "") for b in moved)
    arrays = (array("counts", counters(p)), array("sums", p.work_group))
    return _walking(p, "single", summary, buffers, arrays)


def kernels(p: PerThread) -> tuple[Kernel, ...]:
    """Return every kernel, in the order in which a sort uses them."""
    made = [single(p)] if p.alone else []
    scans = [] if p.folded else [scanned(p)]
    return (*made, count(p), *scans, scatter(p), *([stream(p)] if p.stream else []), copy(p))


def _counted(p: PerThread, number: int) -> list[Step]:
    """The rows of a pass."""
    low, high = p.alone, max_n(p)
    made = [rows.row(p, count(p), rows.tiles(p), rows.nth(p, number))]
    if not p.folded:
        values = p.radix if p.signature.bit_range else 1 << p.digits[number][1]
        made.append(rows.row(p, scanned(p), rows.fixed(-(-values // p.work_group)), rows.nth(p, number)))
    cut = min(max(p.stream - 1, low), high) if p.stream else high
    for kernel, least, most in ((scatter, low, cut), (stream, cut, high)):
        if least < most:
            made.append(rows.row(p, kernel(p), rows.tiles(p), rows.nth(p, number, DIRECT), low=least, high=most))
    return made


def plan(p: PerThread) -> Plan:
    """Return the whole sort: passes from buffer to buffer as of `reduce_scan.plan`."""
    steps = rows.single(p, single(p))
    for number in range(len(p.digits)):
        steps += _counted(p, number)
    return rows.plan(p, [*steps, *rows.copied(p, copy(p))])


def moved(p: PerThread, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` for `n` keys reads and writes where no digit is constant."""
    return rows.moved(p, step, n)


def test_counts(p: PerThread, greatest: int) -> set[int]:
    """Return the counts up to `greatest` at which the sort changes its way."""
    return rows.test_counts(p, greatest) | ({p.stream} if p.stream else set())


def problems(p: PerThread, device: Device) -> Iterator[Problem]:
    """Yield what cannot work."""
    if p.subgroup > 1 and p.work_group != p.subgroup:
        what = f"a subgroup that walks a chunk is a work-group, {p.work_group} lanes are not {p.subgroup}"
        yield "work_group", what, f"give {p.subgroup}, or a subgroup of 1: every lane then walks its own chunk"
    if p.folded and p.groups > 256:
        yield "groups", f"each of {p.groups} lanes would sum {p.groups} columns of counts", "give at most 256"
    if p.stream_from and p.work_group > 1:
        yield "stream_from", "only work-groups of one lane collect keys", "leave it out, or give a work_group of 1"
    if p.compact and p.alone and (p.single_lanes or p.work_group) > 1:
        yield "compact", "only a lane alone sorts in such a kernel", "give single_lanes = 1, or leave it out"
    for name in ("single_lanes", "loads", "compact"):
        if getattr(p, name) and p.subgroup > 1:
            yield name, "subgroups that walk chunks take keys a row at a time", "leave it out, or give a subgroup of 1"
    if p.sorted_exit and p.subgroup > 1:
        yield "sorted_exit", "subgroups that walk chunks do not look whether keys are in order", "leave it out"


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield boxes of lanes alone, of several lanes in a work-group, and of each width of subgroups."""
    shared: Box = {
        "bits": (5, 6, 7, 8, 9, 10, 11),
        "groups": steps(1, 256),
        "single": (0, *steps(256, 1 << 18)),
        "single_bits": (None, 6, 7, 8, 9, 10, 11),
    }
    lines = (None, *steps(1 << 18, 1 << 24))
    yield {"subgroup": (1,), "work_group": (1,), "items": steps(64, 65536), "stream_from": lines, **shared}
    shared = {"items": steps(16, 4096), **shared}
    if lanes := steps(2, min(256, device.work_group)):
        yield {"subgroup": (1,), "work_group": lanes, **shared}
    for width in (w for w in device.subgroups if w > 1 and device.shuffle):
        yield {"subgroup": (width,), "work_group": (width,), **shared}


def fitted(p: PerThread) -> PerThread:
    """Return the shape for its key and form: kernels of a pass do not know a whole range of bits."""
    return replace(p, sorted_exit=p.sorted_exit and not p.signature.bit_range)


def notes(p: PerThread) -> list[tuple[str, str]]:
    """Return derived values for people."""
    return [("ranker", "serial" + (f", subgroups of {p.subgroup}" if p.subgroup > 1 else ""))]
