"""Where the sorted keys change: steps behind any sort that write the beginnings of runs of equal keys.

The count of runs goes to word 0 of the report, their ascending beginnings behind it.  The sorted keys are read once
more: work-groups mark the beginnings in a bitmap, which lies in scratch where the sort had its keys, and count them;
once the counts are scanned, the bitmap tells what to note.  That keys have types or orders does not matter here: two
keys differ above a bit of their ordered bits if and only if they differ above it in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.radix.parts import sums
from hsgen.core.buffers import Array, Buffer
from hsgen.core.device import Device
from hsgen.core.errors import Usage
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType, Signature
from hsgen.core.plan import Binding, CallNumber, Grid, Guard, Literal, Plan, Scratch, Step
from hsgen.core.sort import Part

KEYS = Buffer(name="keys", read_only=True)
REPORT, WORDS = Buffer(name="report", type="u32"), Buffer(name="words", type="u32")
BITMAP = Buffer(name="bitmap", type="u32")
NAMES = ("changes_single", "changes_count", "changes_spine", "changes_place")
"""The kernels: the first for counts of a tile or less, the others behind one another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How keys are dealt to lanes.

    work_group, items: lanes, a power of two, and the keys of a lane, 32 unless it is alone; their product is the tile.
    groups: the most work-groups, each of which takes several tiles.  A lane alone (work_group 1) walks through its
    keys.  begin: the first bit of the key.
    """

    key: KeyType
    work_group: int
    items: int
    groups: int
    begin: int = 0

    @property
    def tile(self) -> int:
        """Keys that a work-group handles at once; of a lane alone, the least that it walks through."""
        return self.work_group * self.items

    @property
    def serial(self) -> bool:
        """Whether lanes walk alone."""
        return self.work_group == 1

    @property
    def room(self) -> int:
        """The bytes of scratch that the counts of work-groups take."""
        return -(-4 * (self.groups + 1) // 1024) * 1024

    @property
    def bindings(self) -> dict[str, Binding]:
        """Where the buffers of the kernels lie.  The bitmap overlays what the sort has behind `room`."""
        return {
            "keys": Binding(role="destination"),
            "report": Binding(role="report"),
            "words": Binding(role="scratch"),
            "bitmap": Binding(role="scratch", plus=self.room),
        }


def shape(key: KeyType, signature: Signature, device: Device) -> Shape:
    """Return how keys are dealt to lanes on a device: to a few lanes alone on a CPU, which keeps local memory in memory
    and has no registers to share among lanes."""
    begin = key.bits // 2 if signature.value == "packed" else 0
    if (device.local == "memory" and not device.registers) or device.work_group < 32:
        return Shape(key=key, work_group=1, items=4096, groups=8, begin=begin)
    lanes = 1 << min(256, device.work_group).bit_length() - 1
    return Shape(key=key, work_group=lanes, items=32, groups=512, begin=begin)


def fit(signature: Signature, other: str) -> None:
    """Refuse what tells of no changes: `other`, the name of what is no sort, if it is none, and counts on the device.

    Raises:
        Usage: such a form tells of changes.
    """
    if signature.run_boundaries and (signature.device_count or other):
        what = "a count on the device" if signature.device_count else other
        raise Usage(f"feature changes: does not go with {what}; leave out one of them")


def appended(
    kernels: tuple[Kernel, ...], plan: Plan, parts: tuple[Part, ...], made: Shape
) -> tuple[tuple[Kernel, ...], Plan]:
    """Return the kernels and the plan of a sort with those that look at what it sorted behind them.

    The counts of work-groups lie at the begin of scratch, and what the sort keeps there behind them.  Of that nothing
    but its outcome is needed any more: a sort that has a byte a key or more there lends it to the bitmap, whose bit a
    key is less.  Others get a bitmap of their own.
    """
    own = _kernels(parts, made)
    steps = tuple(replace(s, bindings=tuple(b.after(made.room) for b in s.bindings)) for s in plan.steps)
    rule = plan.scratch if plan.scratch != Scratch() else Scratch(min_n=made.tile)
    if not rule.per_n:
        rule = replace(rule, unit=made.tile, per_unit=made.tile // 8, units=-(-plan.max_n // made.tile))
    return (*kernels, *own), replace(
        plan,
        steps=(*steps, *(_step(k, made, plan.max_n) for k in own)),
        scratch=replace(rule, plus=rule.plus + made.room, min_n=min(rule.min_n, made.tile)),
        device_status=plan.device_status
        and replace(plan.device_status, binding=plan.device_status.binding.after(made.room)),
    )


def _kernels(parts: tuple[Part, ...], made: Shape) -> tuple[Kernel, ...]:
    """The kernels; they count as ones of the first algorithm, whose words are there anyway."""
    found = []
    for name, summary, buffers in (
        (NAMES[0], f"find the runs of up to {made.tile} keys", (KEYS, REPORT)),
        (NAMES[1], "mark and count the runs that begin in the keys of a work-group", (KEYS, BITMAP, WORDS)),
        (NAMES[2], "turn the counts of work-groups into what precedes each", (WORDS, REPORT)),
        (NAMES[3], "note where runs begin", (BITMAP, WORDS, REPORT)),
    ):
        found.append(
            Kernel(
                name=name,
                template=f"stages/run_boundaries/{'serial_' if made.serial and name != NAMES[2] else ''}{name.split('_')[1]}",
                summary=summary,
                work_group=made.work_group,
                buffers=buffers,
                arrays=_arrays(name, made),
                algorithm=parts[0].algorithm,
                params=parts[0].params,
                data=made,
                marks=made.serial and name in (NAMES[1], NAMES[3]),
            )
        )
    return tuple(found)


def _arrays(name: str, made: Shape) -> tuple[Array, ...]:
    """The local memory of a kernel: of a lane alone the places of the bits of each byte, of others sums and bitmaps."""
    if made.serial:
        return (Array(name="table", type="u32", count=256),) if name == NAMES[3] else ()
    lanes = made.work_group
    if name == NAMES[2]:
        return sums(lanes)
    counts = {"sums": lanes, "marks": lanes, "firsts": lanes + 1}
    return tuple(Array(name=array, type="u32", count=count) for array, count in counts.items())


def _step(kernel: Kernel, made: Shape, max_n: int) -> Step:
    """The row of a kernel.  What tells how many runs there are tells it of no key as well."""
    few, one = kernel.name == NAMES[0], kernel.name in (NAMES[0], NAMES[2])
    return Step(
        kernel=kernel.name,
        bindings=tuple(made.bindings[b.name] for b in kernel.buffers),
        guard=Guard(max_n=min(made.tile, max_n), at_zero=True) if few else Guard(min_n=made.tile, max_n=max_n),
        grid=Grid(add=1, cap=1) if one else Grid(add=made.tile - 1, div=made.tile, cap=made.groups),
        argument=Literal() if kernel.name == NAMES[2] else CallNumber(),
    )


def moved(made: Shape, step: Step, n: int) -> int:
    """Return the bytes that a launch for `n` keys reads and writes where no two keys are alike."""
    keys, places, bits = n * made.key.bytes, 4 * (n + 1), -(-n // made.tile) * made.tile // 8
    words = 4 * made.groups
    return dict(zip(NAMES, (keys + places, keys + bits + words, 2 * words, bits + words + places), strict=True))[
        step.kernel
    ]
