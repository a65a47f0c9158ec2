"""Groupings that partition pairs into buckets: when steps run, the room of buffers, and the numbers of buckets."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsgen.algorithms import group_by
from hsgen.algorithms.group_by import pair_partition, pair_partition_plan
from hsgen.algorithms.group_by.pair_partition import PairPartition
from hsgen.algorithms.radix.partition.params import words as rest_words
from hsgen.core.flags import FLOAT_SUM, REDUCTION_MASK
from hsgen.core.interpreter import Options, launches, offset
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.operations.reduce_by_key import COUNTS, FIRSTS, REDUCTIONS, VALUE_TYPES, number
from hsgen.targets import target

UNIT = 1024  # bytes
ROUNDED = Options(reduction=FLOAT_SUM)
TABLES = ["pairs_count", "pairs_starts", "pairs_deal", "digit_tables"]
BUCKETS = ["pairs_again", "pairs_bucket", "pairs_rest"]


@cache
def grouping() -> tuple[Sort, PairPartition]:
    """That of the target whose pairs are partitioned, and its parameters."""
    whole = target.find("nvidia-hopper").sort("group_by", "u32", Signature(value="v4"))
    return whole, next(k.params for k in whole.kernels if isinstance(k.params, PairPartition))


def run(n: int, how: Options = Options()) -> list[str]:  # noqa: B008
    """The kernels of a call between those of few groups and the reduction, in order."""
    found = launches(grouping()[0].plan, n, in_place=False, how=how)
    names = [x.step.kernel for x in found]
    return [name for name in names if not name.startswith(("few_", "reduce_"))]


def test_floats_are_summed_by_one_number() -> None:
    """Which is the only reduction that depends on the order of values; what is stored does not matter."""
    for reduction in REDUCTIONS:
        for value in VALUE_TYPES:
            for stored in (0, COUNTS, FIRSTS, COUNTS | FIRSTS):
                is_sum = (number(reduction, value) | stored) & REDUCTION_MASK == FLOAT_SUM
                assert is_sum == ((reduction, value) == ("sum", "f32"))


def test_ways_by_count() -> None:
    """Tables ahead of the sort of few pairs; then buckets, except for sums of floats; then the sort."""
    _, p = grouping()
    few, above, most = p.few.least, p.above, p.shape.most
    assert 0 < few < above < most
    for n in (1, few):
        assert run(n) == run(n, ROUNDED) and not [x for x in run(n) if x.startswith(("pairs_", "digit_"))]
    for n in (few + 1, above):
        assert run(n) == TABLES + run(n, ROUNDED) and run(n, ROUNDED)
    for n in (above + 1, 1 << 24, most):
        assert run(n) == TABLES + BUCKETS
        assert run(n, ROUNDED) and not [x for x in run(n, ROUNDED) if x.startswith(("pairs_", "digit_"))]
    assert run(most + 1) == run(most + 1, ROUNDED)


def number_bits(s: pair_partition.Shape, n: int) -> int:
    """The bits that number buckets, as templates/group_by/pair_partition.j2 has them."""
    return max(s.digits.least, next(b for b in range(32) if (n - 1) >> b < s.bucket.limit))


@pytest.mark.parametrize("n", [1 << 21, (1 << 21) + 1, 4160 << 9, (1 << 24) + 77, 4160 << 15])
def test_grids_and_bits_suffice(n: int) -> None:
    """Every bucket and every tile has a work-group, for any keys."""
    whole, p = grouping()
    s = p.shape
    bits = number_bits(s, n)
    assert bits <= s.digits.bits and n <= s.bucket.limit << bits
    groups = {x.step.kernel: x.groups for x in launches(whole.plan, n, in_place=False)}
    assert groups["pairs_deal"] * s.deal.size >= n
    if n > p.above:
        again = s.again.size
        assert groups["pairs_bucket"] >= 1 << bits
        assert groups["pairs_again"] >= (n - (1 << s.digits.least)) // again + (1 << s.digits.least), (
            "a tile more for each value"
        )
        assert p.shape.bucket.size > s.bucket.limit


def test_buckets_of_all_counts_have_work_groups() -> None:
    """Where there are least of them, too, and around each count with one bit more."""
    _, p = grouping()
    s = p.shape
    for above in (1, s.bucket.limit << 3, p.above):
        some = PairPartition(
            key=p.key, signature=p.signature, shape=s, few=p.few, above=above, rest=p.rest, subgroup=32
        )
        (step,) = [x for x in pair_partition_plan.steps(some, s.most, *_arrays()) if x.kernel == "pairs_bucket"]
        for n in sorted(
            {
                above + 1,
                *(x for b in range(s.digits.bits + 1) for x in (s.bucket.limit << b, (s.bucket.limit << b) + 1)),
            }
        ):
            if above < n <= s.most:
                bits = number_bits(s, n)
                assert step.grid.groups(n) >= 1 << bits, (above, n)


def _arrays() -> tuple[Any, Any]:
    whole, _ = grouping()
    (step,) = [s for s in whole.plan.steps if s.kernel == "pairs_bucket"]
    names = [b.name for b in whole.kernel("pairs_bucket").buffers]
    return step.bindings[names.index("destination")], step.bindings[names.index("values_out")]


@pytest.mark.parametrize("n", [(1 << 21) + 1, (1 << 24) + 77, 4160 << 15])
def test_buffers_do_not_overlap(n: int) -> None:
    """Except where pairs are partitioned first, which is where they are sorted at last, and the buckets, which are the
    second buffers of the passes."""
    whole, p = grouping()
    room = {}
    for step in whole.plan.steps:
        if step.kernel.startswith(("pairs_", "digit_")):
            for buffer, binding in zip(whole.kernel(step.kernel).buffers, step.bindings, strict=True):
                if binding.role == "scratch":
                    assert room.setdefault(buffer.name, offset(binding, n)) == offset(binding, n)
    keys, pairs, again, end = room["destination"], room["pairs"], room["again"], whole.plan.scratch.bytes(n)
    assert room["few"] == 0 and p.few.bytes <= room["deals"]
    assert room["deals"] + 4 * pair_partition.words_count(p.shape) <= keys == pairs
    assert keys + 4 * n <= room["values_out"] and room["values_out"] + 4 * n <= again and pairs + 8 * n <= again
    assert again == room["other"] and again + 4 * n <= room["values_tmp"] and room["values_tmp"] + 4 * n <= room["rest"]
    assert again + 8 * n <= room["rest"] == room["words"]
    assert p.rest is not None
    states = -(-n // p.rest.tile) * p.rest.radix
    assert room["rest"] + 4 * (rest_words(p.rest).tile_states.start + states) <= end
    assert (1 << p.shape.digits.first) <= 3 * (p.few.slots + 1), "states of values are where the table of few groups is"


def numbers(keys: Any, one: int, width: int, bits: int) -> Any:
    """The numbers of the buckets of keys, as templates/group_by/pair_partition.j2 has them."""
    span = (1 << width) - 1
    low = np.uint64(one & ~span & 0xFFFFFFFF)
    return np.minimum(np.where(keys < low, 0, keys - np.minimum(keys, low)), np.uint64(span)) >> np.uint64(
        max(width - bits, 0)
    )


@given(
    one=st.integers(0, 2**32 - 1),
    width=st.integers(0, 32),
    bits=st.integers(8, 15),
    keys=st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=50),
)
def test_buckets_are_in_the_order_of_keys_whatever_the_sample(one: int, width: int, bits: int, keys: list[int]) -> None:
    found = numbers(np.sort(np.array(keys, np.uint64)), one, width, bits)
    assert (np.diff(found.astype(np.int64)) >= 0).all() and found.max() < 1 << bits


def test_samples_that_have_tables() -> None:
    """The fewer groups, the narrower is the first digit; twice as many equal keys are half as many groups."""
    s = grouping()[1].shape
    for sample in (s.sample.keys, s.sample.fewer):
        some = [s.equal(bits, sample) for bits in range(s.digits.least, s.digits.first + 1)]
        assert some == sorted(some, reverse=True) and some[-1] >= 2
        groups = sample**2 / (2 * some[0])
        assert groups <= s.table.slots // 4 << s.digits.least


def test_a_sort_without_buckets_of_pairs_has_tables_alone() -> None:
    """Then its steps run for all reductions of every count."""
    text = (Path(target.__file__).parents[2] / "targets/nvidia-hopper.toml").read_text(encoding="utf-8")
    plain = re.sub(r"(?m)^(pair_bucket|sample).*\n", "", text).replace('"nvidia-hopper"', '"plain"')
    whole = target.parse(plain, "plain", "plain.toml").sort("group_by", "u32", Signature(value="v4"))
    (dealing,) = {k.params for k in whole.kernels if isinstance(k.params, PairPartition)}
    assert dealing.rest is None and not dealing.bucketed
    for n in (1 << 17, 1 << 21, (1 << 21) + 1, 1 << 24, 1 << 28):
        found = [
            [x.step.kernel for x in launches(whole.plan, n, in_place=False, how=how)] for how in (Options(), ROUNDED)
        ]
        sorting = [[k for k in names if not k.startswith(("few_", "pairs_", "digit_"))] for names in found]
        assert sorting[0] == sorting[1] and len(sorting[0]) >= 3 and not {*BUCKETS} & {*found[0]}


def test_keys_alone_are_never_added() -> None:
    """Their number may be that of a sum of floats: tables of few groups are tried nevertheless."""
    whole = target.find("nvidia-hopper").sort("group_by", "u32", Signature())
    names = [
        [x.step.kernel for x in launches(whole.plan, 1 << 20, in_place=False, how=how)] for how in (Options(), ROUNDED)
    ]
    assert names[0] == names[1] and names[0][:3] == ["few_begin", "few_tables", "few_close"]


def test_other_groupings_are_not_partitioned() -> None:
    found = target.find("nvidia-hopper")
    for key, value in (("u32", "none"), ("u64", "v4"), ("u16", "v4")):
        whole = found.sort("group_by", key, Signature(value=value))
        assert not [k.name for k in whole.kernels if k.name.startswith("pairs_")]
        guarded = {s.kernel for s in whole.plan.steps if s.guard.reduction != "any"}
        assert guarded <= {"few_tables", "few_close"} if value == "v4" else not guarded
    assert group_by.NAME == "group_by"
