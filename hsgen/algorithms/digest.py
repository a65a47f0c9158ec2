"""Digests of arrays.  A host verifies a sort by comparing the digests of the array before and after the sort.

A digest consists of 32-bit words:
- hashes of all keys, and of all keys with their values, which do not depend on the order of elements;
- the number of adjacent keys that are out of order, and that of adjacent equal keys whose values do not ascend;
- a hash of the elements at or beyond n, with their positions, because a sort must not change them.

All arithmetic is 32-bit.  The mixers are the finalizer of MurmurHash3 (A. Appleby) and "lowbias32" (C. Wellons,
hash-prospector).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.algorithms.buffers import SOURCE, word_array
from hsgen.algorithms.implicit import FIELDS as FIELDS
from hsgen.algorithms.implicit import alone as alone
from hsgen.algorithms.implicit import problems as problems
from hsgen.algorithms.implicit import space as space
from hsgen.algorithms.traits import Traits
from hsgen.core.buffers import Buffer
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.keys import PLAIN, KeyType, Signature
from hsgen.core.plan import Argument, Binding, BitRange, CallNumber, Grid, Guard, Literal, Plan, Step
from hsgen.operations.digest import SEEDS, WORDS

NAME, OPERATION = "digest", "digest"
TRAITS = Traits(bit_ranges=True)

MAX_ELEMENTS = (1 << 31) - (1 << 20)
"""The greatest number of elements, and of 32-bit words in all values together.

Indices are signed 32-bit integers.  Kernels compute indices that exceed the count by up to one element for each lane.
"""

REPORT = Buffer(name="report", type="u32")
VALUES = Buffer(name="values_in", type="u32", unit="value", read_only=True)

_LANES, _ITEMS = 256, 16
_GROUPS = {"chip": 1024, "memory": 64}
"""The greatest number of work-groups of a launch, by `Device.local`: "chip" on GPUs, "memory" on CPUs.

It is less on CPUs, because a CPU has fewer cores than a GPU, and takes longer to start a work-group.
"""
_SUMS = 6
"""The number of words of a report that are sums over elements: two hashes of two words each, and two counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a digest, which are derived from the device.

    work_group: the number of lanes of a work-group.
    items: the number of elements per lane of a tile.
    groups: the greatest number of work-groups of a launch.  If there are more tiles, a work-group digests several.
    begin: the first bit of the key in an element: 32 if a value is packed below the key, otherwise 0.
    """

    key: KeyType
    signature: Signature = PLAIN
    work_group: int = _LANES
    items: int = _ITEMS
    groups: int = 1024
    begin: int = 0

    @property
    def tile(self) -> int:
        """The number of elements of a tile: `work_group` x `items`."""
        return self.work_group * self.items

    @property
    def key_words(self) -> tuple[int, ...]:
        """For each 32-bit word of the key, the number of its lowest bit in an element."""
        return tuple(range(self.begin, self.key.bits, 32))

    @property
    def value_words(self) -> int:
        """The number of 32-bit words in a value.  Packed values and indices count as values."""
        return self.begin // 32 or self.signature.value_bytes // 4

    @property
    def reads(self) -> bool:
        """Whether values are in a separate buffer, which kernels read."""
        return self.signature.value_bytes > 0 and not self.signature.index

    @property
    def part(self) -> bool:
        """Whether comparisons of keys take only the bits of the range in the kernel's argument."""
        return self.signature.bit_range or self.begin > 0

    @property
    def max_n(self) -> int:
        """The greatest number of elements."""
        return MAX_ELEMENTS // max(1, self.value_words if self.reads else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashed:
    """The part of a kernel's template that depends on the kind of values (`hsgen.core.kernels.VARIANT`).

    values: the name of a set of macros.  There are four sets: for values in a buffer, for values packed below the keys,
    for indices as values, and for keys without values.
    """

    values: str


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature; None if such a digest is not supported.

    A digest requires that the target has a sort for such keys.  The count must not be in device memory.
    """
    if not any(label.startswith(("bitonic", "radix")) for label in p) or signature.device_count:
        return None
    if key.bytes < 4 and not (device.storage8 if key.bytes == 1 else device.storage16):
        return None
    return Params(
        key=key,
        signature=signature,
        work_group=1 << min(_LANES, device.work_group).bit_length() - 1,
        groups=min(_GROUPS[device.local], device.groups),
        begin=key.bits // 2 if signature.value == "packed" else 0,
    )


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters whose fields have the given values, by name."""
    return Params(key=key, **values)


def _kernel(p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], sums: int = 0) -> Kernel:
    """Return a kernel of a digest.

    sums: the number of 32-bit sums that a work-group keeps in local memory.
    """
    where = "indices" if p.signature.index else "buffered" if p.reads else "packed" if p.begin else "no_values"
    return Kernel(
        name=name,
        template=f"digest/digest:{name}",
        summary=summary,
        work_group=p.work_group,
        buffers=buffers,
        arrays=(word_array("sums", sums),) if sums else (),
        algorithm="digest",
        params=p,
        data=Hashed(values=f"digest/digest.j2:{where}"),
    )


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return every kernel, in the order of their launches.

    `blank` clears the report.  `digest` hashes the n elements, and counts adjacent elements out of order.  `beyond`
    hashes the elements at or beyond n.
    """
    reads = (SOURCE, *([VALUES] if p.reads else []), REPORT)
    return (
        _kernel(p, "blank", "clear the report", (REPORT,)),
        _kernel(p, "digest", "hash elements regardless of order, count those out of order", reads, _SUMS),
        _kernel(p, "beyond", "hash the elements beyond n with their positions", reads, 1),
    )


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {"sums": _SUMS, "report_words": WORDS, "seeds": SEEDS}


_BOUND = {
    "source": Binding(role="source"),
    "values_in": Binding(role="values"),
    "report": Binding(role="report"),
}
_ARGUMENTS: dict[str, Argument] = {"blank": Literal(), "digest": BitRange(), "beyond": CallNumber()}


def plan(p: Params) -> Plan:
    """Return the launch plan.

    For n = 0, the kernels `blank` and `beyond` write the report.  After n, the call passes the number of all elements
    of the array, `Options.capacity`.  The grid of the kernel `beyond` depends on this number.
    """
    steps = (
        Step(
            kernel=k.name,
            bindings=tuple(_BOUND[b.name] for b in k.buffers),
            guard=Guard(max_n=p.max_n, at_zero=k.name != "digest"),
            grid=_grid(p, k.name),
            argument=_ARGUMENTS[k.name],
        )
        for k in kernels(p)
    )
    return Plan(steps=tuple(steps), max_n=p.max_n, first_bit=p.begin, bits=p.key.bits - p.begin)


def _grid(p: Params, kernel: str) -> Grid:
    """Return the grid of the launch of a kernel."""
    if kernel == "blank":
        return Grid(add=1, cap=1)  # one work-group, also for n = 0
    return Grid(x="number" if kernel == "beyond" else "n", add=p.tile - 1, div=p.tile, cap=p.groups)


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that a launch reads for `n` elements, without those beyond n.

    A lane also reads the element after its own.  Caches serve these reads, so they are not counted.
    """
    values = p.signature.value_bytes if p.reads else 0
    return n * (p.key.bytes + values) if step.kernel == "digest" else 0


def block(p: Params) -> int:
    """Return the number of elements in a tile; validation tests counts around multiples of it."""
    return p.tile


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` that fill 0 to 4 tiles, or that need the greatest number of work-groups."""
    counts = {0, 1, greatest, *range(0, min(4 * p.tile, greatest) + 1, p.tile), p.groups * p.tile}
    return sorted(n for n in counts if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` at which, in one step of the first tile, only half of the lanes have an element.

    In a step, each lane digests one element.  There is a count for each of the `items` steps.
    """
    return [n for n in range(p.work_group // 2, p.tile, p.work_group) if n <= greatest]


def notes(p: Params) -> list[tuple[str, str]]:
    """Return the tile as a (name, text) pair, for headers and `hsgen show`."""
    return [("elements", f"at most {p.groups} work-groups of {p.work_group} lanes, {p.tile} at a time")]
