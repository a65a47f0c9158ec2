"""The search space of prefix sums; `columns` and `exclusive` are fixed."""

from __future__ import annotations

from typing import Any

from hsgen.algorithms.scan.params import VECTOR
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.keys import KeyType

LEAST_SUBGROUP = 4
"""The least width of subgroups whose lanes read the states of a section."""

LEAST_WORK_GROUP = 64
"""The fewest lanes of a work-group of sections."""


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return the boxes of choices: work-groups that hold a tile; sequential lanes; and, for each width of subgroups,
    sections.

    Sections have a box with tiles in registers, and a box with tiles in local memory.
    """
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
    return together, alone, *_registers(device), *_local(device)


def _registers(device: Device) -> list[dict[str, tuple[Any, ...]]]:
    """Return boxes of sections whose tiles are in registers."""
    fits = device.promised and device.shuffle and device.work_group >= LEAST_WORK_GROUP
    widths = [w for w in device.subgroups if w >= LEAST_SUBGROUP] if fits else []
    return [
        {
            "work_group": steps(max(LEAST_WORK_GROUP, width), min(1024, device.work_group)),
            "items": steps(VECTOR, 64, thirds=True),
            "groups": (min(device.groups, 1024),),
            "coordination": ("sections",),
            "subgroup": (width,),
            "resident": (0, 1, 2, 3, 4),
        }
        for width in widths
    ]


def _local(device: Device) -> list[dict[str, tuple[Any, ...]]]:
    """Return boxes of sections whose tiles are in local memory."""
    return [
        {
            **box,
            "work_group": steps(box["work_group"][0], box["work_group"][-1], thirds=True),
            "items": (9, 12, 18, 36),
            "section": (64, 128),
            "local": (True,),
            "ahead": (0, 64, 128),
            "resident": (0, 2, 3, 4, 6),
        }
        for box in _registers(device)
    ]
