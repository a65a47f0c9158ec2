"""The number of keys that a lane of a segmented sort can hold, which registers and local memory limit."""

from __future__ import annotations

from hsgen.algorithms.radix.rankers import Ranked, rank_arrays
from hsgen.core.device import Device
from hsgen.core.keys import Signature

PLACED = 15
"""The most keys of a lane in sorts by bins.

With this limit, a core with 227 KiB of local memory holds four work-groups of 256 lanes.
"""

CROWD = 96
"""The most keys of a bin for which short segments are sorted by bins, which compares the keys of a bin in pairs.

A window in which a bin has more keys is ranked by digits, which is then faster.
"""

NETWORKS = {4: (8, 16), 8: (8, 12)}
"""The numbers of keys in the two sorting networks with which a lane sorts tiny segments, by the size of a key in bytes.

For keys of 8 bytes, the greater network has 12 keys.  16 such keys and the other variables of the kernel would not fit
64 registers.

Two networks were faster than one.  On an NVIDIA H100, 2^24 u32 keys in 2^22 random segments take 1.08 times as long
with only the network for 16 keys: lanes wait for the longest segment.  The keys take 1.32 times as long with only the
network for 8 keys.
"""

TINY = 10
"""If the segments of a window have at most this many keys on average, networks sort the window instead of bins.

Each lane then sorts whole segments, one by one.  Networks are used only without values, and only if keys that compare
equal have equal bits.  At an average of 16 keys, networks take 1.7 times as long as bins (NVIDIA H100).
"""


def bin_items(chip: Ranked, signature: Signature, device: Device) -> int:
    """Return the number of keys per lane in a sort of short segments by bins, an odd number; 0 if bins do not suit.

    If bins do not suit, short segments are ranked by digits.  Bins suit devices with fast atomic additions in local
    memory, such as NVIDIA's GPUs since Volta.  The function recognises these devices by two facts: subgroup votes and
    guaranteed forward progress.
    chip: the parameters of tiles that are sorted on chip.
    """
    if chip.ranker != "match_ballot" or not device.promised or chip.work_group & (chip.work_group - 1):
        return 0
    words = 3 + (3 + signature.segment_ends) / 32  # for each key: a counter, an order, and bits of marks
    lanes, fixed = chip.work_group, 4 * (chip.subgroups + chip.work_group + 17)
    room = int((device.local_bytes - fixed) / lanes / (chip.key.held - 4 + 4 * words))
    return max(0, min(chip.items, PLACED, 8192 // lanes, room) - 1) // 2 * 2 + 1


def most_items(shape: Ranked, apart: bool, device: Device) -> int:
    """Return the most keys that fit the registers of a lane.

    With the ranker "match_broadcast", Intel's compilers have registers for four keys.  With `apart` and subgroups of 16
    lanes or more, registers suffice for only three keys of one byte, or three 64-bit keys with values.

    A core of NVIDIA's GPUs before Volta holds 512 lanes with 128 registers each, enough for eight 32-bit keys or six
    64-bit keys.  The function recognises these GPUs by three facts: votes of 32 lanes, no guaranteed forward progress,
    and less than 64 KiB of local memory.
    apart: whether each medium segment has a work-group of its own (`Params.apart`).
    """
    if shape.ranker == "match_broadcast":
        large = shape.key.bytes == 1 or (shape.key.bytes == 8 and shape.signature.value_bytes > 0)
        return 3 if apart and shape.subgroup >= 16 and large else 4
    old = device.progress != "guaranteed" and device.local_bytes < 1 << 16
    few = shape.ranker == "match_ballot" and shape.subgroup == 32 and old
    return (8 if shape.key.held == 4 else 6) if few else 128 // shape.key.held


def window_bytes(chip: Ranked, signature: Signature) -> int:
    """Return the number of bytes of local memory of the kernel that ranks short segments by digits."""
    return sum(a.count * a.element(chip.key) for a in rank_arrays(chip)) + 4 * (
        (2 + signature.segment_ends) * -(-chip.tile // 32) + 3
    )
