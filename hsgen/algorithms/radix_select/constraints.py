"""Constraints of the parameters of a selection, with each other and with the facts of the device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix_select.params import MAX_N, Params
from hsgen.core.device import Device

MOST_INDEX = (1 << 31) - 1  # kernels index the words of scratch by signed 32-bit integers
TILE = (1 << 16) - 1  # the most keys of a tile: a word holds its number of keys below the k-th and of keys equal to it


HELD = 32  # the most keys that a lane holds in registers in a sort by bins


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield the problems of values of a target table that are invalid whatever the other values are."""
    yield from device_constraints.launch(values, device)
    yield from device_constraints.grid(values, device)
    yield from device_constraints.powers(values, "work_group", "capacity", "small", "middle", "chunk.lanes")


def problems(p: Params, device: Device) -> list[Problem]:
    """Check complete parameters for a device, and return all problems."""
    faults = []
    if 2 * p.work_group > p.capacity:
        problem = f"{p.work_group} lanes exceed half of the {p.capacity} keys that a work-group sorts"
        faults.append(("work_group", problem, "give fewer lanes, or a larger capacity"))
    if p.bin_sort and p.capacity > HELD * p.work_group:
        problem = f"{p.work_group} lanes would hold {p.capacity // p.work_group} keys each in registers"
        faults.append(("bin_sort", problem, f"give false, or at least {p.capacity // HELD} lanes"))
    if p.bin_sort and p.ranges * p.work_group > p.capacity:
        problem = f"{p.work_group} lanes have more ranges of keys than the {p.capacity} keys that a work-group sorts"
        faults.append(("bin_sort", problem, f"give false, or at most {p.capacity // p.ranges} lanes"))
    if p.small >= p.middle:
        problem = f"small rows of up to {p.small} keys leave none of middle length, up to {p.middle}"
        faults.append(("small", problem, f"give less than {p.middle}"))
    if p.tile > TILE:
        problem = f"a tile of {p.work_group} lanes x {p.items} has more than {TILE} keys"
        faults.append(("items", problem, f"give at most {TILE // p.work_group}"))
    if p.row_limit < p.capacity:
        problem = f"rows of {p.row_limit} keys are shorter than the {p.capacity} keys that a work-group sorts"
        faults.append(("row_limit", problem, f"give at least {p.capacity}"))
    elif MAX_N // p.row_limit * (p.row_words + 2 * p.row_tiles) > MOST_INDEX:
        problem = f"scratch for rows of {p.row_limit} keys has more words than 32-bit indices reach"
        faults.append(("row_limit", problem, "give longer rows, larger tiles, a smaller capacity or fewer bits"))
    faults += _bounds(p, device)
    if p.local_bytes() > device.local_bytes:
        problem = f"selections need {p.local_bytes()} bytes of local memory, the device has {device.local_bytes}"
        faults.append(("capacity", problem, "give a smaller capacity, or fewer bits or lanes"))
    return faults


def _bounds(p: Params, device: Device) -> Iterator[Problem]:
    """Yield the problems of `p.short` and `p.chunk`, the sizes of selections by a bound."""
    short, chunk = p.short, p.chunk
    if short.rows > 1 and short.subgroup == 1:
        yield "short.rows", "without subgroups, a work-group has one row", "give 1"
    elif short.rows * short.lanes > device.work_group:
        problem = f"{short.rows} rows of {short.lanes} lanes exceed the work-group limit of {device.work_group}"
        yield "short.rows", problem, f"give at most {device.work_group // short.lanes}"
    if chunk.lanes > device.work_group:
        problem = f"{chunk.lanes} lanes exceed the work-group limit of {device.work_group}"
        yield "chunk.lanes", problem, f"give at most {device.work_group}"
    if chunk.take > max(chunk.lanes // 2, 1):
        problem = f"candidates of {chunk.take} keys may never become few: more than half of {chunk.lanes} lanes"
        yield "chunk.take", problem, f"give at most {max(chunk.lanes // 2, 1)}"
    if chunk.length < short.length:
        problem = f"chunks of {chunk.length} keys are shorter than short rows of {short.length}"
        yield "chunk.items", problem, f"give at least {-(-short.length // chunk.lanes)}"
