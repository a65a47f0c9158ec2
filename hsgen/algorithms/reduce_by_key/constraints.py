"""Constraints of reductions by key: parameters against the device's facts and each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.reduce_by_key.params import VECTOR, Params, able
from hsgen.core.device import Device


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield the problems of single values, independent of the others."""
    yield from device_constraints.launch(values, device)
    yield from device_constraints.grid(values, device)
    yield from device_constraints.powers(values, "work_group")
    yield from device_constraints.subgroup(values, device, "give 1, or leave it out")
    if values.get("subgroup", 1) > 1 and not able(device):
        problem = 'sections require work-groups that wait for each other (progress = "guaranteed", cooperative = true)'
        yield "subgroup", problem, "give 1, or leave it out"


def problems(p: Params, device: Device) -> list[Problem]:
    """Return all problems of the parameters as a whole."""
    faults: list[Problem] = []
    if p.sections:
        if p.work_group % p.subgroup:
            problem = f"{p.work_group} lanes are no subgroups of {p.subgroup}"
            faults.append(("work_group", problem, f"give a multiple of {p.subgroup}"))
        if p.items % VECTOR:
            faults.append(("items", f"{p.items} keys are no vectors of {VECTOR}", f"give a multiple of {VECTOR}"))
    elif p.items % 2 == 0:
        problem = f"with {p.items} keys per lane, lanes access the same banks of local memory"
        faults.append(("items", problem, "give an odd number, or a subgroup above 1"))
    if p.local_bytes() > device.local_bytes:
        problem = f"a tile needs {p.local_bytes()} bytes of local memory, the device has {device.local_bytes}"
        faults.append(("items", problem, "give fewer items or lanes"))
    return faults
