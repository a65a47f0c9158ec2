"""The search space of prefix sums; `columns` and `exclusive` are fixed."""

from __future__ import annotations

from hsgen.algorithms.scan.params import VECTOR
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.keys import KeyType

LEAST_SUBGROUP = 4
"""The least width of subgroups whose lanes read the states of a section."""


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return a box of work-groups that hold a tile, one of sequential lanes, and for each width of subgroups one of
    sections with tiles in registers and one with tiles in local memory."""
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
    widths = [w for w in device.subgroups if w >= LEAST_SUBGROUP] if device.promised and device.shuffle else []
    sections = [
        {
            "work_group": steps(max(64, width), min(1024, device.work_group)),
            "items": steps(VECTOR, 64, thirds=True),
            "groups": (min(device.groups, 1024),),
            "coordination": ("sections",),
            "subgroup": (width,),
            "resident": (0, 1, 2, 3, 4),
        }
        for width in widths
    ]
    local = [
        {
            **box,
            "work_group": steps(max(64, width), min(1024, device.work_group), thirds=True),
            "items": (9, 12, 18, 36),
            "section": (64, 128),
            "local": (True,),
            "ahead": (0, 64, 128),
            "resident": (0, 2, 3, 4, 6),
        }
        for box, width in zip(sections, widths, strict=True)
    ]
    return together, alone, *sections, *local
