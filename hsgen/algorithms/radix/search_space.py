"""Regions that `hsgen tune` searches for several strategies, with candidate values for tiles and rankers."""

from __future__ import annotations

from collections.abc import Iterator

from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device

_ITEMS = (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 14, 15, 16, 18, 19, 20, 22, 24, 28, 32)
_LANES = (32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024)
_BROADCAST = 32  # lanes of the widest subgroup for "match_broadcast"
_MATCHED = (4, 5, 6, 7, 8)  # the bits of a digit, for rankers with subgroup operations
_COUNTED = (2, 3, 4, 5, 6, 7, 8)  # the bits of a digit, for rankers without


def matched(device: Device) -> Iterator[Box]:
    """Yield a search region for each ranker with subgroup operations, and for each subgroup width."""
    for width in (w for w in device.subgroups if w > 1 and device.shuffle):
        yield {"ranker": ("match_ballot",), "bits": _MATCHED, "subgroup": (width,), **_tile(device)}
        if width <= _BROADCAST:
            yield {"ranker": ("match_broadcast",), "bits": _MATCHED, "subgroup": (width,), **_tile(device)}


def ranked(device: Device) -> Iterator[Box]:
    """Yield a search region for each ranker and each subgroup width.

    The regions also contain candidates for the number of work-groups, `groups`.
    """
    groups: Box = {"groups": steps(16, min(device.groups, 32768))}
    tile = _tile(device)
    yield from ({**box, **groups} for box in matched(device))
    yield {"ranker": ("bitmask",), "bits": _COUNTED, "subgroup": (1,), **tile, **groups}
    yield {"ranker": ("radix_split",), "bits": _COUNTED, "subgroup": (1,), "split": (1, 2), **tile, **groups}


def _tile(device: Device) -> Box:
    return {"items": _ITEMS, "work_group": tuple(n for n in _LANES if n <= device.work_group)}
