"""Kernels of the strategy `partition`, which partitions keys into buckets and sorts each bucket on chip."""

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
_KERNELS = f"{_FOLDER}partition"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(Body):
    """The data of the kernels that partition the keys.

    fold: the constant `FOLD`: above this number of work-groups, a separate launch scans their histograms.
    columns: the number of digit values whose counts one work-group of that launch scans.
    """

    fold: int
    columns: int


_PARTITIONED = replace(OTHER, read_only=True)


def count(p: Partition) -> Kernel:
    """Return the kernel in which each work-group stores a histogram of the highest digit of its keys."""
    summary = "count the highest digit of the keys of each work-group"
    kernel = plain(
        p, "partition_count", summary, (SOURCE, WORDS), (word_array("counts", p.radix),), template=f"{_KERNELS}:count"
    )
    return replace(kernel, data=_scan(p), scratch=words(p))


def scan(p: Partition) -> Kernel:
    """Return the kernel that replaces the histograms by prefixes over work-groups, if there are more than `FOLD`."""
    summary = "scan the counts of some digits over all work-groups"
    kernel = plain(
        p, "partition_scan", summary, (WORDS,), (word_array("sums", p.work_group),), template=f"{_KERNELS}:scan"
    )
    return replace(kernel, data=_scan(p), scratch=words(p))


def partition(p: Partition) -> Kernel:
    """Return the kernel that moves the keys from the source to their buckets in the buffer `other`.

    The kernel moves no key if a bucket would get more keys than a work-group holds.
    """
    summary = "partition keys by their highest digit, unless a bucket would exceed what a work-group holds"
    arrays, template = (word_array("bases", p.radix),), f"{_KERNELS}:partition"
    kernel = ranking(p, "partition_scatter", summary, moving(p, *ALL), arrays, template=template)
    return picking(replace(kernel, data=_scan(p), scratch=words(p)))


def _scan(p: Partition) -> Scan:
    return Scan(ranker=rankers.template(p.ranker), fold=FOLD, columns=columns(p))


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketSort(OnChip):
    """The data of the kernel that sorts buckets.

    chip: the parameters with which a work-group sorts a bucket with crowded bins, digit by digit on chip.
    """

    chip: Partition


def bucket(p: Partition) -> Kernel:
    """Return the kernel that sorts each bucket on chip, from the buffer `other` to the destination."""
    shape, ranked = present(p.bucket), rank_arrays(chip(p))
    kind = "pairs" if p.whole_words else "wide_pairs" if p.valued else "keys"
    keys = Array(name="tile", type="key", count=capacity(p))
    kernel = plain(
        p,
        "partition_bucket",
        f"sort a bucket of up to {capacity(p)} keys on chip",
        (_PARTITIONED, DESTINATION, WORDS, *((replace(VALUES_TMP, read_only=True), VALUES_OUT) if p.valued else ())),
        (keys, *(a for a in ranked if a.name != "tile"), *bin_sort.arrays(shape, p.subgroup)),
        template=f"{_FOLDER}bucket_sort:{kind}",
    )
    return replace(
        bin_sort.with_room(kernel),
        work_group=shape.work_group,
        subgroup=p.subgroup,
        ballot=p.ranker == "match_ballot",
        data=BucketSort(bins=_bins(p), chip=chip(p)),
        scratch=words(p),
    )


def _bins(p: Partition) -> BinSort:
    """Return the parameters of the sort by bins of a bucket, which is stable if the sort has values."""
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
    """Return the kernel that sorts uneven keys, by passes with look-back over all digits in one launch."""

    def shared(b: Buffer) -> Buffer:
        return b if b in (SOURCE, VALUES_IN) else replace(b, coherent=DEVICE)

    summary = "sort keys that buckets do not hold, by passes over all digits in one launch"
    more, q = (word_array("bases", p.radix), word_array("drawn", 2)), passing(p)
    kernel = picking(
        ranking(q, "partition_rest", summary, moving(p, *ALL), more, template=f"{_FOLDER}fallback:fallback")
    )
    room = len(p.digits) * p.radix
    arrays = tuple(replace(a, count=max(a.count, room)) if a.name == "counts" else a for a in kernel.arrays)
    return replace(
        kernel,
        scratch=words(p),
        buffers=tuple(shared(b) for b in kernel.buffers),
        arrays=arrays,
    )


def kernels(p: Partition) -> tuple[Kernel, ...]:
    """Return every kernel, in the order of their launches."""
    alone = [single.kernel(single.of(p))] if p.alone else []
    return (*alone, count(p), *((scan(p), partition(p), bucket(p)) if p.partitioned else ()), fallback(p))
