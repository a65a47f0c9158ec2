"""Merge path without a device: the numpy model against numpy's stable argsort, and the shapes of all targets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import merge_path as model
from sorts import sort_by

from hsgen.algorithms import merge_path
from hsgen.algorithms.merge_path.kernels import SPLITS
from hsgen.core.flags import SIGNED
from hsgen.core.interpreter import Options, launches, options
from hsgen.core.keys import KEYS, TYPES, Signature
from hsgen.core.plan import CallNumber
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.operations import oracle
from hsgen.targets import target

RANGES = {
    "work_group": 8,
    "items": 3,
    "vectors": True,
    "subgroup": 4,
    "ranges": 2,
    "range_lanes": 4,
    "range_items": 4,
}
SHAPES: dict[str, dict[str, Any]] = {
    "tiles": {"work_group": 4, "items": 3},
    "even": {"work_group": 8, "items": 4},
    "narrow": {"work_group": 2, "items": 1},
    "vectors": {"work_group": 8, "items": 3, "vectors": True, "alone": 50, "alone_items": 5, "subgroup": 4},
    "ranges": {**RANGES, "ranged": 150},
    "three": {**RANGES, "alone": 50, "alone_items": 5, "ranged": 100},
    "walks": {"work_group": 1, "items": 7, "chains": 4, "walks": True},
    "walks-3": {"work_group": 1, "items": 5, "chains": 3, "walks": True},
    "rows": {"work_group": 1, "items": 8, "chains": 4, "walks": True, "row": 4},
    "rows-3": {"work_group": 2, "items": 6, "chains": 3, "walks": True, "row": 2},
    "rows-1": {"work_group": 1, "items": 16, "walks": True, "row": 16},
    "walks-wide": {"work_group": 3, "items": 6, "chains": 1, "walks": True},
}


def sort_of(key: str = "u32", **values: Any) -> Sort:
    """The merge of a shape, for keys of all types."""
    signature = Signature(key_transform=True)
    return sort_by("merge_path", merge_path.Params(key=KEYS[key], signature=signature, **values), signature)


def halves(rng: np.random.Generator, na: int, nb: int, distinct: int, how: Options, key: str) -> list[Any]:
    """Two arrays sorted by `how`, with repeated keys."""
    pool = rng.integers(0, np.iinfo(f"u{KEYS[key].bytes}").max, distinct, f"u{KEYS[key].bytes}", endpoint=True)
    made = (pool[rng.integers(0, distinct, size)] for size in (na, nb))
    return [x[np.argsort(oracle.ordered(x, how.kind, descending=how.descending), kind="stable")] for x in made]


def check(sort: Sort, a: Any, b: Any, how: Options, limit: int = 2**32 - 1) -> None:
    """Run a merge, and compare the sources of keys with numpy's stable sort."""
    by = oracle.ordered(np.concatenate([a, b]), how.kind, descending=how.descending)
    assert model.sources(sort, a, b, how=how, limit=limit) == np.argsort(by, kind="stable").tolist()


@pytest.mark.parametrize("shape", SHAPES)
def test_counts_around_tiles(shape: str) -> None:
    sort, rng = sort_of(**SHAPES[shape]), np.random.default_rng(5)
    tile = sort.parts[0].params.tile
    some = sorted({0, 1, 2, *(t + d for t in (tile, 2 * tile, 5 * tile) for d in (-1, 0, 1))})
    for na in some:
        for nb in some:
            check(sort, *halves(rng, na, nb, 1 + (na + 3 * nb) % 9, Options(), "u32"), Options(), limit=7)


def test_counts_around_switches() -> None:
    sort, rng = sort_of(**SHAPES["three"]), np.random.default_rng(9)
    for n in (49, 50, 51, 99, 100, 101):
        for na in (0, 1, n // 2, n):
            check(sort, *halves(rng, na, n - na, 1 + na, Options(), "u32"), Options(), limit=7)


@pytest.mark.parametrize(
    ("value", "least"),
    [
        ("none", {"merge_alone": 1, "merge_ranges": 2**21 + 1, "split merge": 2**25 + 1}),
        ("v4", {"merge_ranges": 1, "split merge": 2**24 + 1}),
        ("v8", {"merge_alone": 1, "split merge": 2**25 // 12 + 1}),
    ],
)
def test_switches_of_a_target_with_ranges(value: str, least: dict[str, int]) -> None:
    """Each form serves all counts from its least to the next one's."""
    plan = target.find("nvidia-hopper").sort("merge_path", "u32", Signature(value=value)).plan
    for kernels, first, last in zip(
        least, least.values(), [*(n - 1 for n in least.values()), plan.max_n][1:], strict=True
    ):
        for n in (first, last):
            assert " ".join(x.step.kernel for x in launches(plan, n, in_place=False)) == kernels, n


@pytest.mark.parametrize("shape", SHAPES)
def test_one_before_the_other(shape: str) -> None:
    sort = sort_of(**SHAPES[shape])
    low, high = np.arange(50, dtype=np.uint32), np.arange(50, 83, dtype=np.uint32)
    for a, b in ((low, high), (high, low), (low, low), (low, low[:0]), (low[:0], high)):
        check(sort, a, b, Options())
    greatest = np.full(40, 2**32 - 1, np.uint32)
    check(sort, greatest, greatest[:23], Options())


@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_that_are_in_no_order_lead_nowhere_else(shape: str) -> None:
    """The result is meaningless, but all accesses stay within the arrays: the model would raise a fault."""
    sort, rng = sort_of(**SHAPES[shape]), np.random.default_rng(7)
    for _ in range(60):
        sizes = rng.integers(0, 150, 2)
        a, b = (rng.integers(0, 30, size, np.uint32) for size in sizes)
        assert len(model.sources(sort, a, b)) == sizes.sum()


@settings(max_examples=150, deadline=None)
@given(
    shape=st.sampled_from(sorted(SHAPES)),
    type_=st.sampled_from(sorted(TYPES)),
    order=st.sampled_from(["ascending", "descending"]),
    na=st.integers(0, 200),
    nb=st.integers(0, 200),
    distinct=st.integers(1, 300),
    seed=st.integers(0, 2**32),
)
def test_every_type_and_order(shape: str, type_: str, order: str, na: int, nb: int, distinct: int, seed: int) -> None:
    how, key = options(type_, order), TYPES[type_].key
    check(sort_of(key, **SHAPES[shape]), *halves(np.random.default_rng(seed), na, nb, distinct, how, key), how)


def test_the_model_notices() -> None:
    """Wrong or missing splits are faults."""
    sort = sort_of(**SHAPES["tiles"])
    a, b = np.arange(40, dtype=np.uint32), np.arange(40, dtype=np.uint32)
    for kernel in ("begin", "split", "merge"):
        steps = tuple(s for s in sort.plan.steps if s.kernel != kernel)
        with pytest.raises(model.Fault):
            model.sources(replace(sort, plan=replace(sort.plan, steps=steps)), a, b)
    with pytest.raises(model.Fault):
        model.sources(replace(sort, plan=replace(sort.plan, steps=sort.plan.steps[:2] + sort.plan.steps[2:] * 2)), a, b)


def test_the_count_of_the_first_array_takes_the_place_of_flags() -> None:
    sort = sort_of(**SHAPES["tiles"])
    first, *others = launches(sort.plan, 100, in_place=False, how=replace(options("i32"), first_count=30))
    assert first.step.argument == CallNumber() and first.argument == 30
    assert {launch.argument for launch in others} == {SIGNED}


@pytest.mark.parametrize("limit", [1, 2, 3, 33, 100, 65535])
@pytest.mark.parametrize("value", ["none", "v8"])
def test_work_groups_that_a_grid_has_too_many_read_within_scratch(limit: int, value: str) -> None:
    """For compilers that load a tile's split before the check that the tile exists."""
    text = (target.resources.targets() / "generic.toml").read_text(encoding="utf-8").split("[sort.")[0]
    few = text.replace('name = "generic"', 'name = "few"').replace("groups = 4294967295", f"groups = {limit}")
    sort = target.parse(few, "few", "here").sort("merge_path", "u32", Signature(value=value))
    tile, tried = sort.parts[0].params.tile, 0
    fewest = [tile * g for g in range(1, 40)] + [tile * (limit * k + 1) for k in range(1, min(limit, 40))]
    for n in sorted({x for x in (*fewest, sort.plan.max_n) if 0 < x <= sort.plan.max_n}):
        wide, high = next(x.grid for x in launches(sort.plan, n, limit, in_place=False) if x.step.kernel == "merge")
        assert 4 * (SPLITS + 1 + wide * high) <= sort.plan.scratch.bytes(n), n
        tried += wide * high > -(-n // tile)
    assert tried or limit < 3 or limit > 60000


def test_where_grids_have_one_dimension_scratch_has_no_spare_words() -> None:
    merge = target.find("generic").sort("merge_path", "u32")
    tile = merge.parts[0].params.tile
    assert merge.plan.scratch.bytes(5 * tile) == 4 * (SPLITS + 1 + 5)


def test_every_target_merges_what_it_sorts() -> None:
    for name in target.names():
        found = target.find(name)
        for key in KEYS:
            plain = found.choices and any(k == found.keys_of(key) for _, k in found.choices)
            assert ("merge_path" in found.implicit(key)) == plain, (name, key)
            if not plain:
                continue
            for value in ("none", "v4", "v16"):
                sort = found.sort("merge_path", key, Signature(value=value))
                p = sort.parts[0].params
                assert sort.operation == "merge" and not merge_path.problems(p, found.device), (name, key, value)
                assert p.tile >= 256


@pytest.mark.parametrize("api", ["opencl", "vulkan", "cuda", "metal"])
def test_only_dialects_with_vectors_have_rows(api: str) -> None:
    """Others merge the same shape key by key."""
    source = render(sort_of(**SHAPES["rows"]), api)
    assert ("hs_row" in source.text) == ("opencl/rows" in source.header) == (api == "opencl")
    assert ("int d3 = i + 3 * length" in source.text) and ("bool one3" in source.text) == (api != "opencl")


def test_forms_that_are_not_for_merges() -> None:
    found = target.find("generic")
    have = {a: p for (a, k), p in found.choices.items() if k == "u32"}
    for signature in (
        Signature(bit_range=True),
        Signature(device_count=True),
        Signature(value="index"),
        Signature(value="packed"),
    ):
        assert merge_path.specialize(have, KEYS["u32"], signature, found.device) is None
    assert merge_path.specialize({}, KEYS["u32"], Signature(), found.device) is None


def test_what_cannot_work_is_named() -> None:
    found = target.find("generic")
    for values, key in (({"work_group": 512, "items": 3}, "work_group"), ({"work_group": 256, "items": 99}, "items")):
        p = merge_path.Params(key=KEYS["u32"], **values)
        assert [k for k, _, _ in merge_path.problems(p, found.device)] == [key]
    rows = {"work_group": 1, "items": 32, "chains": 4, "walks": True, "row": 16}
    for key, value, changed in (("u32", "none", {"walks": False, "chains": 1}), ("u64", "v4", {}), ("u8", "v4", None)):
        p = merge_path.Params(key=KEYS[key], signature=Signature(value=value), **(rows | (changed or {})))
        assert [k for k, _, _ in merge_path.problems(p, found.device)] == ([] if changed is None else ["row"])
    for changed in ({"row": 3}, {"items": 24}):
        p = merge_path.params(KEYS["u32"], rows | changed)
        assert [k for k, _, _ in merge_path.problems(p, found.device)] == ["row"]
    twice = merge_path.params(KEYS["u32"], {"work_group": 64, "items": 3, "chains": 2})
    assert [k for k, _, _ in merge_path.problems(twice, found.device)] == ["chains"]
    ranges = {"work_group": 64, "items": 3, "vectors": True, "ranged": 500, "ranges": 2, "subgroup": 32}
    for lanes, items, value, named in (
        (64, 8, "none", []),
        (32, 8, "none", ["range_lanes"]),
        (96, 6, "none", ["range_items"]),
        (1024, 32, "v4", ["range_items", "items"]),
    ):
        p = merge_path.Params(
            key=KEYS["u32"], signature=Signature(value=value), range_lanes=lanes, range_items=items, **ranges
        )
        assert [k for k, _, _ in merge_path.problems(p, found.device)] == named
