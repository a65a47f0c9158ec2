"""Hybrid sorts by buckets without a device: the numpy model executes them, and invalid tables are rejected.

- Keys that two digits distribute evenly are sorted by buckets alone, without the look-back rows.  Others, uneven in
  either digit, are sorted by look-back, and neither they nor crowded positions are sorted wrongly.
- In and out of place, types and orders, bit ranges, device-side counts, at counts around those at which the number of
  buckets changes.
- The model can fail: every row of a plan is dropped or changed in turn, and each fault is noticed.
- Scratch holds the data of the rows; every mistake in a table is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hybrid_keys import SMALL, even, kinds, play
from models.radix import key_buckets as bucket_model
from models.radix import model
from models.radix.memory import Fault
from nightly import thinned
from radix_calls import RICH, drawn
from radix_shapes import shape
from sorts import ROOMY, sort_by, survivors
from sorts import radix_params as params
from steps import changed

from hsgen.algorithms import radix
from hsgen.algorithms.radix.hybrid import buckets as msd
from hsgen.algorithms.radix.hybrid.key_buckets import KeyBuckets
from hsgen.algorithms.radix.specialize import specialize
from hsgen.algorithms.radix.words import words
from hsgen.core.interpreter import Options, launches, offset
from hsgen.core.keys import KEYS, PLAIN, VALUES, Signature
from hsgen.core.plan import Plan, Step
from hsgen.core.records import changed as altered
from hsgen.core.sort import Sort
from hsgen.targets import assembly
from hsgen.tools.validate.cases import around


def sort_of(signature: Signature = PLAIN, key: str = "u32", **values: Any) -> Sort:
    """Return the sort of a shape, assembled as for targets."""
    p = replace(shape(key, **{**SMALL, **values}), signature=signature)
    return sort_by("radix", p, signature)


def counts(p: radix.Params, most: int = 2000) -> list[int]:
    """Return counts around those at which the sort changes its way."""
    return sorted({*around(KeyBuckets(p).test_counts(), most), 1, p.alone + 1, 555})


def partitioned(p: radix.Params, plan: Plan) -> Plan:
    """Return the plan without the look-back rows for counts that are distributed into buckets."""
    own = (*bucket_model.KERNELS, "single")
    return replace(plan, steps=tuple(s for s in plan.steps if s.kernel in own))


@pytest.mark.parametrize(("key", "redo"), thinned([("u32", False), ("u32", True), ("u64", False), ("u64", True)], 3))
def test_every_kind_is_sorted(key: str, redo: bool) -> None:
    sort = sort_of(key=key, redo=redo)
    p, rng = params(sort), np.random.default_rng(1)
    for n in counts(p):
        for _, keys in kinds(rng, p, n):
            for in_place in (False, True):
                play(sort, sort.plan, keys, in_place=in_place)


@pytest.mark.parametrize("key", ["u32", "u64"])
def test_exactly_even_keys_are_sorted_by_buckets_alone(key: str) -> None:
    sort = sort_of(key=key)
    p, rng = params(sort), np.random.default_rng(2)
    by_buckets = {"even", "sorted", "crowded places", "crowded places, some bits"}
    for n in [n for n in counts(p) if n > msd.least(p)]:
        for what, keys in kinds(rng, p, n):
            first, second = msd.widths(p, n)
            full = {"first digit": n >> second, "second digit": n >> first}.get(what, n) > msd.capacity(p) + 1
            if what == "random" or not full:
                continue
            for in_place in (False, True):
                if what in by_buckets:
                    play(sort, partitioned(p, sort.plan), keys, in_place=in_place)
                else:
                    out = model.run(p, partitioned(p, sort.plan), keys, in_place=in_place)
                    untouched = keys if in_place else np.full_like(keys, 0xA5)
                    assert np.array_equal(out.keys, untouched), (what, n)


def test_types_orders_ranges_and_counts() -> None:
    rng = np.random.default_rng(3)
    for key in ("u32", "u64"):
        sort = sort_of(RICH, key)
        p, whole = params(sort), 0
        for number, n in enumerate(counts(p) * 3):
            for what, keys in kinds(rng, p, n):
                how, count = drawn(rng, sort, n)
                if number % 2:
                    how = replace(how, begin=0, end=None)
                whole += (how.begin, how.end) == (0, None) and what == "even"
                play(sort, sort.plan, keys, in_place=bool(rng.integers(2)), how=how, count=count)
        assert whole > 10


def mutants(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Yield plans with one row of buckets missing or wrong."""
    for i, step in enumerate(plan.steps):
        if step.kernel not in bucket_model.KERNELS or (step.kernel == "bucket" and step.guard.max_n > 1664):
            continue  # a number of buckets that no count of this test uses
        rows: dict[str, Step | None] = {
            "dropped": None,
            "runs too late": changed(step, min_n=step.guard.min_n + 1),
            "ends too early": changed(step, max_n=step.guard.max_n - 1 if step.kernel == "bucket" else 300),
            "only in place": changed(step, place="in"),
            "only out of place": changed(step, place="out"),
        }
        if len(step.bindings) > 1:
            rows["other buffers"] = replace(step, bindings=step.bindings[::-1])
        if step.kernel in ("first_histogram", "first_partition"):
            rows["a group too few"] = changed(step, add=step.grid.add - step.grid.div)
        if step.kernel == "bucket_rest":
            rows["half the groups"] = changed(step, mul=1)
        if step.kernel == "bucket":
            rows["a group too few"] = changed(step, cap=step.grid.cap - 1)
        if step.kernel in ("second_histogram", "second_partition"):
            rows["a group a value too few"] = changed(step, add=step.grid.div - 1)
        for what, row in rows.items():
            steps = (*plan.steps[:i], *([row] if row else []), *plan.steps[i + 1 :])
            yield f"{i} {step.kernel}: {what}", replace(plan, steps=steps)


def test_every_fault_in_a_plan_is_noticed() -> None:
    sort = sort_of(groups=500)
    p, rng = params(sort), np.random.default_rng(4)
    ends = [
        n + more
        for s in sort.plan.steps
        if s.kernel == "bucket"
        for n, more in ((s.guard.min_n, 1), (s.guard.max_n, 0))
    ]
    inputs = [("even", even(rng, n, "u32")) for n in ends if n <= 1664]
    for n in (101, 301, 1000, 1664):
        inputs += [x for x in kinds(rng, p, n) if x[0] in ("first digit", "second digit", "crowded places")]

    def check(plan: Plan) -> None:
        for what, keys in inputs:
            for in_place in (False, True):
                play(sort, partitioned(p, plan) if what == "even" else plan, keys, in_place=in_place)

    check(sort.plan)
    tried, survived = survivors(mutants(sort.plan), check, Fault)
    assert tried > 50 and survived == [], survived


def test_rows_are_for_all_bits_and_large_counts() -> None:
    sort = sort_of(RICH)
    p = params(sort)
    for n, how, expected in (
        (msd.least(p), Options(), False),
        (msd.least(p) + 1, Options(), True),
        (5000, Options(begin=1), False),
        (5000, Options(end=31), False),
        (5000, Options(kind=2, descending=True), True),
    ):
        names = {x.step.kernel for x in launches(sort.plan, n, in_place=False, how=how)}
        own = set(bucket_model.KERNELS) - {"bucket_count"}
        assert (names >= own) == expected and (not names & own) == (not expected) and "bucket_count" not in names


def test_digits_are_as_wide_as_buckets_need() -> None:
    p = shape(**SMALL)
    assert msd.limit(p) == 52 and msd.capacity(p) == 64 and msd.most(p) == 52 << 18
    for n in around([52 << b for b in range(1, 19)], msd.most(p)):
        first, second = msd.widths(p, n)
        assert second <= first <= second + 1 <= 10 and first <= 9
        assert n <= 52 << first + second and (first + second == 1 or n > 52 << first + second - 1)
        for signature, most in ((PLAIN, 1), (Signature(device_count=True), 2)):
            every = launches(radix.plan(replace(p, signature=signature)), n, in_place=False)
            found = [x.groups for x in every if x.step.kernel == "bucket"]
            assert len(found) == 1 and 1 << first + second <= found[0] <= most << first + second


@pytest.mark.parametrize("more", [{}, {"bits": 4, "items": 1}, {"partition.above": 1 << 20, "groups": 9}])
def test_the_counters_of_buckets_are_within_scratch(more: dict[str, Any]) -> None:
    p = shape(**{**SMALL, "items": 1, "single": 0, **more})
    assert radix.problems(p, ROOMY) == []
    plan = radix.plan(p)
    for n in around(KeyBuckets(p).test_counts(), msd.most(p)):
        for launch in launches(plan, n, in_place=False) if n > msd.least(p) else ():
            kernel = next(k for k in radix.kernels(p) if k.name == launch.step.kernel)
            for buffer, binding in zip(kernel.buffers, launch.step.bindings, strict=True):
                need = {
                    "words": 4 * (words(p).tile_states.start + 3 * (1 << sum(msd.widths(p, n))) + 1),
                    "dealt": 4 * n,
                }
                if buffer.name in need:
                    assert offset(binding, n) + need[buffer.name] <= plan.scratch.bytes(n)


def test_forms_that_must_keep_an_order_have_no_buckets() -> None:
    own = {k: shape(k, **SMALL) for k in ("u32", "u64")}
    for value in VALUES:
        for key in ("u64",) if value == "packed" else ("u16", "u32", "u64"):
            p = specialize(own, KEYS[key], Signature(value=value), ROOMY)
            assert p is not None and p.has_key_buckets == (value == "none" and key != "u16")
            assert ("bucket" in {k.name for k in radix.kernels(p)}) == p.has_key_buckets


def test_other_choices_have_no_buckets_and_no_scratch_for_them() -> None:
    plain = shape(coordination="lookback")
    assert not plain.has_key_buckets and words(plain).use_partition is None
    assert not any(s.kernel in bucket_model.KERNELS for s in radix.plan(plain).steps)


BAD: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"partition.work_group": 24}, "partition.work_group", {"partition.work_group": 16}),
    ({"bucket.bins": 48}, "bucket.bins", {"bucket.bins": 32}),
    ({"bucket.bins": 8}, "bucket.bins", {"bucket.bins": 16}),
    ({"partition.work_group": 16384}, "partition.work_group", {"partition.work_group": 16}),
    ({"partition.work_group": 2048, "partition.items": 33}, "partition.items", {"partition.items": 31}),
    (
        {"bucket.work_group": 8, "ranker": "match_ballot", "subgroup": 16, "work_group": 16},
        "bucket.work_group",
        {"bucket.work_group": 16},
    ),
    ({"partition.above": 51}, "partition.above", {"partition.above": 52}),
    ({"bits": 2, "items": 64}, "bucket.items", {"bits": 8}),
]


@pytest.mark.parametrize(("wrong", "key", "right"), BAD)
def test_every_mistake_is_named_once(wrong: dict[str, Any], key: str, right: dict[str, Any]) -> None:
    p = shape(**{**SMALL, **wrong})
    assert [where for where, _, _ in radix.problems(p, ROOMY)] == [key]
    assert radix.problems(altered(p, right), ROOMY) == []


def test_local_memory_must_hold_a_tile_and_a_bucket() -> None:
    tiny = replace(ROOMY, local_bytes=20000)
    for wrong, key in (
        ({"partition.work_group": 512, "partition.items": 20}, "partition.items"),
        ({"bucket.bins": 8192}, "bucket.items"),
    ):
        assert [where for where, _, _ in radix.problems(shape(**{**SMALL, **wrong}), tiny)] == [key]


def test_bytes_moved() -> None:
    """Keys are read five times and written three times, and look-back moves nothing."""
    sort = sort_of(single=0)
    n = 50_000
    keys = 4 * n
    total = assembly.traffic(sort, n)
    assert 8 * keys < total < 9 * keys
    assert dict(radix.notes(params(sort)))["buckets"].startswith(
        "from 101 keys on, 16 lanes x 3 = 48 keys partitioned at once"
    )
