"""The kernels that partition the pairs of a group-by, and the variables of their templates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from hsgen.algorithms.buffers import DESTINATION, SOURCE, word_array
from hsgen.algorithms.group_by import few, pair_partition
from hsgen.algorithms.group_by.kernels import DEALS, FEW, PAIR_PARTITION, TABLES
from hsgen.algorithms.group_by.pair_partition import PairPartition
from hsgen.algorithms.radix import bin_sort
from hsgen.algorithms.radix.bin_sort import BinSort, Crowd, OnChip
from hsgen.algorithms.radix.partition.kernels import fallback as all_passes
from hsgen.algorithms.radix.partition.params import words as rest_words
from hsgen.algorithms.radix.parts import sums
from hsgen.algorithms.radix.stages import Bucket
from hsgen.algorithms.reduce_by_key.kernels import COUNTS, FIRSTS, REPORT, VALUES_IN, VALUES_OUT
from hsgen.core.buffers import GROUP, Array, Buffer
from hsgen.core.kernels import Kernel

PAIRS, AGAIN = Buffer(name="pairs", type="pair"), Buffer(name="again", type="pair")
REST = Buffer(name="rest", type="u32")
_RESIDENT = {"digit_tables": 2, "pairs_again": 2}  # work-groups that a core must hold at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """The choice of code for the kernels (see `hsgen.core.kernels.VARIANT`).

    passes: whether pairs may go through buckets, with the launch `pairs_rest` if a bucket is too large.
    """

    passes: str


def tables(p: PairPartition) -> tuple[Kernel, ...]:
    """Return the kernels up to the one with hash tables, in launch order; they partition pairs by the first digit."""
    s, full = p.shape, word_array("full", 4)
    count = word_array("counts", 1 << s.digits.bits)
    deal = (PAIRS, FEW, DEALS)
    rest = (REST,) if p.rest else ()
    local = (word_array(name, s.table.slots + 1) for name in ("slots", "sums", "times"))
    order = bin_sort.arrays(_table_bins(p).shape, p.subgroup)
    further = (word_array("totals", s.table.work_group), full, word_array("drawn", 1), *order)
    reduced = replace(PAIRS, read_only=True), DESTINATION, VALUES_OUT, COUNTS, FIRSTS, REPORT, FEW, DEALS
    starts = (*sums(s.count.work_group, p.subgroup), full)
    return (
        _kernel(p, "pairs_count", "count the pairs of every bucket", s.count.work_group, (SOURCE, FEW, DEALS), count),
        _kernel(
            p,
            "pairs_starts",
            "turn counts into starts; decide what is done",
            s.count.work_group,
            (FEW, replace(DEALS, coherent=GROUP), *rest),
            *starts,
        ),
        _deal(
            p,
            "pairs_deal",
            "partition pairs by the first digit",
            s.deal.work_group,
            s.deal.items,
            1 << s.digits.first,
            (SOURCE, VALUES_IN, *deal),
        ),
        _kernel(
            p,
            "digit_tables",
            "reduce the groups of a value of the first digit in a table",
            s.table.work_group,
            reduced,
            *local,
            *further,
        ),
    )


def buckets(p: PairPartition) -> tuple[Kernel, ...]:
    """Return the kernels that bring the pairs in order if hash tables are not used, in launch order."""
    s = p.shape
    again = (replace(PAIRS, read_only=True), AGAIN, FEW, DEALS)
    digits = 1 << s.digits.bits - s.digits.least
    return (
        _deal(
            p, "pairs_again", "partition pairs by the second digit", s.again.work_group, s.again.items, digits, again
        ),
        _bucket(p),
        *((replace(all_passes(p.rest), name="pairs_rest"),) if p.rest else ()),
    )


def _bucket(p: PairPartition) -> Kernel:
    """Return the kernel that sorts each bucket on chip, by bins.

    If a bin has more keys than an eighth of the greatest bucket, a bitonic network sorts the bucket.  The network is
    faster than a comparison of all keys in the bin with each other.
    """
    bucket = p.shape.bucket
    kernel = _kernel(
        p,
        "pairs_bucket",
        f"sort a bucket of up to {bucket.size} pairs on chip",
        bucket.work_group,
        (replace(AGAIN, read_only=True), DESTINATION, VALUES_OUT, FEW, DEALS),
        Array(name="tile", type="key", count=bucket.size),
        word_array("order", bucket.size),
        *bin_sort.arrays(bucket, p.subgroup),
    )
    crowd = Crowd(limit=bucket.size // 8)
    bins = BinSort(shape=bucket, subgroup=p.subgroup, key=p.key, load="items_clamped", crowd=crowd)
    return bin_sort.with_room(replace(kernel, template="group_by/pairs_bucket:bucket", data=OnChip(bins=bins)))


def _table_bins(p: PairPartition) -> BinSort:
    """Return the parameters of the sort by bins that puts the groups of a hash table in order."""
    table = p.shape.table
    items = (table.groups + table.work_group) // table.work_group
    shape = Bucket(work_group=table.work_group, items=items, bins=table.places)
    return BinSort(shape=shape, subgroup=p.subgroup, key=p.key, load="clamped")


def _deal(
    p: PairPartition, name: str, summary: str, lanes: int, items: int, digits: int, buffers: tuple[Buffer, ...]
) -> Kernel:
    arrays = (word_array("counts", digits), word_array("bases", digits), word_array("tile_value", 1))
    tile = Array(name="tile", type="pair", count=lanes * items)
    kernel = _kernel(p, name, summary, lanes, buffers, tile, *arrays, *sums(lanes, p.subgroup))
    return replace(kernel, data=pair_partition.Tile(lanes=lanes, items=items, digits=digits))


def _kernel(
    p: PairPartition, name: str, summary: str, lanes: int, buffers: tuple[Buffer, ...], *arrays: Array
) -> Kernel:
    summing = name == "digit_tables" or any(a.name == "tops" for a in arrays)
    template = f"{TABLES if name == 'digit_tables' else PAIR_PARTITION}:{name}"
    return Kernel(
        name=name,
        template="group_by/pairs_bucket" if name == "pairs_bucket" else template,
        summary=summary,
        work_group=lanes,
        subgroup=p.subgroup if summing else 1,
        buffers=buffers,
        arrays=arrays,
        resident=_RESIDENT.get(name, 0),
        algorithm="group_by",
        params=p,
        data=Phases(passes=f"{PAIR_PARTITION}.j2:" + ("with_passes" if p.rest else "no_passes")),
        scratch=pair_partition.words(p.shape, p.few),
    )


def context(p: PairPartition) -> dict[str, Any]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    s = p.shape
    ways = {"sorted": pair_partition.SORTED, "tables": pair_partition.TABLES, "buckets": pair_partition.BUCKETS}
    return {
        "few": p.few,
        "deal": s,
        "table": s.table,
        "table_bins": _table_bins(p),
        "EMPTY": few.EMPTY,
        "TRIES": few.TRIES,
        "way": ways,
        "share": pair_partition.SHARE,
        "rest": SimpleNamespace(words=pair_partition.rest_words(p.rest), uneven=rest_words(p.rest).fallback.start)
        if p.rest
        else None,
    }
