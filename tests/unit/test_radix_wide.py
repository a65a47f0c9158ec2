"""Hybrid sorts of 2^30 keys and more, whose rows the numpy model executes at small counts.

Buckets alone sort even keys; passes that wait for no tile sort the others, and bit ranges.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hybrid_keys import SMALL, kinds, play
from models.radix import key_buckets as bucket_model
from models.radix import model
from models.radix.memory import Fault
from radix_shapes import shape
from sorts import sort_by, survivors
from steps import changed

from hsgen.algorithms import radix
from hsgen.algorithms.radix import hybrid, portions
from hsgen.algorithms.radix.hybrid import Hybrid, buckets, pairs
from hsgen.algorithms.radix.hybrid.key_buckets import KeyBuckets
from hsgen.algorithms.radix.words import MAX_N, max_n
from hsgen.core.interpreter import Options, launches, offset
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.plan import Plan
from hsgen.core.sort import Sort
from hsgen.targets import target
from hsgen.tools.validate.cases import around

TOP = 1 << 32


def wide(key: str = "u32", signature: Signature = PLAIN, **values: Any) -> tuple[Hybrid, Sort]:
    """Return the shape and the sort by kernels with 64-bit indices alone."""
    p = shape(key, **{**SMALL, "large": True, **values})
    assert isinstance(p, Hybrid)
    p = hybrid.large(replace(p, signature=signature))
    return p, sort_by("radix", p, signature)


def counts(p: Hybrid) -> list[int]:
    return sorted({*around(KeyBuckets(p).test_counts(), 2000), 1, p.tile, 555})


@pytest.mark.parametrize("key", ["u32", "u64"])
def test_every_kind_is_sorted(key: str) -> None:
    p, sort = wide(key)
    rng = np.random.default_rng(1)
    assert all(k.index64 for k in sort.kernels)
    for n in counts(p):
        for _, keys in kinds(rng, p, n):
            for in_place in (False, True):
                play(sort, sort.plan, keys, in_place=in_place)


def test_buckets_alone_sort_even_keys() -> None:
    p, sort = wide()
    own = [s for s in sort.plan.steps if s.kernel.removesuffix("_wide") in bucket_model.KERNELS]
    rng = np.random.default_rng(2)
    for n in [n for n in counts(p) if n > buckets.least(p)]:
        for what, keys in kinds(rng, p, n):
            if what in ("even", "crowded places"):
                play(sort, replace(sort.plan, steps=tuple(own)), keys, in_place=bool(n % 2))


def test_bit_ranges_are_sorted_by_passes() -> None:
    p, sort = wide("u32", Signature(bit_range=True, key_transform=True))
    rng = np.random.default_rng(3)
    for n in [n for n in counts(p) if n > buckets.least(p)][::3]:
        for begin, end in ((0, None), (1, None), (0, 31), (5, 5)):
            for what, keys in kinds(rng, p, n):
                if what in ("even", "second digit", "all equal"):
                    play(sort, sort.plan, keys, in_place=bool(n % 2), how=Options(begin=begin, end=end))


def test_a_row_that_is_missing_or_wrong_is_noticed() -> None:
    p, sort = wide(groups=500)
    rng, found = np.random.default_rng(4), [n for n in counts(p) if n > buckets.least(p)]
    revealing = ("even", "first digit", "crowded places, some bits", "all equal")
    inputs = [keys for n in found for what, keys in kinds(rng, p, n) if what in revealing]

    def check(plan: Plan) -> None:
        for keys in inputs:
            play(sort, plan, keys, in_place=bool(len(keys) % 2))

    mutants = []
    for i, step in enumerate(sort.plan.steps):
        if step.guard.min_n >= max(found) or step.kernel == "partition_begin_wide":
            continue  # buckets that no count of this test uses; the model starts with cleared counts
        rows = {"dropped": [], "runs too late": [changed(step, min_n=max(step.guard.min_n, buckets.least(p)) + 3)]}
        if step.kernel == "copy_wide":
            del rows["runs too late"]  # so few keys fit buckets, of any kind
        for what, row in rows.items():
            steps = (*sort.plan.steps[:i], *row, *sort.plan.steps[i + 1 :])
            mutants.append((f"{i} {step.kernel}: {what}", replace(sort.plan, steps=steps)))
    check(sort.plan)
    tried, survived = survivors(mutants, check, Fault)
    assert tried > 20 and survived == [], survived


@pytest.mark.parametrize(("name", "key"), [("nvidia-hopper", "u32"), ("nvidia-hopper", "u64"), ("nvidia-sm90", "u32")])
def test_counts_that_32_bits_do_not_index_go_to_wide_buckets_before_passes(name: str, key: str) -> None:
    sort = target.find(name).sort("radix", key)
    p = next(x.params for x in sort.parts if isinstance(x.params, Hybrid) and x.params.large)
    own, narrow = hybrid.large(p), min(max_n(p), buckets.most(p))
    assert buckets.most(own) == (TOP if own.counted else min(buckets.limit(own) << 20, TOP))
    unused, ends = (
        (("bucket", "bucket_rest"), "bucket_count_wide") if own.counted else (("bucket_count",), "bucket_wide")
    )
    assert not any(sort.kernel(x.step.kernel).index64 for x in launches(sort.plan, narrow, in_place=False))
    for n in (narrow + 1, (1 << 31) - 1, TOP - 1, TOP, TOP + 1):
        rows = list(launches(sort.plan, n, in_place=False))
        names = [x.step.kernel for x in rows]
        assert names and all(sort.kernel(k).index64 for k in names)
        tried = n <= buckets.most(own)
        assert [k.removesuffix("_wide") for k in names if k.removesuffix("_wide") in bucket_model.KERNELS] == (
            [k for k in bucket_model.KERNELS if k not in unused] if tried else []
        )
        many = [x.groups for x in rows if x.step.kernel == ends]
        assert many == ([1 << sum(buckets.widths(own, n))] if tried else [])
        at = 4 * sum(size for _, size, _ in own.room.regions) + 12 * (1 << sum(buckets.widths(own, n))) if tried else 0
        words = next(b for b in rows[0].step.bindings if b.role == "scratch")
        assert offset(words, n) + at <= sort.plan.scratch.bytes(n)


@pytest.mark.parametrize("key", ["u32", "u64"])
def test_passes_over_2_to_the_30_pairs_and_more_have_portions_that_states_can_count(key: str) -> None:
    sort = target.find("nvidia-hopper").sort("auto", key, Signature(value="v4"))
    parts = [x.params for x in sort.parts if isinstance(x.params, Hybrid)]
    p = max(parts, key=pairs.least)
    assert pairs.most(p) > 1 << 30 and max_n(p) > 2_000_000_000
    for n in (MAX_N - 1, MAX_N, MAX_N + 1, pairs.most(p), pairs.most(p) + 1, max_n(p)):
        rows = list(launches(sort.plan, n, in_place=False))
        assert not any(sort.kernel(x.step.kernel).index64 for x in rows), n
        assert any(x.step.kernel.startswith("pair_bucket") for x in rows) == (n <= pairs.most(p)), n
        sweeps = [x for x in rows if x.step.kernel.startswith("onesweep")]
        several = portions.count(p) if n > MAX_N else 1
        assert len(sweeps) == len(p.digits) * several and portions.count(p) == 2
        if several > 1:
            assert {x.groups for x in sweeps} == {-(-n // (2 * p.tile))} and sweeps[0].groups * p.tile <= 1 << 30
        assert sort.plan.scratch.bytes(n) >= n * (p.key.bytes + 4) + 4 * p.radix * -(-n // (several * p.tile))
        assert n + (p.groups + 1) * p.tile < 1 << 31 or n <= MAX_N, "an index would exceed 32 bits"
    assert all(sort.kernel(x.step.kernel).index64 for x in launches(sort.plan, max_n(p) + 1, in_place=False))


def test_tiles_leave_room_for_the_counters_of_wider_digits() -> None:
    for key in ("u32", "u64"):
        sort = target.find("nvidia-hopper").sort("radix", key)
        size = {k.name: k.local_bytes(sort.key) for k in sort.kernels}
        assert (
            size["first_partition_wide"] <= size["first_partition"]
            and size["second_partition_wide"] <= size["second_partition"]
        )


def test_the_model_runs_the_rows_of_large_counts() -> None:
    """As one plan with those of other counts, from a bound that a test lowers."""
    p, sort = wide()
    assert model.run(p, sort.plan, np.arange(300, dtype=np.uint32)).keys.tolist() == list(range(300))
    assert {k.name for k in radix.kernels(p)} == {k.name for k in sort.kernels}
