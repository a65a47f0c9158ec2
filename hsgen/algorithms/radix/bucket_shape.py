"""Constraints of kernels that take buckets or tiles on chip: lanes, the keys of each, and places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hsgen.algorithms.device_constraints import Problem
from hsgen.core.device import Device


def problems(p: Any, device: Device, name: str, *, places: bool) -> Iterator[Problem]:
    """Yield what cannot work with the choices `NAME_group`, `NAME_items` and, if there are `places`, `NAME_places`."""
    group, items, spots = f"{name}_group", f"{name}_items", f"{name}_places"
    lanes, each = getattr(p, group), getattr(p, items)
    odd = [x for x in ((group, spots) if places else (group,)) if getattr(p, x) & getattr(p, x) - 1]
    for field in odd:
        value = getattr(p, field)
        yield field, f"{value} is no power of two", f"give {1 << value.bit_length() - 1}"
    if places and not odd and getattr(p, spots) % lanes:
        what = f"{getattr(p, spots)} places are not shared out evenly by {lanes} lanes"
        yield spots, what, f"give a multiple of {lanes}"
    if places and getattr(p, spots) > 65536:
        yield spots, "a key is found by 16 bits", "give at most 65536"
    if lanes % p.subgroup:
        yield group, f"{lanes} lanes are no whole subgroups", f"give a multiple of {p.subgroup}"
    if lanes > device.work_group:
        what = f"{lanes} lanes exceed the work-group limit of {device.work_group}"
        yield group, what, f"give at most {device.work_group}"
    elif each > (most := min(64, 65535 // lanes)):
        what = f"{each} keys do not fit the registers of a lane, or the 16 bits of a place"
        yield items, what, f"give at most {most}"
