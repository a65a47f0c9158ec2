"""Constraints of merges: parameters against the device's facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.merge_path.kernels import merge
from hsgen.algorithms.merge_path.params import Params
from hsgen.core.device import Device

ROWS = (2, 4, 8, 16)
"""The sizes of vectors, in keys."""


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield the problems of single values, independent of the others."""
    yield from device_constraints.launch(values, device)


def problems(p: Params, device: Device) -> list[Problem]:
    """Return all problems of the parameters as a whole."""
    found = list(alone({"work_group": p.work_group}, device))
    if not p.walks and p.chains > 1:
        found.append(("chains", "lanes that merge in local memory have one chain", "give 1"))
    if p.row and (not p.walks or (p.valued and p.key.bits > 32)):
        what = "rows require sequential lanes, and with values keys of at most 32 bits"
        found.append(("row", what, "give 0"))
    if p.row not in (0, *ROWS) or (p.row and p.items % p.row):
        found.append(("row", "rows are vectors of OpenCL, and items a multiple of them", f"give one of {ROWS}"))
    if (need := merge(p).local_bytes(p.key)) > device.local_bytes:
        what = f"merge needs {need} bytes of local memory, the device has {device.local_bytes}"
        found.append(("items", what, "give fewer items or lanes"))
    return found
