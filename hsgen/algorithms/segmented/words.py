"""Where a segmented sort keeps its words in scratch, behind the second buffers of keys and values.

A *unit* is `tile` keys of the array: larger segments are at most as many as there are units, and their columns of
counts at most twice as many.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.segmented.params import Params
from hsgen.core.plan import Binding, DeviceStatus, Scratch

STATUS, PARTS, MEDIUMS, LARGES, HUGES, COLUMNS, WHERE = range(7)
"""1 where offsets cannot be; the number of segments; the segments listed that a work-group sorts, and of the larger
ones those of few and of many columns; their columns; where the first pass over a digit stored keys (1 destination, 2
scratch)."""
HEAD = 8
OTHER = Binding(role="scratch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Words for each unit before a part begins, `HEAD` words behind the begin.

    mediums: numbers of segments.  records: four words a larger segment: begin, end, first column, keys of a column;
    those of many columns from behind.  owners: the record of each column.  totals: the keys of each digit of a record.
    table: the counts of a record by digit and column.  size: of all.
    """

    mediums: int
    records: int
    owners: int
    totals: int
    table: int
    size: int


def layout(p: Params) -> Layout:
    """Return where the parts lie."""
    records = p.mediums
    owners = records + 4
    totals = owners + 2
    table = totals + p.rank.radix
    return Layout(mediums=0, records=records, owners=owners, totals=totals, table=table, size=table + 2 * p.rank.radix)


def values_binding(p: Params) -> Binding:
    """Return where the second buffer of values begins: behind that of keys."""
    return Binding(role="scratch", per_n=p.key.bytes)


def words_binding(p: Params) -> Binding:
    """Return where the words begin."""
    return Binding(
        role="scratch", per_n=p.key.bytes + p.signature.value_bytes, plus=1024 if p.signature.value_bytes else 0
    )


def scratch(p: Params) -> Scratch:
    """Return the scratch rule: keys and values once more, and some words for each unit."""
    behind = words_binding(p)
    return Scratch(
        plus=behind.plus + 1024 + 4 * HEAD,
        per_n=behind.per_n,
        unit=p.tile,
        per_unit=4 * layout(p).size,
        units=(1 << 31) // p.tile,
    )


def device_status(p: Params) -> DeviceStatus:
    """Return where the sort tells that its offsets cannot be."""
    return DeviceStatus(binding=words_binding(p), words=1)


def max_n(p: Params) -> int:
    """Return the greatest count: words are found by signed 32-bit indices."""
    return min((1 << 30) - 1, ((1 << 31) - 1 - HEAD) // layout(p).size * p.tile)
