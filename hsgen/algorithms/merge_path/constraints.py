"""Checks whether the parameters of a merge suit each other and the device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.merge_path.kernels import kernels, of_ranges
from hsgen.algorithms.merge_path.params import Params
from hsgen.core.device import Device

ROWS = (2, 4, 8, 16)
"""The numbers of keys that a vector may have."""


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Check each value of a target table by itself, and yield the problems."""
    yield from device_constraints.launch(values, device)


def problems(p: Params, device: Device) -> list[Problem]:
    """Check complete parameters for a device, and return all problems."""
    faults = list(alone({"work_group": p.work_group}, device))
    if not p.walks and p.chains > 1:
        faults.append(("chains", "lanes that merge in local memory have one chain", "give 1"))
    if p.row and (not p.walks or (p.valued and p.key.bits > 32)):
        problem = "rows require sequential lanes, and with values keys of at most 32 bits"
        faults.append(("row", problem, "give 0"))
    if p.row not in (0, *ROWS) or (p.row and p.items % p.row):
        faults.append(("row", "rows are vectors of OpenCL, and items a multiple of them", f"give one of {ROWS}"))
    if p.ranged:
        faults += _ranges(p)
    if (need := max(kernel.local_bytes(p.key) for kernel in kernels(p))) > device.local_bytes:
        problem = f"merge needs {need} bytes of local memory, the device has {device.local_bytes}"
        faults.append(("items", problem, "give fewer items or lanes"))
    return faults


def _ranges(p: Params) -> Iterator[Problem]:
    """Yield the problems of the kernel `merge_ranges`."""
    shape = of_ranges(p)
    if shape.work_group < 2 * p.subgroup or shape.work_group % p.subgroup:
        yield "range_lanes", "two subgroups find the ends of a range", f"give a multiple of {p.subgroup} lanes"
    if shape.items % (size := 16 // p.key.held) or shape.items % 2:
        yield "range_items", "lanes load keys by 16 bytes", f"give a multiple of {max(size, 2)} keys"
    if p.valued and shape.ring + shape.margin > 1 << 15:
        yield "range_items", "slots of values have 16 bits", "give fewer keys or lanes"
