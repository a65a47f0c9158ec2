"""Makes small shapes of bitonic sorts, and the counts at which the sorts change."""

from __future__ import annotations

from typing import Any

from hsgen.algorithms import bitonic
from hsgen.core.keys import KEYS
from hsgen.tools.validate.cases import around


def shape(subgroup: int, height: int, slabs: int, scale: int = 2, **values: Any) -> bitonic.Params:
    """Return a shape with defaults; all scales are `scale`."""
    scales = dict.fromkeys(("local_scale", "flip_scale", "half_scale"), scale)
    small = {"clean_slabs": 1, "stream_group": subgroup}
    return bitonic.Params(
        key=KEYS["u32"], subgroup=subgroup, height=height, slabs=slabs, **{**scales, **small, **values}
    )


RAGGED = [
    shape(1, 2, 1),
    shape(1, 6, 5, 1, clean_slabs=2),
    shape(1, 10, 3, 3, stream_group=4),
    shape(2, 2, 5, 2, clean_slabs=4, stream_group=4),
    shape(2, 6, 3, 2, clean_slabs=2, stream_group=4),
    shape(4, 2, 5, 3),
    shape(4, 4, 3, 6, bank_pad=0),
    shape(4, 14, 7, 3, clean_slabs=8, stream_group=16),
    shape(8, 8, 17, 4, clean_slabs=4, stream_group=32),
    shape(8, 10, 6, 3, clean_slabs=2),
    shape(16, 6, 9, 4, clean_slabs=16, bank_pad=3, stream_group=64),
    shape(16, 62, 3, 5),
    shape(32, 18, 12, 4, clean_slabs=8, stream_group=128),
    shape(64, 4, 5, 2, clean_slabs=2),
]
LOOPED = [
    shape(2, 2, 1, 1, compact=True),
    shape(4, 8, 8, 3, compact=True, bank_pad=3),
    shape(8, 2, 16, 1, compact=True, clean_slabs=2),
    shape(8, 4, 4, 2, compact=True, stream_group=16),
    shape(16, 16, 1, 4, compact=True),
    shape(32, 4, 32, 2, compact=True, bank_pad=0),
]
"""Shapes with every kind of odd part: of the height, of the slabs, of both; columns in one and in many parts."""


def boundary(p: bitonic.Params) -> list[int]:
    """Return the counts where a sort changes its way."""
    slab, block = p.subgroup * p.height, p.block
    return sorted({0, 1, *around([slab, block, 2 * block], 1 << 30), 3 * block + slab // 2 + 1, 4 * block + 1})
