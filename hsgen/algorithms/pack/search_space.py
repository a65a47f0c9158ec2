"""The search space of packs."""

from __future__ import annotations

from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.keys import KeyType


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return one box: lanes and rows are independent of each other."""
    least = 1 if device.local == "memory" else min(32, device.work_group)
    lanes = steps(least, min(1024, device.work_group))
    return ({"work_group": lanes, "tile": steps(64, 65536)},)
