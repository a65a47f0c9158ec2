"""The search space of gathers."""

from __future__ import annotations

from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.keys import KeyType


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return a box of lanes that move values together or, where local memory is ordinary memory, whole items."""
    if device.local == "memory":
        return ({"work_group": steps(1, min(256, device.work_group)), "tile": steps(64, 65536)},)
    box = {
        "work_group": steps(min(32, device.work_group), min(1024, device.work_group)),
        "tile": steps(64, 8192, thirds=True),
        "batch": (1, 2, 3, 4, 6, 8),
    }
    return (box,)
