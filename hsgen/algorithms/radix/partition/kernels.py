"""Kernels of a sort that partitions keys into buckets."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, OTHER, SOURCE, VALUES_IN, VALUES_OUT, VALUES_TMP, word_array
from hsgen.algorithms.radix import bin_sort, rankers, single
from hsgen.algorithms.radix.bin_sort import BinSort, OnChip, StableBinSort
from hsgen.algorithms.radix.partition.params import FOLD, Partition, capacity, chip, columns, passing, words
from hsgen.algorithms.radix.parts import ALL, WORDS, Body, moving, picking, plain, ranking
from hsgen.algorithms.radix.rankers import rank_arrays
from hsgen.algorithms.radix.stages import present
from hsgen.core.buffers import DEVICE, Array, Buffer
from hsgen.core.kernels import Kernel

_FOLDER = "radix/partition/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(Body):
    """How the histograms of work-groups are scanned.

    fold: the most work-groups whose histograms each of them sums by itself.  columns: the digits of a work-group that
    scans those of more.
    """

    fold: int
    columns: int


_KEPT = replace(OTHER, read_only=True)


def count(p: Partition) -> Kernel:
    """Return the kernel that counts the highest digit."""
    what = "count the highest digit of the keys of each work-group"
    made = plain(p, "partition_count", what, (SOURCE, WORDS), (word_array("counts", p.radix),), folder=_FOLDER)
    return replace(made, template=f"{_FOLDER}partition:count", data=_scan(p), scratch=words(p))


def scan(p: Partition) -> Kernel:
    """Return the kernel that scans the histograms of many work-groups."""
    what = "scan the counts of some digits over all work-groups"
    made = plain(p, "partition_scan", what, (WORDS,), (word_array("sums", p.work_group),), folder=_FOLDER)
    return replace(made, template=f"{_FOLDER}partition:scan", data=_scan(p), scratch=words(p))


def partition(p: Partition) -> Kernel:
    """Return the kernel that partitions the keys, from the source to `other`."""
    what = "partition keys by their highest digit, unless a bucket would exceed what a work-group holds"
    made = ranking(p, "partition_deal", what, moving(p, *ALL), (word_array("bases", p.radix),), folder=_FOLDER)
    return picking(replace(made, template=f"{_FOLDER}partition:partition", data=_scan(p), scratch=words(p)))


def _scan(p: Partition) -> Scan:
    return Scan(ranker=rankers.template(p.ranker), fold=FOLD, columns=columns(p))


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketSort(OnChip):
    """Facts for the template of the kernel that sorts buckets: the shape in which a crowded bucket is sorted digit by
    digit."""

    chip: Partition


def bucket(p: Partition) -> Kernel:
    """Return the kernel that sorts each bucket on chip, from `other` to the destination."""
    shape, ranked = present(p.bucket), rank_arrays(chip(p))
    keys = Array(name="tile", type="key", count=capacity(p))
    made = plain(
        p,
        "partition_bucket",
        f"sort a bucket of up to {capacity(p)} keys on chip",
        (_KEPT, DESTINATION, WORDS, *((replace(VALUES_TMP, read_only=True), VALUES_OUT) if p.valued else ())),
        (keys, *(a for a in ranked if a.name != "tile"), *bin_sort.arrays(shape, p.subgroup)),
    )
    kind = "pairs" if p.whole_words else "wide_pairs" if p.valued else "keys"
    return replace(
        bin_sort.with_room(made),
        template=f"{_FOLDER}bucket_sort:{kind}",
        work_group=shape.work_group,
        subgroup=p.subgroup,
        ballot=p.ranker == "match_ballot",
        data=BucketSort(bins=_bins(p), chip=chip(p)),
        scratch=words(p),
    )


def _bins(p: Partition) -> BinSort:
    """The sort by bins of a bucket: stable with values."""
    if not p.valued:
        return BinSort(shape=present(p.bucket), subgroup=p.subgroup, key=p.key, load="at_once")
    return StableBinSort(
        shape=present(p.bucket),
        subgroup=p.subgroup,
        key=p.key,
        load="pairs_in_lanes" if p.whole_words else "clamped",
        store="by_bin" if p.whole_words else "directly",
    )


def fallback(p: Partition) -> Kernel:
    """Return the kernel that does all passes, where buckets do not hold the keys."""

    def shared(b: Buffer) -> Buffer:
        return b if b in (SOURCE, VALUES_IN) else replace(b, coherent=DEVICE)

    what = "sort keys that buckets do not hold, by passes over all digits in one launch"
    more, q = (word_array("bases", p.radix), word_array("drawn", 2)), passing(p)
    made = picking(ranking(q, "partition_rest", what, moving(p, *ALL), more, folder=_FOLDER))
    room = len(p.digits) * p.radix
    arrays = tuple(replace(a, count=max(a.count, room)) if a.name == "counts" else a for a in made.arrays)
    return replace(
        made,
        template=f"{_FOLDER}fallback:fallback",
        scratch=words(p),
        buffers=tuple(shared(b) for b in made.buffers),
        arrays=arrays,
    )


def kernels(p: Partition) -> tuple[Kernel, ...]:
    """Return every kernel, in the order in which a sort uses them."""
    made = [single.kernel(single.of(p))] if p.alone else []
    return (*made, count(p), *((scan(p), partition(p), bucket(p)) if p.dealt else ()), fallback(p))
