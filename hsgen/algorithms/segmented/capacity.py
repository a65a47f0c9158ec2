"""How many keys a lane of a segmented sort can hold.  Registers and local memory set the limits."""

from __future__ import annotations

from hsgen.algorithms.radix.rankers import Ranked, rank_arrays
from hsgen.core.buffers import element_bytes
from hsgen.core.device import Device
from hsgen.core.keys import Signature

PLACED = 15
"""Sorts by bins: the most keys of a lane.  With this limit, four work-groups of 256 lanes fit a core with 227 KiB of
local memory.
"""

CROWD = 96
"""Sorts by bins: if a bin has at most this many keys, its keys are compared with each other.  For fuller bins, ranking
by digits is faster.
"""

NETWORKS = {4: (8, 16), 8: (8, 12)}
"""Sorts by bins: the sizes of the two networks by which one lane sorts a segment.  The dictionary maps the bytes of a
key in registers to these two sizes.

For keys of 8 bytes the longer network has 12 keys.  16 such keys and the other variables do not fit 64 registers.

Two networks were faster than one.  On an NVIDIA H100, 2^24 u32 keys in 2^22 random segments take 1.08 times as long
with the network for 16 keys alone, because lanes wait for the longest segment.  They take 1.32 times as long with the
network for 8 keys alone.
"""

TINY = 10
"""Sorts by bins: if segments have at most this many keys on average, each lane sorts whole segments, one by one.

Lanes sort whole segments only if there are no values, and if keys that compare equal have equal bits.  At an average of
16 keys, this takes 1.7 times as long as bins (NVIDIA H100).
"""


def bin_items(chip: Ranked, signature: Signature, device: Device) -> int:
    """Return the number of keys per lane for a sort of short segments by bins: an odd number, or 0 without bins.

    Without bins, short segments are ranked.  A sort by bins requires subgroup votes and guaranteed forward progress.
    NVIDIA's GPUs have both since Volta.  Their atomic additions in local memory need no locks.
    """
    if chip.ranker != "match_ballot" or not device.promised or chip.work_group & (chip.work_group - 1):
        return 0
    words = 3 + (3 + signature.segment_ends) / 32  # for each key: a counter, an order, and bits of marks
    lanes, fixed = chip.work_group, 4 * (chip.subgroups + chip.work_group + 17)
    room = int((device.local_bytes - fixed) / lanes / (chip.key.held - 4 + 4 * words))
    return max(0, min(chip.items, PLACED, 8192 // lanes, room) - 1) // 2 * 2 + 1


def most_items(shape: Ranked, apart: bool, device: Device) -> int:
    """Return the most keys that fit the registers of a lane.

    `apart` says whether each medium segment has a separate work-group.  With the ranker "match_broadcast", Intel's
    compilers have registers for four keys.  With `apart` and subgroups of 16 lanes or more, registers suffice for only
    three keys of one byte, or three 64-bit keys with values.

    A core of NVIDIA's GPUs before Volta holds 512 lanes with 128 registers each, enough for eight 32-bit keys or six
    64-bit keys.  The function recognizes these GPUs by three facts: votes of 32 lanes, no guaranteed forward progress,
    and less than 64 KiB of local memory.
    """
    if shape.ranker == "match_broadcast":
        large = shape.key.bytes == 1 or (shape.key.bytes == 8 and shape.signature.value_bytes > 0)
        return 3 if apart and shape.subgroup >= 16 and large else 4
    old = device.progress != "guaranteed" and device.local_bytes < 1 << 16
    few = shape.ranker == "match_ballot" and shape.subgroup == 32 and old
    return (8 if shape.key.held == 4 else 6) if few else 128 // shape.key.held


def window_bytes(chip: Ranked, signature: Signature) -> int:
    """Return the bytes of local memory that the kernel which ranks short segments needs."""
    return sum(a.count * element_bytes(a.type, chip.key) for a in rank_arrays(chip)) + 4 * (
        (2 + signature.segment_ends) * -(-chip.tile // 32) + 3
    )
