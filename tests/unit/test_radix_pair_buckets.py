"""Hybrid sorts of pairs without a device: the numpy model executes them, and invalid tables are rejected.

- Keys whose highest bits are evenly spread end in buckets, without passes over all digits; others, uneven in either of
  the two highest digits, are sorted by such passes.  Both are stable, in and out of place.
- The model can fail: every row of a plan is dropped or changed in turn, and each fault is noticed.
- Scratch holds the starts of buckets; every mistake in a table is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hybrid_pairs import DEVICE, counts, even, play
from models.radix import pair_buckets as pair_model
from models.radix.memory import Fault
from nightly import thinned
from radix_shapes import shape
from sorts import ROOMY, sort_by, survivors
from sorts import radix_params as params
from steps import changed

from hsgen.algorithms import radix
from hsgen.algorithms.radix.hybrid import pairs as finish
from hsgen.algorithms.radix.hybrid.pair_buckets import PairBuckets
from hsgen.algorithms.radix.words import words
from hsgen.core.interpreter import Options, launches, offset
from hsgen.core.keys import KEYS, VALUES, Signature
from hsgen.core.plan import Plan, Step
from hsgen.core.records import changed as altered
from hsgen.core.sort import Sort
from hsgen.targets import assembly
from hsgen.tools.validate.cases import around

SMALL: dict[str, Any] = {
    "coordination": "lookback",
    "bits": 8,
    "redo": False,
    "pair_bucket.above": 416,
    "pair_bucket.work_group": 8,
    "pair_bucket.items": 4,
    "pair_bucket.bins": 16,
}
"""Buckets of at most 32 pairs, of 26 on average: more than may share a position."""


def sort_of(signature: Signature, key: str = "u32", **values: Any) -> Sort:
    """Return the sort of a shape, assembled as for targets."""
    p = replace(shape(key, **{**SMALL, **values}), signature=signature)
    return sort_by("radix", p, signature)


def kinds(rng: np.random.Generator, p: radix.Params, n: int) -> Iterator[tuple[str, Any]]:
    """Yield keys, each kind uneven in a different way."""
    keys = even(rng, n, p.key.name)
    one, left = keys.dtype.type, p.key.bits - finish.bits(p, max(n, finish.limit(p) + 1))
    yield "even", keys
    yield "sorted", np.sort(keys)
    yield "equal in each bucket", keys >> one(left) << one(left)
    yield "few in each bucket", keys & ~one((1 << left) - 1 - 0x155)
    yield "one place in each bucket", keys & ~one(15 << left - 4)
    yield "one place in every other bucket", keys & ~one(31 << left - 4)
    yield "all equal", np.full(n, p.key.greatest, keys.dtype)
    yield "first digit", keys >> one(6)
    yield "second digit", keys & ~one(0xFE << p.key.bits - 16)
    yield "one value too often", np.where(np.arange(n) < finish.capacity(p) + 2, one(n), keys)
    yield "random", rng.integers(0, p.key.greatest, n, keys.dtype, endpoint=True)


EVEN = {"even", "sorted"}


def ends(p: radix.Params, keys: Any) -> bool:
    """Whether keys end in buckets: both digits have several values, and no bucket overflows."""
    one, top = keys.dtype.type, p.key.bits
    live = all(len(np.unique(keys >> one(top - shift) & one(255))) > 1 for shift in (8, 16))
    shared = keys >> one(top - finish.bits(p, len(keys)))
    return live and bool(np.bincount(shared.astype(np.int64)).max() <= finish.capacity(p))


def early(plan: Plan, low: int) -> Plan:
    """Return the plan without the passes that follow buckets, for counts above `low`."""
    return replace(plan, steps=tuple(s for s in plan.steps if s.kernel != "onesweep" or s.guard.min_n >= low))


@pytest.mark.parametrize(
    ("key", "value"), thinned([("u64", "v4"), ("u64", "index"), ("u32", "v4"), ("u32", "index")], 3)
)
def test_every_kind_is_sorted(key: str, value: str) -> None:
    sort = sort_of(Signature(value=value), key)
    p, rng = params(sort), np.random.default_rng(1)
    for n in counts(p):
        for _, keys in kinds(rng, p, n):
            for in_place in (False, True):
                play(sort, sort.plan, keys, in_place=in_place)
                if value == "index":
                    play(sort, sort.plan, keys, in_place=in_place, how=Options(discard=True))


@pytest.mark.parametrize("key", ["u32", "u64"])
def test_exactly_even_keys_need_no_further_pass(key: str) -> None:
    sort = sort_of(Signature(value="v4"), key)
    p, rng = params(sort), np.random.default_rng(2)
    only = early(sort.plan, finish.least(p))
    found: dict[bool, set[str]] = {False: set(), True: set()}
    for n in [n for n in (*counts(p), 12000) if n > finish.least(p)]:
        for what, keys in kinds(rng, p, n):
            found[ends(p, keys)].add(what)
            if ends(p, keys):
                play(sort, only, keys, in_place=n % 2 == 0)
            elif what != "random":  # the two digits alone may sort these
                with pytest.raises(AssertionError):
                    play(sort, only, keys, in_place=False)
    assert found[True] >= EVEN | {"equal in each bucket", "few in each bucket", "one place in each bucket"}
    assert found[False] >= {"all equal", "first digit", "second digit", "one value too often", "random"}
    assert not found[False] & EVEN


def test_types_orders_ranges_and_counts() -> None:
    rng, tried = np.random.default_rng(3), 0
    for key in ("u32", "u64"):
        sort = sort_of(Signature(value="index", key_transform=True, device_count=True, bit_range=True), key)
        p = params(sort)
        for number, n in enumerate(counts(p) * 3):
            for what, keys in kinds(rng, p, n):
                how = Options(kind=number % 3, descending=number % 2 == 1, discard=bool(rng.integers(2)))
                count = int(rng.integers(0, n + 3)) if rng.random() < 0.6 else None
                if number % 3 == 1:
                    how = replace(how, begin=int(rng.integers(9)), end=int(rng.integers(9, p.key.bits)))
                tried += how.end is None and what == "even" and n > finish.least(p)
                play(
                    sort,
                    sort.plan,
                    keys,
                    in_place=bool(rng.integers(2)),
                    how=replace(how, device_count=count is not None),
                    count=count,
                )
    assert tried > 10


def mutants(plan: Plan, low: int) -> Iterator[tuple[str, Plan]]:
    """Yield plans with one row of buckets, or one pass ahead of them, missing or wrong."""
    for i, step in enumerate(plan.steps):
        ahead = step.kernel == "onesweep" and step.guard.min_n >= low
        if not (ahead or step.kernel in pair_model.KERNELS) or (
            step.kernel == "pair_bucket" and step.guard.min_n >= 1664
        ):
            continue  # a number of buckets that no count of this test uses
        rows: dict[str, Step | None] = {
            "dropped": None,
            "runs too late": changed(step, min_n=step.guard.min_n + 1),
            "ends too early": changed(step, max_n=step.guard.max_n - 1 if step.kernel == "pair_bucket" else low + 1),
            "only in place": changed(step, place="in"),
            "only out of place": changed(step, place="out"),
        }
        if len(step.bindings) > 1:
            rows["other buffers"] = replace(step, bindings=step.bindings[::-1])
        if step.kernel in ("pair_bucket", "pair_bucket_rest"):
            rows["a group too few"] = changed(step, cap=step.grid.cap - 1)
        if step.kernel == "bucket_bounds":
            rows["a group too few"] = changed(step, cap=64)  # 8 lanes each, and 2^9 buckets of 12000 keys
        for what, row in rows.items():
            yield (
                f"{i} {step.kernel}: {what}",
                replace(plan, steps=(*plan.steps[:i], *([row] if row else []), *plan.steps[i + 1 :])),
            )


def test_every_fault_in_a_plan_is_noticed() -> None:
    sort = sort_of(Signature(value="v4"), work_group=8, groups=500, split_above=1 << 30)  # portions: see test_radix.py
    p, rng = params(sort), np.random.default_rng(4)
    low = finish.least(p)
    test_counts = [
        n for s in sort.plan.steps if s.kernel == "pair_bucket" for n in (s.guard.min_n + 1, s.guard.max_n) if n <= 1664
    ]
    inputs = [x for n in test_counts for x in kinds(rng, p, n) if x[0] == "even"]
    inputs += [x for n in (low + 1, 1000, 12000) for x in kinds(rng, p, n)]

    def check(plan: Plan) -> None:
        for _, keys in inputs:
            for in_place in (False, True):
                play(sort, early(plan, low) if ends(p, keys) else plan, keys, in_place=in_place)

    check(sort.plan)
    tried, survived = survivors(mutants(sort.plan, low), check, Fault)
    assert tried > 40 and survived == [], survived


def test_slots_that_do_not_fit_are_noticed() -> None:
    """The model's kernels build the same keys as a device's: with too few shared bits, slots overlap them."""
    sort = sort_of(Signature(value="v4"), **{"pair_bucket.above": 40})
    keys = even(np.random.default_rng(5), 60, "u32")
    assert "pair_bucket.above" in {where for where, _, _ in radix.problems(params(sort), DEVICE)}
    with pytest.raises((AssertionError, IndexError)):
        play(sort, sort.plan, keys, in_place=False)


def test_the_starts_of_buckets_use_the_scratch_of_values() -> None:
    sort = sort_of(Signature(value="v4"))
    p = params(sort)
    for n in (n for n in around(PairBuckets(p).test_counts(), finish.most(p)) if finish.least(p) < n <= finish.most(p)):
        found = {x.step.kernel: x for x in launches(sort.plan, n, in_place=False)}
        buckets = 1 << finish.bits(p, n)
        assert n <= finish.limit(p) * buckets and found["pair_bucket"].groups == buckets
        assert finish.slot_bits(p) <= finish.bits(p, n) <= finish.top_bits(p)
        at = {
            b.name: offset(s, n)
            for b, s in zip(sort.kernel("pair_bucket").buffers, found["pair_bucket"].step.bindings, strict=True)
        }
        assert at["bounds"] + 4 * (2 * buckets + 1) <= at["words"]
        assert at["words"] + 4 * words(p).tile_states.start <= sort.plan.scratch.bytes(n)


def test_other_forms_have_no_such_buckets() -> None:
    own = {k: replace(shape(k, **SMALL), redo=True) for k in ("u32", "u64")}
    for device, promised in ((DEVICE, True), (ROOMY, False)):
        for value in VALUES:
            for key in ("u64",) if value == "packed" else ("u16", "u32", "u64"):
                for bit_range in (False, True):
                    p = radix.specialize(own, KEYS[key], Signature(value=value, bit_range=bit_range), device)
                    assert p is not None
                    has = promised and value in ("v4", "index") and key != "u16"
                    assert p.has_pair_buckets == has and ("pair_bucket" in {k.name for k in radix.kernels(p)}) == has
                    assert (words(p).pair_status is not None) == has


BAD: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"pair_bucket.work_group": 6}, "pair_bucket.work_group", {"pair_bucket.work_group": 8}),
    ({"pair_bucket.bins": 48}, "pair_bucket.bins", {"pair_bucket.bins": 64}),
    ({"pair_bucket.bins": 4}, "pair_bucket.bins", {"pair_bucket.bins": 16}),
    (
        {"pair_bucket.work_group": 16384, "pair_bucket.bins": 16384},
        "pair_bucket.work_group",
        {"pair_bucket.work_group": 8},
    ),
    (
        {"pair_bucket.work_group": 8, "ranker": "match_ballot", "subgroup": 16, "work_group": 16},
        "pair_bucket.work_group",
        {"pair_bucket.work_group": 16, "pair_bucket.items": 1},
    ),
    ({"pair_bucket.items": 1}, "pair_bucket.items", {"pair_bucket.items": 2}),
    ({"pair_bucket.above": 415}, "pair_bucket.above", {"pair_bucket.above": 416}),
    ({"pair_bucket.above": 26 << 16}, "pair_bucket.above", {"pair_bucket.above": 416}),
    ({"bits": 7}, "pair_bucket", {"bits": 8}),
    ({"bits": 2}, "pair_bucket.items", {"bits": 8}),
]


@pytest.mark.parametrize(("wrong", "key", "right"), BAD)
def test_every_mistake_is_named_once(wrong: dict[str, Any], key: str, right: dict[str, Any]) -> None:
    p = shape(**{**SMALL, **wrong})
    assert [where for where, _, _ in radix.problems(p, DEVICE)] == [key]
    assert radix.problems(altered(p, right), DEVICE) == []


def test_local_memory_must_hold_a_bucket() -> None:
    p = shape(**{**SMALL, "pair_bucket.bins": 8192})
    assert [where for where, _, _ in radix.problems(p, replace(DEVICE, local_bytes=20000))] == ["pair_bucket.items"]
    assert radix.problems(altered(p, {"pair_bucket.bins": 16}), replace(DEVICE, local_bytes=20000)) == []


def test_bytes_moved() -> None:
    """Keys are read four times, values three times, both are written three times; later passes move nothing."""
    sort = sort_of(Signature(value="v4"), "u64", **{"pair_bucket.above": 416})
    n = 4000
    total = assembly.traffic(sort, n)
    per_pair = total / n
    assert per_pair > 7 * 8 + 6 * 4
    assert total < assembly.traffic(sort_of(Signature(value="v4"), "u64", **{"pair_bucket.above": 1 << 20}), n) / 2
    assert dict(radix.notes(params(sort)))["buckets of pairs"].startswith("from 417 pairs on; ")
