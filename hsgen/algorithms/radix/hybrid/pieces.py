"""The stage with a sample: passes by some of the highest digits, then a sort of buckets, or of pieces of buckets.

The stage `pair_buckets` always runs passes by two digits, and passes by all digits if a bucket is too large.  In this
stage, a kernel looks at a sample of the keys to choose the digits of the passes: 2 to 4 of the highest digits in which
keys differ (2 to 5 for pairs), or all digits.

A bucket with more keys than a work-group holds is cut into *pieces*.  A cut lies between adjacent keys that differ in
the digits of the passes.  A *range* is a bucket or a piece.  A work-group sorts a range on chip, by bins.  A range may
have more keys than a work-group holds, or too many keys in a bin.  Then a later launch sorts it in global memory.
The later launch first checks whether the range is in order already, as a range of equal keys is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, VALUES_OUT, word_array
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import rows
from hsgen.algorithms.radix.hybrid import buckets, pair_buckets, pairs
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.hybrid.stage import Stage, launched, numbered
from hsgen.algorithms.radix.parts import ALL, WORDS, moving, picking, ranking
from hsgen.algorithms.radix.rankers import digit_arrays, rank_arrays
from hsgen.core.buffers import GROUP
from hsgen.core.device import Device
from hsgen.core.flags import DIRECT
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Literal, Step, fixed

_GROUPS = 528
"""The most work-groups that sort ranges in global memory."""
AFTER_PASSES = Literal(value=1)
"""The argument of kernels for keys without values, in launches after passes.

The same kernels run after partitions with the argument 0.
"""


def groups(p: Hybrid) -> int:
    """Return the number of work-groups of the launch that sorts ranges in global memory."""
    return min(p.groups, _GROUPS)


def capacity(p: Hybrid) -> int:
    """Return the most keys, with their values, that a work-group holds on chip."""
    return pairs.capacity(p) if p.has_pair_buckets else buckets.capacity(p)


def limit(p: Hybrid) -> int:
    """Return the greatest mean number of keys per bucket, by which kernels choose the number of buckets."""
    return pairs.limit(p) if p.has_pair_buckets else buckets.limit(p)


def most(p: Hybrid) -> int:
    """Return the greatest count for which buckets are tried.  For more keys, two digits would give too few buckets."""
    return limit(p) << pairs.top_bits(p)


def sizes(p: Hybrid) -> int:
    """Return the argument of the kernel `choose`: it holds `limit(p)` and `capacity(p)`.

    The lowest `pairs.SLACK` bits are the limit.  The next five bits say how much the capacity exceeds the limit, in
    128ths of the limit, at most 31.
    """
    return limit(p) | min(31, 128 * (capacity(p) - limit(p)) // limit(p)) << pairs.SLACK


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """The kernels of the stage, in the order of their launches.

    choose: chooses the digits of the passes.
    bounds: finds the first key of each bucket after the passes.
    cut: cuts buckets that are too large into pieces.
    sort: sorts ranges on chip.  For keys without values, this kernel also has a launch after the partitions.
    settle: sorts the remaining ranges in global memory.
    """

    choose: Kernel
    bounds: Kernel
    cut: Kernel
    sort: Kernel
    settle: Kernel


def parts(p: Hybrid) -> Kernels:
    """Return the kernels of this stage."""
    common = replace(pairs.sizes(p), **{**pairs.ABSENT, "groups": groups(p)})
    plan, find = "choose the digits that are passed, and scan the histograms", "find where each bucket begins"
    cut, settle = "cut buckets that are too large", "sort crowded or alike keys in memory, a digit at a time"
    more = (
        word_array("unordered", 1),
        word_array("bases", p.radix),
        word_array("starts", p.radix),
        word_array("differing", p.key.bits // 32),
    )
    tile = replace(p, items=max(1, p.items // 2))  # few ranges exceed half a tile, and lanes do not spill
    kind = "ranges_of_pairs" if p.has_pair_buckets else "ranges_of_keys"
    # a lane loads keys that other lanes have stored for the digit before
    buffers = tuple(b if b.read_only or b == WORDS else replace(b, coherent=GROUP) for b in moving(p, *ALL))
    rest = ranking(tile, "range_sort", settle, buffers, more, template=f"radix/hybrid/range_sort:{kind}")
    *digits, mixed = digit_arrays(p)
    facts = replace(mixed, count=mixed.count + len(p.digits) + p.rounds + 1)
    choose = pairs.kernel(p, common, "ahead_starts", plan, (WORDS,), (*digits, facts), "sampled_passes:choose")
    bounds = pairs.kernel(p, common, "bucket_bounds", find, (DESTINATION, WORDS), (), "sampled_passes:bounds")
    return Kernels(
        choose=replace(choose, subgroup=p.subgroup),
        bounds=replace(bounds, subgroup=p.subgroup, ballot=True),
        cut=pairs.kernel(p, common, "bucket_cuts", cut, (DESTINATION, WORDS), (), "sampled_passes:cut"),
        sort=pairs.on_chip(p, (DESTINATION, VALUES_OUT, WORDS)) if p.has_pair_buckets else _key_sort(p),
        settle=replace(picking(rest), data=common),
    )


def _key_sort(p: Hybrid) -> Kernel:
    """Return the kernel that sorts buckets of keys without values."""
    return buckets.kernels(p, rank_arrays(buckets.rest(p)))[0]


@dataclass(frozen=True, slots=True)
class Pieces(Stage):
    """The stage that chooses the passes before buckets by a sample, and cuts large buckets into pieces."""

    @property
    def span(self) -> tuple[int, int]:
        """(low, high): the stage runs for counts above `low` up to `high`."""
        return (pairs.least(self.p) if self.p.has_pair_buckets else buckets.least(self.p)), most(self.p)

    def kernels(self) -> tuple[Kernel, ...]:
        """Return the kernels in the order of their launches.

        For keys without values, the kernel `sort` is left out, because it is one of the kernels of `KeyBuckets`.
        """
        each, common = parts(self.p), pairs.common(self.p)
        first = (replace(k, common=common) for k in (each.choose, each.bounds, each.cut))
        return (*first, *([each.sort] if self.p.has_pair_buckets else []), replace(each.settle, common=common))

    def steps(self, low: int, high: int) -> tuple[list[Step], list[Step]]:
        """Return the plan rows of this stage before the passes, and those after the passes, as two lists.

        The rows run for counts above `low` up to `high`, in sorts by all bits.
        """
        p = self.p
        each, bound, every = parts(p), rows.bound(p), pairs.bound_groups(p)
        chip = [(0, most(p), fixed(buckets.CHIP))]
        if p.has_pair_buckets:
            chip = numbered(limit(p), pairs.top_bits(p), device_count=p.signature.device_count)
        argument = Literal(value=sizes(p), flags=DIRECT)
        first = rows.launch(each.choose, bound, low, high, fixed(1), argument, part="whole")
        after = launched(each.bounds, bound, [(0, most(p), fixed(groups(p)))], low, high)
        after += launched(each.cut, bound, [(0, most(p), fixed(2 * every))], low, high)
        after += launched(each.sort, bound, chip, low, high)
        after += launched(each.settle, bound, [(0, most(p), fixed(groups(p)))], low, high)
        return [first], after if p.has_pair_buckets else [replace(s, argument=AFTER_PASSES) for s in after]

    def after_partitions(self, high: int) -> list[Step]:
        """Return the plan row of the kernel `settle` that sorts buckets with crowded bins after partitions."""
        low, high = buckets.least(self.p), min(high, buckets.most(self.p))
        return launched(parts(self.p).settle, rows.bound(self.p), [(0, high, fixed(groups(self.p)))], low, high)

    def moved(self, step: Step, n: int) -> int | None:
        """Return the bytes that a launch moves for `n` keys, if every bucket after two digits fits a work-group.

        In that case, partitions and buckets have sorted keys without values before this stage.  The launches of this
        stage then move 0 bytes.
        """
        p, count = self.p, 1 << pairs.bits(self.p, n) if self.p.has_pair_buckets else 0
        if not p.has_pair_buckets:
            names = {k.name for k in self.kernels()}
            return 0 if step.kernel in names or step.argument == AFTER_PASSES else None
        if not self.serves(n):
            return None
        if step.pass_number is not None and step.pass_number < len(p.digits) - 2:
            return 0
        bytes_of = {
            "ahead_starts": 8 * len(p.digits) * p.radix,
            "bucket_bounds": 4 * count,
            "bucket_cuts": 0,
            "pair_bucket": 2 * n * (p.key.bytes + p.signature.value_bytes) + 4 * count,
            "range_sort": 0,
        }
        return bytes_of.get(step.kernel)

    def test_counts(self) -> Iterator[int]:
        """Yield the test counts for buckets of pairs.  `KeyBuckets` yields those for keys without values."""
        yield from pair_buckets.test_counts(self.p) if self.p.has_pair_buckets else ()

    def problems(self, device: Device) -> Iterator[Problem]:
        """Yield the problems of `p.sample` on a device; none if there is no sample."""
        p = self.p
        if not p.sample:
            return
        stages = (("bucket.items", p.bucket), ("pair_bucket.items", p.pair_bucket))
        sizes = [(name, stage.limit) for name, stage in stages if stage]
        if p.sample & p.sample - 1:
            problem = f"{p.sample} keys are numbered by some bits of a hash, and are no power of two"
            yield "sample", problem, f"give {1 << p.sample.bit_length() - 1}"
        elif p.waitless or not sizes:
            yield "sample", "no look-back follows buckets" if p.waitless else "there are no buckets", "leave it out"
        elif 32 % p.bits or p.key.bits % p.bits:
            yield "sample", f"digits of {p.bits} bits lie across words of keys", "leave it out, or give 8 bits"
        elif p.sorted_exit:
            yield "sample", "keys in order are found in another way", "leave it out, or sorted_exit"
        elif p.key.bits == 64 and p.has_key_buckets and not device.int64:
            yield "sample", "keys of 64 bits are subtracted from each other", "leave it out"
        elif p.ranker != "match_ballot":
            yield "sample", "lanes that sort in memory vote", 'leave it out, or give the ranker "match_ballot"'
        else:
            for field, size in sizes:
                if size >> pairs.SLACK:
                    yield field, f"buckets of {size} keys are too large for a sample", "give fewer"
