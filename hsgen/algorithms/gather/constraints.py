"""Constraints of gathers: parameters against the device's facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.gather.params import ITEMS, MAX_N, Params
from hsgen.core.device import Device


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield the problems of single values, independent of the others."""
    yield from device_constraints.launch(values, device)
    if "batch" in values and device.local == "memory":
        what = 'lanes move whole items where local memory is ordinary memory (device.local = "memory")'
        yield "batch", what, "leave it out"


def problems(p: Params, device: Device) -> list[Problem]:
    """Return all problems of the parameters as a whole."""
    return list(device_constraints.tile(p.tile, ITEMS[device.local], MAX_N, device))
