"""The number of keys that a lane holds in the kernels of segmented sorts, limited by registers and local memory."""

from __future__ import annotations

from hsgen.algorithms.radix.rankers import Ranked, rank_arrays
from hsgen.core.buffers import element_bytes
from hsgen.core.device import Device
from hsgen.core.keys import Signature

PLACED = 15
"""Sorts by bins: the most keys of a lane.  A core with 227 KiB of local memory then holds four work-groups of 256
lanes.
"""

CROWD = 96
"""Sorts by bins: the most keys of a bin that lanes compare with each other; for fuller bins, ranking by digits is
faster.
"""

NETWORKS = {4: (8, 16), 8: (8, 12)}
"""Sorts by bins: the most keys of a segment that one lane sorts by a network, by the bytes of a key in registers.

There are two networks.  For keys of 8 bytes the longer network has 12 keys, because 16 such keys do not fit 64
registers with the other variables.  With the network for 16 keys alone, 2^22 random segments of 2^24 u32 keys take 1.08
times as long (NVIDIA H100), because lanes wait for the longest segment; with the network for 8 keys alone, 1.32 times.
"""

TINY = 10
"""Sorts by bins: the mean number of keys of a segment up to which each lane sorts segments one by one.

Segments are sorted one by one only without values, and only if keys that compare equal have equal bits.  At a mean of
16 keys, this takes 1.7 times as long as bins (NVIDIA H100).
"""


def bin_items(chip: Ranked, signature: Signature, device: Device) -> int:
    """Return the keys of a lane that sorts short segments by bins: an odd number; 0 if short segments are ranked.

    A sort by bins requires lanes that vote and a device with guaranteed forward progress, such as NVIDIA's GPUs since
    Volta.  Atomic additions in their local memory need no locks.
    """
    if chip.ranker != "match_ballot" or not device.promised or chip.work_group & (chip.work_group - 1):
        return 0
    words = 3 + (3 + signature.segment_ends) / 32  # a counter, an order, and marks, for each key
    lanes, fixed = chip.work_group, 4 * (chip.subgroups + chip.work_group + 17)
    room = int((device.local_bytes - fixed) / lanes / (chip.key.held - 4 + 4 * words))
    return max(0, min(chip.items, PLACED, 8192 // lanes, room) - 1) // 2 * 2 + 1


def most_items(shape: Ranked, apart: bool, device: Device) -> int:
    """Return the most keys of a lane, limited by registers.

    With the ranker "match_broadcast", Intel's compilers have registers for four keys.  With many lanes, they have
    registers for only three keys of one byte, or for three 64-bit keys with values.  NVIDIA's GPUs before Volta hold
    512 lanes per core with 128 registers each, which suffice for eight 32-bit or six 64-bit keys.  These GPUs have
    votes of 32 lanes, no independent progress of lanes, and less than 64 KiB of local memory.
    """
    if shape.ranker == "match_broadcast":
        large = shape.key.bytes == 1 or (shape.key.bytes == 8 and shape.signature.value_bytes > 0)
        return 3 if apart and shape.subgroup >= 16 and large else 4
    old = device.progress != "guaranteed" and device.local_bytes < 1 << 16
    few = shape.ranker == "match_ballot" and shape.subgroup == 32 and old
    return (8 if shape.key.held == 4 else 6) if few else 128 // shape.key.held


def window_bytes(chip: Ranked, signature: Signature) -> int:
    """Return the local memory of the kernel that ranks short segments, in bytes."""
    return sum(a.count * element_bytes(a.type, chip.key) for a in rank_arrays(chip)) + 4 * (
        (2 + signature.segment_ends) * -(-chip.tile // 32) + 3
    )
