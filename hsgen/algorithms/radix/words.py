"""The scratch layout of a radix sort: flags, then histograms, then words for each tile or for each work-group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from hsgen.algorithms.radix import portions
from hsgen.algorithms.radix.tile import Tile
from hsgen.core.plan import Binding, DeviceStatus
from hsgen.core.regions import Region, placed
from hsgen.core.scratch import Scratch, ScratchRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The regions of scratch, for P passes and D values of a digit.

    failed: P flags; empty if no look-back can give up.
    buffers: P + 1 numbers.
    tickets: P counters.
    pass_order: P numbers.
    digit_starts: P x D words; empty without look-back.
    portion_prefixes: 2 x D words; empty without look-back.  Sorts whose passes have no portions also have the region,
    because tiles of several sizes share the layout.
    histogram: D words.
    unsorted, unsorted_groups: empty without `sorted_exit`.
    tile_states, group_histograms, bucket_starts: all three begin at the same word; a launch uses only one of them.
    use_partition and all later regions: in a hybrid sort, see `hsgen.algorithms.radix.hybrid.regions`; else None.
    """

    failed: Region
    buffers: Region
    tickets: Region
    pass_order: Region
    digit_starts: Region
    portion_prefixes: Region
    histogram: Region
    unsorted: Region
    unsorted_groups: Region
    tile_states: Region
    group_histograms: Region
    bucket_starts: Region
    use_partition: Region | None = None
    use_buckets: Region | None = None
    crowded_buckets: Region | None = None
    first_histogram: Region | None = None
    first_starts: Region | None = None
    first_cursors: Region | None = None
    first_tiles: Region | None = None
    pair_status: Region | None = None
    spare: Region | None = None
    digit_varies: Region | None = None
    sample_counts: Region | None = None
    large_buckets: Region | None = None
    bucket_capacity: Region | None = None
    bucket_mean: Region | None = None
    lowest_bit: Region | None = None
    pair_histogram: Region | None = None
    pair_cursors: Region | None = None
    pair_starts: Region | None = None


@lru_cache(maxsize=256)
def words(p: Tile) -> Words:
    """Return the regions of scratch of a shape."""
    count, exits = len(p.digits), int(p.sorted_exit)
    regions = (
        ("failed", count if p.redo else 0, "of each pass: 1 if a look-back gave up"),
        (
            "buffers",
            count + 1,
            "where the keys are before each pass and at the end: 0 source, 1 destination, 2 scratch",
        ),
        ("tickets", count, "of each pass: the number of tiles drawn"),
        ("pass_order", count, "of each pass: its number among those that move keys, from 1; 0: moves none"),
        (
            "digit_starts",
            count * p.radix if p.looks_back else 0,
            "of each pass: the histogram of all keys, then its prefix",
        ),
        ("portion_prefixes", 2 * p.radix if p.looks_back else 0, "digits of all earlier portions; two rows by turns"),
        ("histogram", p.radix, "of all keys, for one pass"),
        *(p.room.regions if p.room else ()),
        ("unsorted", exits, "1 if some key is greater than the next one"),
        ("unsorted_groups", exits * (0 if p.looks_back else p.groups), "the same of the keys of each work-group"),
        ("tile_states", 0, "of each tile: a word per digit, see look-back"),
        ("group_histograms", 0, "of each digit: a word per work-group"),
        ("bucket_starts", 0, "of 2^b buckets: 2^b + 1 starts, then 2^b cursors and the list of crowded buckets"),
    )
    layout = Words(**placed(regions))
    if not p.index64:
        return layout
    wide = placed(
        (("wide_histogram", p.radix, "64 bits, of table[]"), ("wide_group_histograms", 0, "64 bits, of table[]"))
    )
    return replace(layout, histogram=wide["wide_histogram"], group_histograms=wide["wide_group_histograms"])


def columns(p: Tile) -> int:
    """Return the number of columns that a work-group has in the table of counts.

    The number is 1, or the number of lanes if each lane walks through its own chunk.
    """
    return p.work_group if p.serial and p.subgroup == 1 else 1


OTHER = Binding(role="scratch")


def values_binding(p: Tile, halves: int = 1) -> Binding:
    """Return the binding of the second buffer of values, which follows the second buffer of keys in scratch.

    halves: the number of halves of each second buffer, 1 or 2; a half holds n keys or n values.
    """
    return Binding(role="scratch", per_n=halves * p.key.bytes)


def words_binding(p: Tile, halves: int = 1) -> Binding:
    """Return the binding of the regions (`words`), which follow the second buffers of keys and of values in scratch."""
    return Binding(role="scratch", per_n=halves * (p.key.bytes + p.signature.value_bytes), plus=_slack(p))


def table_binding(p: Tile) -> Binding:
    """Return the binding of the table of 64-bit counts in a sort with 64-bit indices.

    The table begins 64 KiB behind the first of the other regions, which take less than 64 KiB.
    """
    return Binding(role="scratch", per_n=p.key.bytes + p.signature.value_bytes, plus=65536 + _slack(p))


def _slack(p: Tile) -> int:
    """The bytes that may be lost because the second buffer of values is aligned to 1024 bytes."""
    return 1024 if p.valued else 0


def scratch(p: Tile) -> Scratch:
    """Return the rules for the size of scratch.

    Scratch holds second buffers of keys and of values, the regions of fixed size, and a table.  The table has a row of
    counts for each work-group, or a row of states for each tile of a portion.
    """
    fixed = 4 * words(p).tile_states.start
    row = 4 * (p.radix * columns(p) + p.counter_words)
    if p.index64:
        fixed, row = 65536 + 8 * p.radix, 2 * row
    # if lanes walk through chunks, one work-group alone also needs the second buffers
    least = 0 if p.serial else p.alone
    plus, item = fixed + 1024 + _slack(p), p.key.bytes + p.signature.value_bytes
    rule = ScratchRule(min_n=least, plus=plus, per_n=item, unit=p.tile, per_unit=row, units=p.groups)
    mean = p.room.mean if p.room else None
    buckets = replace(rule, plus=plus + 4, unit=mean or 1, per_unit=24)
    if not p.looks_back:
        if p.halves:
            return Scratch((rule, replace(rule, max_n=p.halves, per_n=2 * item, units=1)))
        rules = [rule]
        if p.most_groups > p.groups:
            rules.append(replace(rule, min_n=max(p.large_from, least), units=p.most_groups))
        if mean:
            rules.append(replace(buckets, units=(1 << 32) // mean + 1))
        return Scratch(tuple(rules))
    return Scratch(tuple(_looking_back(p, rule, buckets)))


def _looking_back(p: Tile, rule: ScratchRule, buckets: ScratchRule) -> list[ScratchRule]:
    """Return the scratch rules of a sort whose passes use look-back.

    rule: the rule for a row of words for each work-group.
    buckets: the rule for 24 bytes for each bucket of the mean size.
    """
    least, row = rule.min_n, rule.per_unit
    mean, pieces = (p.room.mean, p.room.pieces) if p.room else (None, None)
    several, top = portions.count(p), min(portions.whole(p), greatest(p))
    rules = [replace(rule, max_n=top, units=top // p.tile + 1)]
    if top < greatest(p):
        unit = several * p.tile
        rules.append(replace(rule, min_n=max(top, least), unit=unit, units=greatest(p) // unit + 1))
        if p.signature.device_count:  # n is the capacity; up to `top` keys on the device are one portion
            rules.append(
                replace(
                    rule, min_n=max(top, least), plus=rule.plus + row * -(-top // p.tile), unit=1, per_unit=0, units=0
                )
            )
        if not p.forward_progress:  # the table in which retries count
            rules.append(replace(rule, min_n=max(top, least), units=portions.counted_groups(p)))
    if mean:  # up to 2 n / mean buckets, each with a start, a cursor and a list entry: 24 bytes for each `mean` keys
        rules.append(replace(buckets, units=greatest(p) // mean + 1))
    # each bucket has starts and ends of three pieces, and list entries; no rule is needed if tile states take more
    unit, most = pieces or (0, 0)
    if unit and 96 * p.tile * (several if top < most else 1) > unit * row:
        rules.append(replace(buckets, unit=unit, per_unit=96, units=most // unit))
    return rules


def device_status(p: Tile) -> DeviceStatus | None:
    """Return where the sort reports which passes were retried; None if no pass can be retried."""
    if not p.looks_back or p.forward_progress:
        return None
    return DeviceStatus(binding=words_binding(p), words=len(p.digits), min_n=p.alone)


MAX_N = portions.COUNTED  # kernels count in signed 32-bit numbers
MAX_WIDE = 1 << 40


def greatest(p: Tile) -> int:
    """Return the greatest count of kernels with 32-bit indices.

    A work-group that takes several tiles stops when the index of its next tile exceeds the count.  The index exceeds
    the count by at most one tile for each work-group, and must fit 31 bits too.
    """
    return max(MAX_N, (1 << 31) - (p.groups + 2) * p.tile) if portions.halved(p) else MAX_N


def max_n(p: Tile) -> int:
    """Return the greatest count of a sort.

    A work-group counts in 32 bits, and kernels index the words of scratch by signed 32-bit numbers.
    """
    if p.index64:
        most = 1 << 32 if p.signature.value == "index" else MAX_WIDE
        return min(most, p.groups * ((1 << 32) // p.tile - 1) * p.tile)
    # the number of rows of the table that signed 32-bit indices can reach
    rows = ((1 << 31) - 1 - words(p).tile_states.start) // (p.radix * columns(p))
    return min(greatest(p), rows * p.tile) if p.looks_back or p.most_groups > rows else MAX_N
