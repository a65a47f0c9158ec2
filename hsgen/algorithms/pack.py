"""Packing rows of up to four columns into keys, in one launch.  A sort of these keys sorts the rows.

A lane concatenates the columns of a row to one key.  A work-group packs a tile of rows.  Adjacent lanes pack adjacent
rows, so loads and stores coalesce.  On CPUs, a work-group has 32 lanes, which OpenCL runtimes run as vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.buffers import DESTINATION
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.search_space import Box, steps
from hsgen.algorithms.traits import Traits
from hsgen.core.buffers import Buffer
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.interpreter import LAYOUT_BITS
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType, Signature
from hsgen.core.plan import Binding, CallNumber, Grid, Guard, Plan, Step
from hsgen.operations.pack import BEGIN, DESCENDING, KIND, PRESENT, ROLES, SIGNATURE, WIDTH
from hsgen.operations.records import OFFSET, STRIDE

NAME, OPERATION = "pack", "pack"
TRAITS = Traits()

MAX_N = 1 << 30
"""The greatest number of rows: kernels index the words of a column by signed 32-bit integers."""

FIELDS = {
    "work_group": Field("int", "the lanes of a work-group", required=False, least=1),
    "tile": Field("int", "the rows of a work-group", required=False, least=1, greatest=1 << 20),
}

BUFFERS = tuple(
    Buffer(name=name, type="u32", read_only=True, shared=True) for name in ("source", "second", "third", "fourth")
)
"""The buffers of columns, from the most significant column to the least."""

_LANES = {"chip": 256, "memory": 32}
"""The number of lanes of a work-group, by `Device.local`: "chip" on GPUs, "memory" on CPUs.

OpenCL runtimes for CPUs run the lanes as one vector, because all lanes take the same branches.
"""
_TILE = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a pack, derived from the device unless a target table ``[pack.KEY]`` states them.

    work_group: the number of lanes of a work-group.
    tile: the number of rows that a work-group packs.
    """

    key: KeyType
    signature: Signature = SIGNATURE
    work_group: int = 256
    tile: int = _TILE


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Where the kernel finds a column, and the column's type, order, stride and offset (`hsgen.operations.records`).

    buffer: the name of the column's buffer.
    shift: the first bit of the column's type and order in the kernel's argument, `Options.columns`.
    numbers: the expression, in the kernel text, for the 32-bit number that contains the column's stride and offset.
    place: the first bit of the stride and the offset in this number.
    """

    buffer: str
    shift: int
    numbers: str
    place: int


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for keys of 4 or 8 bytes; None if such a pack is not supported.

    The only supported signature is `SIGNATURE`.  A pack requires that the target has a sort for such keys.
    """
    if signature != SIGNATURE or key.bytes < 4 or not any(label.startswith(("bitonic", "radix")) for label in p):
        return None
    return Params(key=key, work_group=1 << min(_LANES[device.local], device.work_group).bit_length() - 1)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters whose fields have the given values, by name."""
    return Params(key=key, **values)


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Check each value of a target table by itself, and yield the problems."""
    yield from device_constraints.launch(values, device)


def problems(p: Params, device: Device) -> list[Problem]:
    """Check complete parameters for a device, and return all problems."""
    return list(device_constraints.tile(p.tile, _TILE, MAX_N, device))


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return one search region: the candidates for the number of lanes, and for the rows of a tile."""
    least = 1 if device.local == "memory" else min(32, device.work_group)
    lanes = steps(least, min(1024, device.work_group))
    return ({"work_group": lanes, "tile": steps(64, 65536)},)


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the only kernel, as a tuple."""
    return (
        Kernel(
            name="pack",
            template="pack/pack:pack",
            summary="join the columns of rows",
            work_group=p.work_group,
            buffers=(*BUFFERS, DESTINATION),
            algorithm="pack",
            params=p,
        ),
    )


def context(p: Params) -> dict[str, object]:
    """Return the names that the template uses in addition to `kernel` and `p`.

    These are the columns, and the bits that encode types, orders, strides and offsets in the numbers of a call.
    """
    each = LAYOUT_BITS // (STRIDE + OFFSET)  # the number of columns whose strides and offsets fit one number
    columns = tuple(
        Column(
            buffer=buffer.name,
            shift=WIDTH * i,
            numbers=("hs_rows()", "hs_take()")[i // each],
            place=(STRIDE + OFFSET) * (i % each),
        )
        for i, buffer in enumerate(BUFFERS)
    )
    bits = {"PRESENT": PRESENT, "SIGNED": 1 << KIND, "FLOAT": 2 << KIND, "DESCENDING": DESCENDING, "BEGIN": BEGIN}
    return {"columns": columns, **bits, "STRIDE": STRIDE, "OFFSET": OFFSET}


def plan(p: Params) -> Plan:
    """Return the launch plan: one launch, with a work-group for each tile."""
    step = Step(
        kernel="pack",
        bindings=tuple(Binding(role=role) for role in (*ROLES, "destination")),
        guard=Guard(max_n=MAX_N),
        grid=Grid(add=p.tile - 1, div=p.tile),
        argument=CallNumber(),
    )
    return Plan(steps=(step,), max_n=MAX_N, bits=p.key.bits)


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that the launch reads and writes for `n` rows, if the columns fill the key."""
    return 2 * n * p.key.bytes


def block(p: Params) -> int:
    """Return the number of rows that a work-group packs; validation tests counts around multiples of it."""
    return p.tile


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return 0, 1, `greatest`, and the counts below it that fill 1, 2 or 5 work-groups."""
    return sorted(n for n in {0, 1, greatest, *(tiles * p.tile for tiles in (1, 2, 5))} if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` at which, in one step of a tile, only half of the lanes have a row.

    In a step, each lane packs one row.  There are counts for up to 16 steps of the first tile, and of the second.
    """
    ends = range(p.work_group // 2, p.tile, max(p.work_group, p.tile // 16))
    return [n for n in sorted({e + base for e in ends for base in (0, p.tile)}) if n <= greatest]


def notes(p: Params) -> list[tuple[str, str]]:
    """Return the tile as a (name, text) pair, for headers and `hsgen show`."""
    return [("tile", f"{p.tile} rows of columns")]
