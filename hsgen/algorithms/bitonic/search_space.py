"""The search space of bitonic sorts."""

from __future__ import annotations

from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.keys import KeyType

# Above 32 rows, compilers take minutes for the straight-line kernels, and registers do not suffice.
_HEIGHTS = (2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32)
_SCALES = (1, 2, 3, 4, 5)
_PADS = (0, 1, 2, 4, 8, 16, 17)


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return one box for each subgroup width, and one without subgroup operations."""
    widths = [1, *(w for w in device.subgroups if w > 1)] if device.shuffle else [1]
    return tuple(_box(width, device) for width in widths)


def _box(width: int, device: Device) -> Box:
    most = max(1, device.work_group // width)
    return {
        "subgroup": (width,),
        "height": _HEIGHTS,
        "slabs": steps(1, min(most, 8192), thirds=True),
        "clean_slabs": steps(1, min(most, 8192)),
        "local_scale": _SCALES,
        "flip_scale": _SCALES,
        "half_scale": _SCALES,
        "stream_group": steps(max(16, width), min(1024, device.work_group)),
        "bank_pad": _PADS,
        "exchange": ("minmax", "select"),
    }
