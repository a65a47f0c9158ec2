"""Group-by for few distinct keys: hash tables in local memory replace the sort.

First, a kernel estimates from a sample of keys whether there may be few groups.  Then each work-group reduces its keys
in a hash table in local memory, and adds its groups to a *shared table* in scratch.  The last launch stores the groups
of the shared table in the order of keys.  Each key and value is read once.

The sort runs instead if the sample has too many distinct keys, or if a hash table overflows nevertheless.  The sort
also runs for results that depend on the order of values, such as sums of floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

from hsgen.core.device import Device
from hsgen.core.keys import KeyType
from hsgen.core.regions import Region, placed
from hsgen.core.scratch import aligned

EMPTY = 0xFFFFFFFF
"""The 32-bit word that marks an empty slot.  The key with this value has a slot of its own, after all other slots."""
TRIES = 64
"""The most slots of a table in local memory that a lane probes for a key.  After that, the table has overflowed."""
CLOSED = 32
"""The most slots whose groups a work-group of the last launch stores."""
SAMPLE = 1024
"""The number of keys in the sample of a group-by that has no pair partition (`pair_partition`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Few:
    """The sizes of hash tables, and of the kernels that fill them.

    least: the count above which hash tables are tried.
    work_group: the number of lanes of a work-group.
    items: the number of keys of each lane in a tile.
    groups: the greatest number of work-groups of a launch.
    slots: the number of slots of a table, a power of two.  Tables hold at most `slots` / 2 groups.
    sample: the number of keys of the sample.
    """

    least: int
    work_group: int
    items: int
    groups: int
    slots: int
    sample: int = SAMPLE

    @property
    def tile(self) -> int:
        """The number of keys in a tile."""
        return self.work_group * self.items

    @property
    def most(self) -> int:
        """The greatest number of groups that a table holds."""
        return self.slots // 2

    @property
    def closed(self) -> int:
        """The number of slots whose groups a work-group of the last launch stores: `CLOSED`, at most one per lane."""
        return min(CLOSED, self.work_group)

    def sampled(self, sample: int) -> int:
        """Return the number of distinct keys to expect in a sample of `sample` keys, if there are `most` groups.

        The groups are assumed to be equally large.  More distinct keys mean that tables would overflow.
        """
        return int(self.most * (1 - exp(-sample / self.most)))

    @property
    def sample_slots(self) -> int:
        """The number of slots of the sample's hash table: twice the number of sampled keys, but at least `slots`."""
        return max(self.slots, 2 * self.sample)

    @property
    def bytes(self) -> int:
        """The size in bytes of the buffer `few` in scratch: single words, then the shared table."""
        return aligned(4 * (TABLE + 3 * (self.slots + 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The regions of the buffer `few`, for a table of S slots.  `_WORDS` says what each single word holds.

    table_keys, table_sums, table_times: the shared table, S + 1 words each.
    value_states: one word for each value of the first digit, in the memory of the table.

    Every other region is one word.  Only group-bys with a pair partition use `way` to `table_bits`, and `value_states`.
    """

    stored: Region
    overflow: Region
    has_greatest: Region
    call: Region
    way: Region
    value_ticket: Region
    sample_bits: Region
    sample_key: Region
    sample_range: Region
    table_bits: Region
    table_keys: Region
    table_sums: Region
    table_times: Region
    value_states: Region


_WORDS = (
    ("stored", 1, "of few[]: 1 if the groups are stored, which ends the call"),
    ("overflow", 1, "of few[]: 1 if the groups are too many for a table"),
    ("has_greatest", 1, "of few[]: 1 if there is the key whose word marks empty slots"),
    ("call", 1, "of few[]: the number of the call"),
    ("way", 1, "of few[]: 0: the pairs are sorted, 1: a table for each value of the first digit, 2: buckets"),
    ("value_ticket", 1, "of few[]: the number of values drawn"),
    ("sample_bits", 1, "of few[]: the number of bits up to the highest one in which keys of the sample differ"),
    ("sample_key", 1, "of few[]: a key of the sample"),
    ("sample_range", 1, "of few[]: the greatest number of sample_bits"),
    ("table_bits", 1, "of few[]: the bits of the first digit if there is a table for each of its values, else 0"),
)
TABLE = 32
"""The index of the table's first word in the buffer `few`."""
WORDS = placed(_WORDS)
"""The single words that precede the table, by name."""


def words(p: Few) -> Words:
    """Return the layout of the buffer `few`."""
    sizes = (("table_keys", "keys"), ("table_sums", "reductions"), ("table_times", "counts"))
    table = placed(((name, p.slots + 1, f"of few[]: {text} of the slots") for name, text in sizes), TABLE)
    states = Region(name="VALUE_STATES", start=TABLE, meaning="of few[]: the groups of each value of the first digit")
    return Words(**WORDS, **table, value_states=states)


def shape(key: KeyType, device: Device) -> Few | None:
    """Return the sizes of hash tables for a key width on a device; None if tables are not used.

    Tables are not used if local memory is not on chip, because it is then as slow as scratch.  Tables are not used for
    keys of 8 bytes either, because the atomic operations on keys are 4 bytes wide.
    """
    if device.local != "chip" or key.bytes > 4:
        return None
    lanes = 1 << min(512, device.work_group).bit_length() - 1
    slots = next((s for s in (4096, 2048, 1024) if 12 * (s + 1) + 4 * lanes <= device.local_bytes), 0)
    items = 8 if slots == 4096 else 4  # with more keys, older compilers spill registers
    groups = min(528, device.groups)
    return Few(least=1 << 16, work_group=lanes, items=items, groups=groups, slots=slots) if slots else None
