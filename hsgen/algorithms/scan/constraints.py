"""Constraints of prefix sums: parameters against the device's facts and each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.scan.kernels import kernels
from hsgen.algorithms.scan.params import Params
from hsgen.core.device import Device

FOLDED = 1024  # the most sums that every sequential lane adds up by itself
LEAST = 16  # the least rows of a tile that looks back, since each tile has a state


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield the problems of single values, independent of the others."""
    yield from device_constraints.launch(values, device)


def problems(p: Params, device: Device) -> list[Problem]:
    """Return all problems of the parameters as a whole."""
    found = list(alone({"work_group": p.work_group, "coordination": p.coordination}, device))
    if p.serial and not p.looks and p.groups > FOLDED:
        what = f"each of {p.groups} lanes would add up the sums of all preceding lanes"
        found.append(("groups", what, f"give at most {FOLDED}, or a larger work_group"))
    if not p.serial and p.work_group < p.columns:
        found.append(
            ("work_group", f"{p.work_group} lanes are fewer than the columns", f"give 1, or {p.columns} or more")
        )
    if p.looks and p.tile < LEAST:
        found.append(("items", f"a tile of {p.tile} rows is too small to look back", f"give {LEAST} rows or more"))
    return found or _device(p, device)


def _device(p: Params, device: Device) -> list[Problem]:
    for kernel in kernels(p):
        need = kernel.local_bytes(p.key)
        if need > device.local_bytes:
            what = f"{kernel.name} needs {need} bytes of local memory, the device has {device.local_bytes}"
            return [("items", what, "give fewer items or lanes")]
        if kernel.work_group > device.work_group:
            what = f"{kernel.name} has {kernel.work_group} lanes, the device allows {device.work_group}"
            return [("work_group", what, f"give a device of at least {kernel.work_group}")]
    return []
