"""Run boundaries: steps after any sort that report where runs of equal keys start.

Word 0 of the report is the number of runs; the indices of their first keys follow in ascending order.  The sorted keys
are read once: work-groups mark run boundaries in a bitmap, which reuses the scratch of the sort, and count them; after
a scan of the counts, the bitmap is converted to indices.  Key types and orders do not matter: two keys differ above a
bit after the key transform if and only if they differ above it in memory.
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
from hsgen.core.scratch import Scratch, ScratchRule
from hsgen.core.sort import Part

KEYS = Buffer(name="keys", read_only=True)
REPORT, WORDS = Buffer(name="report", type="u32"), Buffer(name="words", type="u32")
BITMAP = Buffer(name="bitmap", type="u32")
NAMES = ("boundaries_single", "boundaries_count", "boundaries_spine", "boundaries_place")
"""The kernels: the first for counts up to a tile, the others in sequence for larger ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The distribution of keys.

    work_group, items: lanes, a power of two, and keys per lane, 32 unless lanes are sequential; their product is the
    tile.  groups: the most work-groups, each with several tiles.  A sequential lane (work_group 1) iterates over its
    keys.  begin: the first bit of the key.
    """

    key: KeyType
    work_group: int
    items: int
    groups: int
    begin: int = 0

    @property
    def tile(self) -> int:
        """The keys that a work-group handles at once; for sequential lanes, the least keys of a lane."""
        return self.work_group * self.items

    @property
    def serial(self) -> bool:
        """Whether lanes are sequential."""
        return self.work_group == 1

    @property
    def room(self) -> int:
        """The scratch size of the counts of work-groups, in bytes."""
        return -(-4 * (self.groups + 1) // 1024) * 1024

    @property
    def bindings(self) -> dict[str, Binding]:
        """The bindings of the kernels' buffers.  The bitmap overlays the scratch of the sort, after `room`."""
        return {
            "keys": Binding(role="destination"),
            "report": Binding(role="report"),
            "words": Binding(role="scratch"),
            "bitmap": Binding(role="scratch", plus=self.room),
        }


def shape(key: KeyType, signature: Signature, device: Device) -> Shape:
    """Return the distribution of keys on a device: to a few sequential lanes on a CPU, where local memory is
    ordinary memory and lanes share no registers."""
    begin = key.bits // 2 if signature.value == "packed" else 0
    if (device.local == "memory" and not device.registers) or device.work_group < 32:
        return Shape(key=key, work_group=1, items=4096, groups=8, begin=begin)
    lanes = 1 << min(256, device.work_group).bit_length() - 1
    return Shape(key=key, work_group=lanes, items=32, groups=512, begin=begin)


def fit(signature: Signature, other: str) -> None:
    """Refuse run boundaries for an operation `other` than sort ("" for sort), or with a device-side count.

    Raises:
        Usage: the signature has run boundaries that are not supported.
    """
    if signature.run_boundaries and (signature.device_count or other):
        what = "a device-side count" if signature.device_count else other
        raise Usage(f"feature run-boundaries: cannot be combined with {what}; omit one of them")


def appended(
    kernels: tuple[Kernel, ...], plan: Plan, parts: tuple[Part, ...], made: Shape
) -> tuple[tuple[Kernel, ...], Plan]:
    """Return the kernels and the plan of a sort, followed by those that find run boundaries.

    The counts of work-groups are at the start of scratch, and the scratch of the sort follows them.  Of the latter only
    the status is still needed, which follows at least a byte per key: the bitmap, which takes a bit per key, reuses it.
    """
    rows = [(k, _step(k, made, plan.max_n)) for k in _kernels(parts, made)]
    rows = [(kernel, step) for kernel, step in rows if not step.guard.empty]
    moved = plan.after(made.room)
    bitmap = ScratchRule(
        min_n=made.tile,
        max_n=plan.max_n,
        plus=made.room,
        unit=made.tile,
        per_unit=made.tile // 8,
        units=-(-plan.max_n // made.tile),
    )
    bitmaps = (bitmap,) if bitmap.min_n < bitmap.max_n else ()
    return (*kernels, *(kernel for kernel, _ in rows)), replace(
        moved,
        steps=(*moved.steps, *(step for _, step in rows)),
        scratch=Scratch((*moved.scratch.rules, *bitmaps)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of the stage in scratch."""

    run_counts: Region


def words() -> Words:
    """Return the layout of the words."""
    return Words(
        **placed([("run_counts", 0, "the runs that start in the keys of each work-group, then their prefixes")])
    )


def _kernels(parts: tuple[Part, ...], made: Shape) -> tuple[Kernel, ...]:
    """The kernels, which belong to the first algorithm, whose words are defined in any case."""
    rows = (
        (NAMES[0], f"find the runs of up to {made.tile} keys", (KEYS, REPORT)),
        (NAMES[1], "mark and count the run boundaries in the keys of a work-group", (KEYS, BITMAP, WORDS)),
        (NAMES[2], "scan the counts of work-groups", (WORDS, REPORT)),
        (NAMES[3], "store the indices of run boundaries", (BITMAP, WORDS, REPORT)),
    )
    return tuple(
        Kernel(
            name=name,
            template=f"stages/run_boundaries:{'serial_' if made.serial else ''}{name.split('_')[1]}",
            summary=summary,
            work_group=made.work_group,
            buffers=buffers,
            arrays=_arrays(name, made),
            algorithm=parts[0].algorithm,
            params=parts[0].params,
            data=made,
            scratch=words(),
            marks=made.serial and name in (NAMES[1], NAMES[3]),
        )
        for name, summary, buffers in rows
    )


def _arrays(name: str, made: Shape) -> tuple[Array, ...]:
    """The local memory of a kernel: for sequential lanes a table of the bits of each byte, else sums and bitmaps."""
    if made.serial:
        return (Array(name="table", type="u32", count=256),) if name == NAMES[3] else ()
    lanes = made.work_group
    if name == NAMES[2]:
        return sums(lanes)
    counts = {"sums": lanes, "marks": lanes, "runs_before": lanes + 1}
    return tuple(Array(name=array, type="u32", count=count) for array, count in counts.items())


def _step(kernel: Kernel, made: Shape, max_n: int) -> Step:
    """The row of a kernel.  The kernel for counts up to a tile also runs for n = 0, to report 0 runs."""
    few, one = kernel.name == NAMES[0], kernel.name in (NAMES[0], NAMES[2])
    return Step(
        kernel=kernel.name,
        bindings=tuple(made.bindings[b.name] for b in kernel.buffers),
        guard=Guard(max_n=min(made.tile, max_n), at_zero=True) if few else Guard(min_n=made.tile, max_n=max_n),
        grid=Grid(add=1, cap=1) if one else Grid(add=made.tile - 1, div=made.tile, cap=made.groups),
        argument=Literal() if kernel.name == NAMES[2] else CallNumber(),
    )


def moved(made: Shape, step: Step, n: int) -> int:
    """Return the memory traffic of a launch for `n` keys, in bytes, if all keys are distinct."""
    keys, places, bits = n * made.key.bytes, 4 * (n + 1), -(-n // made.tile) * made.tile // 8
    words = 4 * made.groups
    return dict(zip(NAMES, (keys + places, keys + bits + words, 2 * words, bits + words + places), strict=True))[
        step.kernel
    ]
