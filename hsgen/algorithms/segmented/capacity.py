"""How many keys a lane holds in the kernels of segmented sorts, limited by registers and local memory."""

from __future__ import annotations

from hsgen.algorithms.radix.rankers import Ranked, rank_arrays
from hsgen.core.buffers import element_bytes
from hsgen.core.device import Device
from hsgen.core.keys import Signature

PLACED = 15
"""Places: the most keys of a lane, for four work-groups of 256 lanes per core with 227 KiB of local memory."""

CROWD = 96
"""Places: the keys of one that lanes still compare one by one; ranking by digits takes about as long as with more."""

NETWORKS = {4: (8, 16), 8: (8, 12)}
"""Places: the most keys of a segment that a lane sorts in registers by a network, by the bytes of a key in
registers, of which 64 do not hold 16 keys of 8 bytes with all else.  With 16 alone, 2^22 random segments of 2^24 u32
keys take 1.08 times as long (NVIDIA H100), since lanes wait for the longest one; with 8 alone 1.32 times."""

TINY = 10
"""Places: the keys of a segment on average up to which lanes sort segments one by one, if they are alone and stay alike
when they are equal; for 16 keys on average, that takes 1.7 times as long as places (NVIDIA H100)."""


def placed_items(chip: Ranked, signature: Signature, device: Device) -> int:
    """Return the keys of a lane where short segments are sorted by places: an odd number; 0 if they are ranked.

    Lanes that vote and have guaranteed progress are those of NVIDIA's GPUs since Volta, which add in local memory
    without locks.
    """
    if chip.ranker != "match_ballot" or not device.promised or chip.work_group & (chip.work_group - 1):
        return 0
    words = 3 + (3 + signature.segment_ends) / 32  # a counter, an order, and marks, for each key
    lanes, fixed = chip.work_group, 4 * (chip.subgroups + chip.work_group + 17)
    room = int((device.local_bytes - fixed) / lanes / (chip.key.held - 4 + 4 * words))
    return max(0, min(chip.items, PLACED, 8192 // lanes, room) - 1) // 2 * 2 + 1


def most_items(made: Ranked, apart: bool, device: Device) -> int:
    """Return the most keys of a lane, limited by registers.

    The ranker "match_broadcast" leaves Intel's compilers registers for four keys, or, with many lanes, for three
    that are bytes or 64-bit keys with values. With votes of 32 lanes, and neither independent progress of lanes nor
    64 KiB of local memory, as on NVIDIA's GPUs before Volta, only eight 32-bit or six 64-bit keys fit 128
    registers, for 512 lanes per core.
    """
    if made.ranker == "match_broadcast":
        large = made.key.bytes == 1 or (made.key.bytes == 8 and made.signature.value_bytes > 0)
        return 3 if apart and made.subgroup >= 16 and large else 4
    old = device.progress != "guaranteed" and device.local_bytes < 1 << 16
    few = made.ranker == "match_ballot" and made.subgroup == 32 and old
    return (8 if made.key.held == 4 else 6) if few else 128 // made.key.held


def window_bytes(chip: Ranked, signature: Signature) -> int:
    """Return the local memory of the kernel that ranks short segments, in bytes."""
    return sum(a.count * element_bytes(a.type, chip.key) for a in rank_arrays(chip)) + 4 * (
        (2 + signature.segment_ends) * -(-chip.tile // 32) + 3
    )
