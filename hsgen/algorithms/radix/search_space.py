"""The shapes that are worth trying on a device: a box for each ranker and width of subgroups."""

from __future__ import annotations

from collections.abc import Iterator

from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.keys import KeyType

_ITEMS = (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 14, 15, 16, 18, 19, 20, 22, 24, 28, 32)
_LANES = (32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024)
_BROADCAST = 32  # lanes of a subgroup, at most, that compare digits one by one


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return the boxes that the device's subgroups and its forward progress allow."""
    return (*_tiled(device), *_serial(device))


def _tiled(device: Device) -> Iterator[Box]:
    """Work-groups that rank a tile together."""
    coordinations = ("scan", "lookback") if device.forward_progress else ("scan",)
    lanes = tuple(n for n in _LANES if n <= device.work_group)
    shared: Box = {
        "items": _ITEMS,
        "work_group": lanes,
        "coordination": coordinations,
        "groups": steps(16, min(device.groups, 32768)),
    }
    for width in (w for w in device.subgroups if w > 1 and device.shuffle):
        yield {"ranker": ("ballot",), "bits": (4, 5, 6, 7, 8), "subgroup": (width,), **shared}
        if width <= _BROADCAST:
            yield {"ranker": ("broadcast",), "bits": (4, 5, 6, 7, 8), "subgroup": (width,), **shared}
    yield {"ranker": ("flags",), "bits": (2, 3, 4, 5, 6, 7, 8), "subgroup": (1,), **shared}
    yield {"ranker": ("split",), "bits": (2, 3, 4, 5, 6, 7, 8), "subgroup": (1,), "split": (1, 2), **shared}


def _serial(device: Device) -> Iterator[Box]:
    """Lanes, or subgroups, that walk chunks of their own."""
    shared: Box = {
        "ranker": ("serial",),
        "bits": (5, 6, 7, 8, 9, 10, 11),
        "coordination": ("scan",),
        "single": (0, *steps(256, 1 << 18)),
        "single_bits": (None, 6, 7, 8, 9, 10, 11),
    }
    few = steps(1, 256)
    yield {
        "subgroup": (1,),
        "work_group": (1,),
        "items": steps(64, 65536),
        "groups": few,
        "stream_from": (None, *steps(1 << 18, 1 << 24)),
        **shared,
    }
    lanes = steps(2, min(256, device.work_group))
    if lanes:
        yield {"subgroup": (1,), "work_group": lanes, "items": steps(16, 4096), "groups": few, **shared}
    for width in (w for w in device.subgroups if w > 1 and device.shuffle):
        yield {"subgroup": (width,), "work_group": (width,), "items": steps(16, 4096), "groups": few, **shared}
