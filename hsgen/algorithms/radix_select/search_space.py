"""The search space of selections.

A search does not change `capacity`, because users rely on sorted results for k up to `capacity`.
"""

from __future__ import annotations

from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.keys import KeyType


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return one search region: the candidate values of each parameter.  `problems` excludes some combinations.

    On CPUs, `bin_sort` is always false.  Intel's compiler (2026.22) sometimes crashes when it compiles a sort by bins.
    The crash depends on earlier content of the heap.
    """
    least = 1 if device.local == "memory" else min(16, device.work_group)
    box = {
        "work_group": steps(least, min(1024, device.work_group)),
        "items": steps(1, 64, thirds=True),
        "bits": (6, 7, 8, 9, 10, 11, 12),
        "groups": steps(16, min(device.groups, 4096)),
        "small": (128, 256, 512),
        "middle": (512, 1024, 2048),
        "row_limit": steps(1 << 13, 1 << 20),
        "bin_sort": (False, True) if device.local == "chip" else (False,),
        "short.items": (1, 2, 4, 8, 16),
        "short.rows": steps(1, 16) if device.shuffle else (1,),
        "chunk.lanes": steps(least, min(1024, device.work_group)),
        "chunk.items": (2, 4, 8, 12, 16, 24, 32),
        "chunk.take": steps(1, 256),
    }
    return (box,)
