"""Checks of the sizes with which a work-group holds a tile or a bucket on chip: lanes, keys per lane, and bins."""

from __future__ import annotations

from collections.abc import Iterator

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix.stages import Tiles
from hsgen.core.device import Device


def problems(tiles: Tiles, subgroup: int, device: Device, name: str, bins: int | None = None) -> Iterator[Problem]:
    """Yield the problems of the inline table `name` of a target, such as "bucket".

    bins: the number of bins; None if the stage has none.
    """
    lanes, each = tiles.work_group, tiles.items
    group, items, spots = f"{name}.work_group", f"{name}.items", f"{name}.bins"
    odd = [(x, n) for x, n in ((group, lanes), (spots, bins)) if n is not None and n & n - 1]
    for field, value in odd:
        yield field, f"{value} is no power of two", f"give {1 << value.bit_length() - 1}"
    if bins is not None and not odd and bins % lanes:
        yield spots, f"{bins} bins are not shared out evenly by {lanes} lanes", f"give a multiple of {lanes}"
    if bins is not None and bins > 65536:
        yield spots, "a key is found by 16 bits", "give at most 65536"
    if lanes % subgroup:
        yield group, f"{lanes} lanes are no whole subgroups", f"give a multiple of {subgroup}"
    if lanes > device.work_group:
        message = f"{lanes} lanes exceed the work-group limit of {device.work_group}"
        yield group, message, f"give at most {device.work_group}"
    elif each > (most := min(64, 65535 // lanes)):
        message = f"{each} keys do not fit the registers of a lane, or the 16 bits of a place"
        yield items, message, f"give at most {most}"
