"""Constraints of packs: parameters against the device's facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.pack.params import MAX_N, TILE, Params
from hsgen.core.device import Device


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield the problems of single values, independent of the others."""
    yield from device_constraints.launch(values, device)


def problems(p: Params, device: Device) -> list[Problem]:
    """Return all problems of the parameters as a whole."""
    return list(device_constraints.tile(p.tile, TILE, MAX_N, device))
