"""The layout of scratch in a segmented sort: second buffers of keys and values, then the 32-bit words of this module.

The sizes of arrays are proportional to the number of *units*: a unit is `tile` keys of the array.  A long segment has
more than `tile` keys.  There are at most as many long segments as units, and at most twice as many columns as units.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.segmented.params import Params
from hsgen.core.plan import Binding, DeviceStatus
from hsgen.core.regions import Region, placed
from hsgen.core.scratch import Scratch, scratch_of

STATUS, PARTS, MEDIUMS, LARGES, HUGES, COLUMNS, WHERE, GREATEST = range(8)
"""The indices of single words; the function `words` says what each of them holds."""
HEAD = 8
OTHER = Binding(role="scratch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The offsets of the arrays after the `HEAD` single words, in 32-bit words, divided by the number of units.

    mediums: the list of medium segments: the number of each.
    records: a record of four words for each long segment: its start, its end, its first column, and its keys per
    column.  Records of segments with many columns fill the array from its end backwards.
    owners: for each column, the number of the record of its segment.
    crowded: with bins, how many windows have a bin with too many keys, and then a list of these windows.
    bounds: with bins, two words for each window: the first segment that starts in the window, and the end of the last
    such segment.  Both are 0 if no segment starts in the window.
    totals: the histogram of each long segment.
    table: the counts of each long segment, by digit and column.
    size: the number of words of all arrays together, divided by the number of units.
    """

    mediums: int
    records: int
    owners: int
    crowded: int
    bounds: int
    totals: int
    table: int
    size: int


def layout(p: Params) -> Layout:
    """Return the offsets of the arrays; see `Layout`."""
    records = p.mediums
    owners = records + 4
    crowded = owners + 2
    windows = -(-p.tile // p.window) if p.bin_items else 0
    bounds = crowded + (1 + windows if p.bin_items else 0)
    totals = bounds + 2 * windows
    table = totals + p.rank.radix
    return Layout(
        mediums=0,
        records=records,
        owners=owners,
        crowded=crowded,
        bounds=bounds,
        totals=totals,
        table=table,
        size=table + 2 * p.rank.radix,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The regions of scratch: single words, then arrays.

    The `start` of an array's region is not an index of a word but the offset x of `Layout`.  The array begins at word
    `arrays` + (number of units) * x.
    """

    status: Region
    segment_count: Region
    medium_count: Region
    large_count: Region
    huge_count: Region
    column_count: Region
    first_buffer: Region
    most_segments: Region
    arrays: Region
    mediums: Region
    records: Region
    owners: Region
    crowded: Region
    bounds: Region
    totals: Region
    table: Region


def words(p: Params) -> Words:
    """Return the regions of scratch."""
    offsets = layout(p)
    singles = (
        ("status", 1, "1 if offsets are invalid"),
        ("segment_count", 1, "the number of segments"),
        ("medium_count", 1, "the number of listed medium segments"),
        ("large_count", 1, "the number of larger segments with few columns"),
        ("huge_count", 1, "the number of larger segments with many columns"),
        ("column_count", 1, "the number of columns"),
        ("first_buffer", 1, "the buffer to which the first pass stores keys: 1 destination, 2 scratch"),
        ("most_segments", 1, "the number of segments that the host gave"),
        ("arrays", 0, "the arrays; below, the words of a unit before each"),
    )
    arrays = {
        "mediums": "medium segments",
        "records": "larger segments: start, end, first column, keys of a column",
        "owners": "the record of each column",
        "crowded": "the number of crowded windows, then these",
        "bounds": "of each window: its first segment, and the end of its last one",
        "totals": "of each record: its histogram",
        "table": "of each record: its counts by digit and column",
    }
    regions = {x: Region(name=x.upper(), start=getattr(offsets, x), meaning=text) for x, text in arrays.items()}
    return Words(**placed(singles), **regions)


def values_binding(p: Params) -> Binding:
    """Return the binding of the second buffer of values, which follows the second buffer of keys in scratch."""
    return Binding(role="scratch", per_n=p.key.bytes)


def words_binding(p: Params) -> Binding:
    """Return the binding of the regions (`words`), which follow the second buffers of keys and values in scratch."""
    return Binding(
        role="scratch", per_n=p.key.bytes + p.signature.value_bytes, plus=1024 if p.signature.value_bytes else 0
    )


def scratch(p: Params) -> Scratch:
    """Return the rule for the size of scratch: second buffers of keys and values, and arrays of words for each unit."""
    start = words_binding(p)
    return scratch_of(
        plus=start.plus + 1024 + 4 * HEAD,
        per_n=start.per_n,
        unit=p.tile,
        per_unit=4 * layout(p).size,
        units=(1 << 31) // p.tile,
    )


def device_status(p: Params) -> DeviceStatus:
    """Return where the host finds the status word, which kernels set to 1 if the offsets are invalid."""
    return DeviceStatus(binding=words_binding(p), words=1)


def max_n(p: Params) -> int:
    """Return the greatest count, for which signed 32-bit integers can index all words of scratch."""
    return min((1 << 30) - 1, ((1 << 31) - 1 - HEAD) // layout(p).size * p.tile)
