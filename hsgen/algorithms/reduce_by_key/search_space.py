"""The search space of reductions by key."""

from __future__ import annotations

from hsgen.algorithms.reduce_by_key.params import MOST_ITEMS, VECTOR, able
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.keys import KeyType


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return a box of spans, and one for each width of subgroups that look back within sections."""
    least = 1 if device.local == "memory" else min(16, device.work_group)
    spans = {
        "work_group": steps(least, min(1024, device.work_group)),
        "items": (1, 3, 5, 7, 9, 11, 13, 15, 19, 23, 27, 31),
        "groups": steps(16, min(device.groups, 8192)),
        "subgroup": (1,),
    }
    widths = [w for w in device.subgroups if 1 < w <= MOST_ITEMS] if able(device) else []
    sections = (
        {
            "work_group": steps(max(64, width), min(1024, device.work_group)),
            "items": tuple(range(VECTOR, MOST_ITEMS + 1, VECTOR)),
            "subgroup": (width,),
            "resident": (0, 1, 2, 3, 4, 5),
        }
        for width in widths
    )
    return spans, *sections
