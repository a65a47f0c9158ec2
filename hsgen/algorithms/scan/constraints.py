"""Constraints of prefix sums: parameters against the device's facts and each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.scan.kernels import kernels
from hsgen.algorithms.scan.params import VECTOR, Params
from hsgen.core.device import Device

FOLDED = 1024  # the most sums that every sequential lane adds up by itself
LEAST = 16  # the least rows of a tile that looks back, since each tile has a state


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield the problems of single values, independent of the others."""
    yield from device_constraints.launch(values, device)
    yield from device_constraints.subgroup(values, device, 'give another coordination than "sections"')
    if values.get("coordination") == "sections" and not device.promised:
        problem = 'sections require forward progress of work-groups (device.progress = "guaranteed")'
        yield "coordination", problem, 'give "lookback" or "scan"'


def problems(p: Params, device: Device) -> list[Problem]:
    """Return all problems of the parameters as a whole."""
    values = {"work_group": p.work_group, "coordination": p.coordination, "subgroup": p.subgroup}
    faults = [*alone(values, device), *(_sections(p) if p.sections else ())]
    if p.local and not p.sections:
        faults.append(
            ("local", f'"{p.coordination}" has its tiles in local memory', 'leave it out, or give "sections"')
        )
    if p.ahead and not p.local:
        faults.append(("ahead", "only tiles in local memory are prefetched", "leave it out, or give local = true"))
    if p.serial and not p.looks and p.groups > FOLDED:
        problem = f"each of {p.groups} lanes would add up the sums of all preceding lanes"
        faults.append(("groups", problem, f"give at most {FOLDED}, or a larger work_group"))
    if not p.serial and p.work_group < p.columns:
        faults.append(
            ("work_group", f"{p.work_group} lanes are fewer than the columns", f"give 1, or {p.columns} or more")
        )
    if p.states and p.tile < LEAST:
        faults.append(("items", f"a tile of {p.tile} rows is too small to look back", f"give {LEAST} rows or more"))
    return faults or _device(p, device)


def _sections(p: Params) -> Iterator[Problem]:
    """Yield the problems of sections."""
    if p.columns > VECTOR:
        yield "columns", f"sections have rows of at most {VECTOR} elements", 'give another coordination than "sections"'
    if p.subgroup == 1 or p.work_group % p.subgroup:
        problem = f"{p.work_group} lanes are no subgroups of {p.subgroup}"
        yield "subgroup", problem, "give a width of the device, and a multiple of it as work_group"
    if p.items * p.columns % VECTOR:
        problem = f"{p.items} rows of {p.columns} elements are no vectors of {VECTOR}"
        yield "items", problem, f"give a multiple of {VECTOR // gcd(VECTOR, p.columns)}"
    if p.section > p.work_group:
        yield "section", f"{p.section} tiles exceed the {p.work_group} lanes that read states", "give fewer tiles"


def _device(p: Params, device: Device) -> list[Problem]:
    for kernel in kernels(p):
        need = kernel.local_bytes(p.key)
        if need > device.local_bytes:
            problem = f"{kernel.name} needs {need} bytes of local memory, the device has {device.local_bytes}"
            return [("items", problem, "give fewer items or lanes")]
        if kernel.work_group > device.work_group:
            problem = f"{kernel.name} has {kernel.work_group} lanes, the device allows {device.work_group}"
            return [("work_group", problem, f"give a device of at least {kernel.work_group}")]
    return []
