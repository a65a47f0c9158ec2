"""The layout of scratch in a radix sort: the second buffers of keys and values, then the regions.

Passes move keys and values between the caller's buffers and the *second buffers*.  A *region* is a named sequence of
32-bit words: a flag, a histogram or, as the last one, a table with a row for each tile or for each work-group.
"""

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
    """The regions of scratch, for P passes and D values of a digit.  The texts in `words` say what each region holds.

    failed: P words; empty if no look-back can give up.
    buffers: P + 1 words.
    tickets: P words.
    pass_order: P words.
    digit_starts: P x D words; empty without look-back.
    portion_prefixes: 2 x D words; empty without look-back.  Sorts without portions have the region too, so that kernels
    with tiles of other sizes can use the same layout.
    histogram: D words.
    unsorted, unsorted_groups: empty without `sorted_exit`.
    tile_states, group_histograms, bucket_starts: tables that begin at the same word, because a launch uses only one of
    them.  Their size depends on the count.

    All regions from `use_partition` on are None, except in a hybrid sort (`hsgen.algorithms.radix.hybrid.regions`).
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
    bucket_bits: Region | None = None
    bucket_low_bit: Region | None = None
    base: Region | None = None
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
    """Return the regions of scratch for the parameters `p`."""
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
    """Return the number of columns that a work-group fills in the table of counts, which has a row for each digit.

    The number is 1, or the number of lanes if each lane counts a chunk of its own (the strategy `per_thread`).
    """
    return p.work_group if p.serial and p.subgroup == 1 else 1


OTHER = Binding(role="scratch")


def values_binding(p: Tile, halves: int = 1) -> Binding:
    """Return the binding of the second buffer of values, which follows the second buffer of keys in scratch.

    halves: 1, or 2 if each second buffer has room for 2 n keys or values (`Tile.halves`).
    """
    return Binding(role="scratch", per_n=halves * p.key.bytes)


def words_binding(p: Tile, halves: int = 1) -> Binding:
    """Return the binding of the regions (`words`), which follow the second buffers of keys and values in scratch.

    halves: as in `values_binding`.
    """
    return Binding(role="scratch", per_n=halves * (p.key.bytes + p.signature.value_bytes), plus=_slack(p))


def table_binding(p: Tile) -> Binding:
    """Return the binding of the table of 64-bit counts, for kernels with 64-bit indices.

    The table begins 64 KiB after the start of the regions (`words`), which take less than 64 KiB.
    """
    return Binding(role="scratch", per_n=p.key.bytes + p.signature.value_bytes, plus=65536 + _slack(p))


def _slack(p: Tile) -> int:
    """Return the bytes that the alignment of the second buffer of values to 1024 bytes may cost."""
    return 1024 if p.valued else 0


def scratch(p: Tile) -> Scratch:
    """Return the rules for the size of scratch, each for a range of counts.

    Scratch holds the second buffers of keys and values, the regions of fixed size, and a table.  The table has a word
    for each value of the digit: the counts of each work-group or, with look-back, the states of each tile in a launch.
    """
    fixed = 4 * words(p).tile_states.start
    row = 4 * (p.radix * columns(p) + p.counter_words)
    if p.index64:
        fixed, row = 65536 + 8 * p.radix, 2 * row
    # only in the strategy `per_thread`, the launch for counts up to `alone` needs the second buffers, too
    least = 0 if p.serial else p.alone
    plus, item = fixed + 1024 + _slack(p), p.key.bytes + p.signature.value_bytes
    rule = ScratchRule(min_n=least, plus=plus, per_n=item, unit=p.tile, per_unit=row, units=p.groups)
    mean = p.room.mean if p.room else None
    # there are up to 2 n / mean buckets; twice as many if a sample chooses which bits of a key are its bucket's number
    buckets = replace(rule, plus=plus + 4, unit=mean or 1, per_unit=p.room.bucket_bytes if p.room else 24)
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
    """Return the rules for the size of scratch, for a sort whose passes use look-back.

    rule: the rule for a table with a row for each work-group.
    buckets: the rule for a list with `room.bucket_bytes` bytes for every `room.mean` keys.
    """
    least, row = rule.min_n, rule.per_unit
    mean, pieces = (p.room.mean, p.room.pieces) if p.room else (None, None)
    several, top = portions.count(p), min(portions.whole(p), greatest(p))
    rules = [replace(rule, max_n=top, units=top // p.tile + 1)]
    if top < greatest(p):
        unit = several * p.tile
        rules.append(replace(rule, min_n=max(top, least), unit=unit, units=greatest(p) // unit + 1))
        if p.signature.device_count:  # n is the capacity: if the count is up to `top`, a pass still has one portion
            rules.append(
                replace(
                    rule, min_n=max(top, least), plus=rule.plus + row * -(-top // p.tile), unit=1, per_unit=0, units=0
                )
            )
        if not p.forward_progress:  # retries of passes by reduce-scan need a table of counts
            rules.append(replace(rule, min_n=max(top, least), units=portions.counted_groups(p)))
    if mean:
        rules.append(replace(buckets, units=greatest(p) // mean + 1))
    # in place of tile states, starts, ends and list entries of pieces of buckets take 96 bytes for every `unit` keys;
    # if tile states take more bytes, pieces need no rule
    unit, most = pieces or (0, 0)
    if unit and 96 * p.tile * (several if top < most else 1) > unit * row:
        rules.append(replace(buckets, unit=unit, per_unit=96, units=most // unit))
    return rules


def device_status(p: Tile) -> DeviceStatus | None:
    """Return where in scratch the host finds a failure flag for each pass; None if no pass can fail.

    A pass fails if a look-back in it gives up.  Reduce-scan then repeats the pass.
    """
    if not p.looks_back or p.forward_progress:
        return None
    return DeviceStatus(binding=words_binding(p), words=len(p.digits), min_n=p.alone)


MAX_N = portions.COUNTED  # kernels count in signed 32-bit numbers
MAX_WIDE = 1 << 40


def greatest(p: Tile) -> int:
    """Return the greatest count that kernels with 32-bit indices support.

    The count is below 2^31 by a margin.  A work-group draws tiles until the first key of its tile has an index of n or
    more.  The index must be below 2^31 too, and exceeds n by at most one tile for each work-group.
    """
    return max(MAX_N, (1 << 31) - (p.groups + 2) * p.tile) if portions.halved(p) else MAX_N


def max_n(p: Tile) -> int:
    """Return the greatest count that the sort supports.

    Two facts limit the count: a work-group counts its keys in 32 bits, and kernels index words of scratch by signed
    32-bit numbers.
    """
    if p.index64:
        most = 1 << 32 if p.signature.value == "index" else MAX_WIDE
        return min(most, p.groups * ((1 << 32) // p.tile - 1) * p.tile)
    # the number of tiles whose rows in the table can be indexed by signed 32-bit numbers
    rows = ((1 << 31) - 1 - words(p).tile_states.start) // (p.radix * columns(p))
    return min(greatest(p), rows * p.tile) if p.looks_back or p.most_groups > rows else MAX_N
