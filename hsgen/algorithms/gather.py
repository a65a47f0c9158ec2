"""Gathering: result i is item index[i] of an array of items, the *table*, for n indices, in one launch.

An item consists of one or more adjacent values.  A work-group moves the items for a tile of indices.  On GPUs, adjacent
lanes move adjacent values of the result, so their stores coalesce.  Loads of the values of one item coalesce too.  On
CPUs, a work-group is one lane, which moves one item after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.buffers import SOURCE, VALUES_IN, VALUES_OUT
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.search_space import Box, steps
from hsgen.algorithms.traits import Traits
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.kernels import Kernel
from hsgen.core.keys import PLAIN, KeyType, Signature
from hsgen.core.plan import Binding, Grid, Guard, Plan, Step

NAME, OPERATION = "gather", "gather"
TRAITS = Traits()

MAX_N = 1 << 30
"""The greatest number of indices: kernels count in signed 32-bit integers, and the last tile may extend beyond n."""

FIELDS = {
    "work_group": Field("int", "the lanes of a work-group", required=False, least=1),
    "tile": Field("int", "the items of a work-group", required=False, least=1, greatest=1 << 20),
    "batch": Field("int", "the values that a lane loads before it stores them", required=False, least=1, greatest=16),
}

_LANES = {"chip": 256, "memory": 1}
"""The number of lanes of a work-group, by `Device.local`.  On a CPU ("memory"), one lane moves item after item."""
_ITEMS = {"chip": 512, "memory": 1024}
"""The number of items of a tile, by `Device.local`: "chip" on GPUs, "memory" on CPUs."""
_WIDTHS = (2, 3, 5, 16)
"""The numbers of values per item for which `test_counts` returns counts.

A count that it returns is a number of values.  A validation divides it by the values per item to get a number of items.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a gather, derived from the device unless a target table ``[gather.KEY]`` states them.

    work_group: the number of lanes of a work-group.
    tile: the number of items that a work-group moves.
    batch: the number of values that a lane loads before it stores the first of them.
    whole_items: whether each lane moves whole items, not single values.
    """

    key: KeyType
    signature: Signature = PLAIN
    work_group: int = 256
    tile: int = 512
    batch: int = 4
    whole_items: bool = False


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a signature with values; None if such a gather is not supported.

    key: the width of indices; only 32 bits are supported.  A gather requires that the target has a sort for such keys.
    """
    if not any(label.startswith(("bitonic", "radix")) for label in p):
        return None
    valued = replace(PLAIN, value=signature.value, rows=True)
    if key.bytes != 4 or signature != valued or not signature.value_bytes or signature.index:
        return None
    return Params(
        key=key,
        signature=signature,
        work_group=1 << min(_LANES[device.local], device.work_group).bit_length() - 1,
        tile=_ITEMS[device.local],
        whole_items=device.local == "memory",
    )


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters whose fields have the given values, by name."""
    return Params(key=key, **values)


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Check each value of a target table by itself, and yield the problems."""
    yield from device_constraints.launch(values, device)
    if "batch" in values and device.local == "memory":
        problem = 'lanes move whole items where local memory is ordinary memory (device.local = "memory")'
        yield "batch", problem, "leave it out"


def problems(p: Params, device: Device) -> list[Problem]:
    """Check complete parameters for a device, and return all problems."""
    return list(device_constraints.tile(p.tile, _ITEMS[device.local], MAX_N, device))


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return one search region: on GPUs for lanes that move single values, on CPUs for lanes that move whole items."""
    if device.local == "memory":
        return ({"work_group": steps(1, min(256, device.work_group)), "tile": steps(64, 65536)},)
    box = {
        "work_group": steps(min(32, device.work_group), min(1024, device.work_group)),
        "tile": steps(64, 8192, thirds=True),
        "batch": (1, 2, 3, 4, 6, 8),
    }
    return (box,)


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the only kernel, as a tuple."""
    return (
        Kernel(
            name="gather",
            template="gather/gather:by_items" if p.whole_items else "gather/gather:by_values",
            summary="move the items of a table by index",
            work_group=p.work_group,
            buffers=(SOURCE, VALUES_IN, VALUES_OUT),
            algorithm="gather",
            params=p,
        ),
    )


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`: none."""
    return {}


def plan(p: Params) -> Plan:
    """Return the launch plan: one launch, with a work-group for each tile."""
    step = Step(
        kernel="gather",
        bindings=(Binding(role="source"), Binding(role="values"), Binding(role="values_out")),
        guard=Guard(max_n=MAX_N),
        grid=Grid(add=p.tile - 1, div=p.tile),
    )
    return Plan(steps=(step,), max_n=MAX_N, bits=p.key.bits)


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that the launch reads and writes for `n` indices, if an item is one value."""
    return n * (p.key.bytes + 2 * p.signature.value_bytes)


def block(p: Params) -> int:
    """Return the number of items that a work-group moves; validation tests counts around multiples of it."""
    return p.tile


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` that fill 1, 2 or 5 work-groups, for items of 1 value or `_WIDTHS` values."""
    counts = {0, 1, greatest, *(tiles * p.tile * width for tiles in (1, 2, 5) for width in (1, *_WIDTHS))}
    return sorted(n for n in counts if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` at which, in one step of a tile, only half of the lanes have a value to move.

    In a step, each lane moves one value.  There is a count for each step of the first tile, and of the second.
    """
    if p.whole_items:
        return []
    ends = (batch * p.work_group + p.work_group // 2 for batch in range(p.tile // p.work_group))
    return [n for n in sorted({e + base for e in ends for base in (0, p.tile)}) if n <= greatest]


def notes(p: Params) -> list[tuple[str, str]]:
    """Return the tile as a (name, text) pair, for headers and `hsgen show`."""
    lanes = "" if p.whole_items else f", whose values {p.work_group} lanes move together"
    return [("tile", f"{p.tile} items{lanes}")]
