"""Run boundaries: launches after a sort that report where runs of equal keys start.

The launches write a *report* of 32-bit words.  Word 0 is the number of runs.  The indices of the runs' first keys
follow in ascending order.  The launches read the sorted keys once.  For up to a tile of keys, a single kernel stores
the report.  For more keys, a first kernel marks the run boundaries in a bitmap with one bit per key.  The kernel also
counts the boundaries that each work-group finds.  A second kernel scans these counts.  A third kernel converts the
bitmap to indices.  The bitmap reuses scratch that the sort no longer needs.

Two adjacent keys belong to the same run if they differ only in bits below bit `shift`.  Keys of all types and orders
are compared without the key transform.  The transform does not change whether two keys differ in bit `shift` or above.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.radix.parts import sums
from hsgen.core.buffers import Array, Buffer
from hsgen.core.device import Device
from hsgen.core.errors import Usage
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType, Signature
from hsgen.core.plan import Binding, CallNumber, Grid, Guard, Literal, Plan, Step
from hsgen.core.regions import Region, placed
from hsgen.core.scratch import Scratch, ScratchRule, aligned
from hsgen.core.sort import Part

KEYS = Buffer(name="keys", read_only=True)
REPORT, WORDS = Buffer(name="report", type="u32"), Buffer(name="words", type="u32")
BITMAP = Buffer(name="bitmap", type="u32")
NAMES = ("boundaries_single", "boundaries_count", "boundaries_spine", "boundaries_place")
"""The names of the kernels.  The first kernel alone serves up to a tile of keys; the other three serve more keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The parameters of the kernels: how they distribute the sorted keys over work-groups.

    work_group: the number of lanes in a work-group, a power of two.  If it is 1, the lane iterates over its keys.
    items: the number of keys of a tile that each lane processes; 32 if a work-group has more than one lane.
    groups: the greatest number of work-groups.  Each work-group processes several tiles.
    begin: the first bit of the key in an element: 32 if a value is packed below the key, otherwise 0.
    """

    key: KeyType
    work_group: int
    items: int
    groups: int
    begin: int = 0

    @property
    def tile(self) -> int:
        """The number of keys that a work-group processes at once.

        A work-group processes consecutive tiles, all of them whole except the last tile of the array.
        """
        return self.work_group * self.items

    @property
    def serial(self) -> bool:
        """Whether work-groups have a single lane."""
        return self.work_group == 1

    @property
    def room(self) -> int:
        """The size in bytes of the scratch for one count per work-group, a multiple of 1024."""
        return aligned(4 * (self.groups + 1))

    @property
    def bindings(self) -> dict[str, Binding]:
        """The bindings of the kernels' buffers by name.

        Scratch begins with `room` bytes for the counts.  The bitmap starts after them, as does the sort's own scratch.
        """
        return {
            "keys": Binding(role="destination"),
            "report": Binding(role="report"),
            "words": Binding(role="scratch"),
            "bitmap": Binding(role="scratch", plus=self.room),
        }


def shape(key: KeyType, signature: Signature, device: Device) -> Shape:
    """Return the parameters of the kernels.

    On CPUs, and on devices whose work-groups have fewer than 32 lanes, there are at most 8 work-groups of one lane.
    A CPU is recognized by local memory in ordinary memory and an unknown number of registers.
    """
    begin = key.bits // 2 if signature.value == "packed" else 0
    if (device.local == "memory" and not device.registers) or device.work_group < 32:
        return Shape(key=key, work_group=1, items=4096, groups=8, begin=begin)
    lanes = 1 << min(256, device.work_group).bit_length() - 1
    return Shape(key=key, work_group=lanes, items=32, groups=512, begin=begin)


def fit(signature: Signature, operation: str) -> None:
    """Check that the operation supports run boundaries, if the signature has this feature.

    operation: "" for a sort, otherwise the name of the operation.

    Raises:
        Usage: run boundaries are for an operation other than sort, or are combined with a device-side count.
    """
    if signature.run_boundaries and (signature.device_count or operation):
        conflict = "a device-side count" if signature.device_count else operation
        raise Usage(f"feature run-boundaries: cannot be combined with {conflict}; omit one of them")


def appended(
    kernels: tuple[Kernel, ...], plan: Plan, parts: tuple[Part, ...], tiling: Shape
) -> tuple[tuple[Kernel, ...], Plan]:
    """Append the launches for run boundaries to a sort; return the kernels and the plan of both.

    Scratch begins with the counts of work-groups; the scratch of the sort follows.  The bitmap, one bit per key,
    overwrites the start of the sort's scratch.  It does not reach the sort's status words (`DeviceStatus`), which
    callers read later, because at least one byte per key precedes these words.
    """
    rows = [(k, _step(k, tiling, plan.max_n)) for k in _kernels(parts, tiling)]
    rows = [(kernel, step) for kernel, step in rows if not step.guard.empty]
    moved = plan.after(tiling.room)
    bitmap = ScratchRule(
        min_n=tiling.tile,
        max_n=plan.max_n,
        plus=tiling.room,
        unit=tiling.tile,
        per_unit=tiling.tile // 8,
        units=-(-plan.max_n // tiling.tile),
    )
    bitmaps = (bitmap,) if bitmap.min_n < bitmap.max_n else ()
    return (*kernels, *(kernel for kernel, _ in rows)), replace(
        moved,
        steps=(*moved.steps, *(step for _, step in rows)),
        scratch=Scratch((*moved.scratch.rules, *bitmaps)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The regions of scratch for run boundaries."""

    run_counts: Region


def words() -> Words:
    """Return the regions of scratch for run boundaries."""
    return Words(
        **placed([("run_counts", 0, "the runs that start in the keys of each work-group, then their prefixes")])
    )


def _kernels(parts: tuple[Part, ...], tiling: Shape) -> tuple[Kernel, ...]:
    """Return the kernels, in the order of `NAMES`.

    `Kernel.algorithm` and `Kernel.params` are those of the sort's first algorithm, because the kernels' templates use
    names that this algorithm's templates define.
    """
    rows = (
        (NAMES[0], f"find the runs of up to {tiling.tile} keys", (KEYS, REPORT)),
        (NAMES[1], "mark and count the run boundaries in the keys of a work-group", (KEYS, BITMAP, WORDS)),
        (NAMES[2], "scan the counts of work-groups", (WORDS, REPORT)),
        (NAMES[3], "store the indices of run boundaries", (BITMAP, WORDS, REPORT)),
    )
    return tuple(
        Kernel(
            name=name,
            template=f"stages/run_boundaries:{'serial_' if tiling.serial else ''}{name.split('_')[1]}",
            summary=summary,
            work_group=tiling.work_group,
            buffers=buffers,
            arrays=_arrays(name, tiling),
            algorithm=parts[0].algorithm,
            params=parts[0].params,
            data=tiling,
            scratch=words(),
            marks=tiling.serial and name in (NAMES[1], NAMES[3]),
        )
        for name, summary, buffers in rows
    )


def _arrays(name: str, tiling: Shape) -> tuple[Array, ...]:
    """Return the local arrays of a kernel.

    If work-groups have a single lane, the last kernel looks up the set bits of a byte in the array `table`.
    """
    if tiling.serial:
        return (Array(name="table", type="u32", count=256),) if name == NAMES[3] else ()
    lanes = tiling.work_group
    if name == NAMES[2]:
        return sums(lanes)
    counts = {"sums": lanes, "marks": lanes, "runs_before": lanes + 1}
    return tuple(Array(name=array, type="u32", count=count) for array, count in counts.items())


def _step(kernel: Kernel, tiling: Shape, max_n: int) -> Step:
    """Return the step that launches a kernel.

    The kernel for up to a tile of keys also runs for n = 0, to report 0 runs.
    """
    few, one = kernel.name == NAMES[0], kernel.name in (NAMES[0], NAMES[2])
    return Step(
        kernel=kernel.name,
        bindings=tuple(tiling.bindings[b.name] for b in kernel.buffers),
        guard=Guard(max_n=min(tiling.tile, max_n), at_zero=True) if few else Guard(min_n=tiling.tile, max_n=max_n),
        grid=Grid(add=1, cap=1) if one else Grid(add=tiling.tile - 1, div=tiling.tile, cap=tiling.groups),
        argument=Literal() if kernel.name == NAMES[2] else CallNumber(),
    )


def moved(tiling: Shape, step: Step, n: int) -> int:
    """Return the bytes that a launch reads and writes for `n` keys, if all keys differ, so that there are n runs."""
    keys, places, bits = n * tiling.key.bytes, 4 * (n + 1), -(-n // tiling.tile) * tiling.tile // 8
    words = 4 * tiling.groups
    return dict(zip(NAMES, (keys + places, keys + bits + words, 2 * words, bits + words + places), strict=True))[
        step.kernel
    ]
