"""Groupings of keys with few distinct values: tables on chip, without a sort.

Every work-group reduces its keys in a hash table in local memory, and adds that to one in global memory, which the last
launch sorts.  So each key and value is read once.  A sample says beforehand whether it is worth trying; where
tables overflow nevertheless, and where the order of values matters, the sort follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

from hsgen.core.device import Device
from hsgen.core.keys import KeyType
from hsgen.core.scratch import aligned

EMPTY = 0xFFFFFFFF
"""A slot of a table without a key; the key of this value has a slot of its own, behind all others."""
DONE, MANY, LAST, HOW, WAY, TICKET, BITS, LOW, RANGE, FIRST, TABLE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 32
"""Words of scratch memory: whether the groups are stored; whether there are too many; whether there is a key `EMPTY`;
the number of the call; where pairs are dealt (`dealt`) what is done with them and a counter of tables, the number of
bits up to the highest one in which keys of a sample differ, one of these keys, the greatest number of as many bits, and
the bits of the first digit if there is a table for each of its values, else 0; where the table begins, with a key, a
reduction and a count for each slot."""
TRIES = 64
"""The slots of a table in local memory in which a key may be."""
CLOSED = 32
"""The slots of a work-group that stores groups, if it has as many lanes."""
SAMPLE = 1024
"""The keys of the sample, unless pairs are dealt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Few:
    """The shape of tables.

    least: the count above which they are tried.  work_group, items: lanes, and the keys of each of a tile.  groups: the
    most work-groups.  slots: the keys that a table has room for, a power of two; half of them are used.  sample: the
    keys of the sample.
    """

    least: int
    work_group: int
    items: int
    groups: int
    slots: int
    sample: int = SAMPLE

    @property
    def tile(self) -> int:
        """The keys that a work-group loads at once."""
        return self.work_group * self.items

    @property
    def most(self) -> int:
        """The most groups that are tried."""
        return self.slots // 2

    @property
    def closed(self) -> int:
        """The slots of a work-group that stores groups, each with a lane at least."""
        return min(CLOSED, self.work_group)

    def sampled(self, sample: int) -> int:
        """Return the distinct keys that a sample of this size has on average if there are `most`, all as frequent."""
        return int(self.most * (1 - exp(-sample / self.most)))

    @property
    def sample_slots(self) -> int:
        """The slots of the table of the sample: twice its keys, or as many as a table has."""
        return max(self.slots, 2 * self.sample)

    @property
    def bytes(self) -> int:
        """The size of the words and the table in scratch memory."""
        return aligned(4 * (TABLE + 3 * (self.slots + 1)))


def shape(key: KeyType, device: Device) -> Few | None:
    """Return the shape for keys of a width on a device; None where local memory is no faster than memory, and for keys
    that atomic operations do not hold."""
    if device.local != "chip" or key.bytes > 4:
        return None
    lanes = 1 << min(512, device.work_group).bit_length() - 1
    slots = next((s for s in (4096, 2048, 1024) if 12 * (s + 1) + 4 * lanes <= device.local_bytes), 0)
    items = 8 if slots == 4096 else 4  # what older compilers hold in registers
    groups = min(528, device.groups)
    return Few(least=1 << 16, work_group=lanes, items=items, groups=groups, slots=slots) if slots else None
