"""The parameters of the strategy `per_thread`: keys of its target table, constraints and search space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import tile
from hsgen.algorithms.radix.tile import Tile
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.keys import KeyType

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
    """The target table ``[radix.KEY.per_thread]``.

    Each lane has a chunk.  If `subgroup` > 1, each subgroup has a chunk instead, and a work-group is one subgroup.
    stream_from: the least count for which keys are stored past the caches, in lines of 64 bytes; None means never.
    single_lanes: the number of lanes of the work-group that sorts small counts alone; None means `work_group`.  A
    single lane needs no barrier, which suits devices that run lanes one after another.
    loads: the number of keys that a lane loads at once before it counts or stores the first of them.  None means 8 if
    the work-group is a single lane, else 2.
    compact: whether kernel text is chosen that compiles in less time.  Counters then lie in scratch, not in local
    memory: WebGPU clears local memory, for which some compilers take time in proportion to its size.  A single lane
    sorts small counts.  All of its passes move keys between two halves of scratch, so one loop runs all passes.
    sorted_exit: as in `hsgen.algorithms.radix.reduce_scan.ReduceScan`.
    """

    STRATEGY: ClassVar[str] = "per_thread"
    single_lanes: int | None = None
    loads: int | None = None
    compact: bool = False
    stream_from: int | None = None
    sorted_exit: bool = False

    @property
    def serial(self) -> bool:
        """True, because each lane, or each subgroup, reads its own chunk key by key."""
        return True

    @property
    def folded(self) -> bool:
        """Whether a work-group is a single lane, which then sums up the table of counts itself."""
        return self.work_group == 1

    @property
    def alone(self) -> int:
        """Greatest count that one work-group sorts alone, in one launch: `single`, or 0 if that is None."""
        return self.single or 0

    @property
    def unrolled(self) -> int:
        """Number of keys that a lane loads at once (see `loads`)."""
        return self.loads or (8 if self.folded else 2)

    @property
    def counter_words(self) -> int:
        """Number of 32-bit words of scratch for the counters of a work-group; 0 unless `compact`.

        The words suffice for a pass, and for the launch of one work-group alone.
        """
        return max(counters(self), alone_shape(self).radix if self.alone else 0) if self.compact else 0

    @property
    def halves(self) -> int:
        """The greatest count for which each second buffer in scratch has room for 2 n keys or values; 0 means none."""
        return self.alone if self.compact else 0

    @property
    def line(self) -> int:
        """Number of keys in a line of 64 bytes."""
        return 64 // self.key.bytes

    @property
    def stream(self) -> int | None:
        """The least count for which keys are stored past the caches; None means never.

        None for keys with values, and for keys of less than 4 bytes.
        """
        return None if self.valued or self.key.bytes < 4 else self.stream_from


def counters(p: PerThread) -> int:
    """Return the number of counters of a work-group: one set for each lane, or two sets for a single lane.

    A single lane counts keys by turns in its two sets.  If successive keys have the same digit, an increment then need
    not wait for the previous one.
    """
    return p.radix * (2 if p.folded else p.work_group)


def alone_shape(p: PerThread) -> PerThread:
    """Return the parameters of the work-group that sorts small counts alone."""
    lanes, bits = p.single_lanes or p.work_group, p.single_bits or p.bits
    return replace(p, bits=bits, single_bits=None, work_group=lanes, single_lanes=None, single=None)


def problems(p: PerThread, device: Device) -> Iterator[Problem]:
    """Yield the problems of the parameters; none of them depends on the device."""
    if p.subgroup > 1 and p.work_group != p.subgroup:
        message = f"a subgroup that walks a chunk is a work-group, {p.work_group} lanes are not {p.subgroup}"
        yield "work_group", message, f"give {p.subgroup}, or a subgroup of 1: every lane then walks its own chunk"
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
    """Yield search regions: for work-groups of one lane, for those of several lanes, and for each subgroup width."""
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
