"""The search space of prefix sums; `columns` and `exclusive` are fixed."""

from __future__ import annotations

from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.keys import KeyType


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return a box of work-groups that hold a tile, and one of sequential lanes."""
    coordinations = ("scan", "lookback") if device.forward_progress else ("scan",)
    together = {
        "work_group": steps(16, min(1024, device.work_group)),
        "items": steps(1, 64, thirds=True),
        "groups": steps(16, min(device.groups, 32768)),
        "coordination": coordinations,
    }
    alone = {
        "work_group": (1,),
        "items": steps(64, 65536),
        "groups": steps(1, 1024),
        "coordination": coordinations,
    }
    return together, alone
