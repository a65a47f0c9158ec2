"""Constraints of selections: parameters against the device's facts and each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix_select.params import MAX_N, Params
from hsgen.core.device import Device

MOST_INDEX = (1 << 31) - 1  # words of scratch have signed 32-bit indices
TILE = (1 << 16) - 1  # keys of a tile at most: a lane's counts of lesser and of equal keys share a word


HELD = 32  # keys of a lane in registers at most, if they are sorted by places


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield the problems of single values, independent of the others."""
    yield from device_constraints.launch(values, device)
    yield from device_constraints.grid(values, device)
    yield from device_constraints.powers(values, "work_group", "capacity")


def problems(p: Params, device: Device) -> list[Problem]:
    """Return all problems of the parameters as a whole."""
    found = []
    if 2 * p.work_group > p.capacity:
        what = f"{p.work_group} lanes exceed half of the {p.capacity} keys that a work-group sorts"
        found.append(("work_group", what, "give fewer lanes, or a larger capacity"))
    if p.places and p.capacity > HELD * p.work_group:
        what = f"{p.work_group} lanes would hold {p.capacity // p.work_group} keys each in registers"
        found.append(("places", what, f"give false, or at least {p.capacity // HELD} lanes"))
    if p.tile > TILE:
        what = f"a tile of {p.work_group} lanes x {p.items} has more than {TILE} keys"
        found.append(("items", what, f"give at most {TILE // p.work_group}"))
    if p.row_limit < p.capacity:
        what = f"rows of {p.row_limit} keys are shorter than the {p.capacity} keys that a work-group sorts"
        found.append(("row_limit", what, f"give at least {p.capacity}"))
    elif MAX_N // p.row_limit * (p.row_words + 2 * p.row_tiles) > MOST_INDEX:
        what = f"scratch for rows of {p.row_limit} keys has more words than 32-bit indices reach"
        found.append(("row_limit", what, "give longer rows, larger tiles, a smaller capacity or fewer bits"))
    if p.local_bytes() > device.local_bytes:
        what = f"selections need {p.local_bytes()} bytes of local memory, the device has {device.local_bytes}"
        found.append(("capacity", what, "give a smaller capacity, or fewer bits or lanes"))
    return found
