"""What cannot work: a shape against the device's facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import limits
from hsgen.algorithms.limits import Problem
from hsgen.algorithms.mergepath.bodies import merge
from hsgen.algorithms.mergepath.shape import Params
from hsgen.device import Device


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield what is wrong with single values, whatever the others are."""
    yield from limits.launch(values, device)


def problems(p: Params, device: Device) -> list[Problem]:
    """Return what is wrong with a shape as a whole, all of it at once."""
    found = list(alone({"work_group": p.work_group}, device))
    if not p.walks and p.chains > 1:
        found.append(("chains", "lanes that merge in local memory have one chain", "give 1"))
    if (need := merge(p).local_bytes(p.key)) > device.local_bytes:
        what = f"merge needs {need} bytes of local memory, the device has {device.local_bytes}"
        found.append(("items", what, "give fewer items or lanes"))
    return found
