"""Merge sorts with merge path for the last levels: the numpy model executes plans, which end in the destination."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from models.bitonic import model
from sorts import sort_by

from hsgen.algorithms import bitonic
from hsgen.algorithms.bitonic.plan import level_of
from hsgen.core.errors import Usage
from hsgen.core.interpreter import launches, offset, options, scratch_bytes
from hsgen.core.keys import KEYS, PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.targets import target

SHAPES: dict[str, dict[str, Any]] = {
    "wide": {"subgroup": 4, "height": 2, "slabs": 4, "clean_slabs": 4, "stream_group": 16},
    "odd": {"subgroup": 1, "height": 2, "slabs": 5, "clean_slabs": 4, "stream_group": 4},
}
ROWS: dict[str, Any] = {
    "subgroup": 16,
    "height": 16,
    "slabs": 1,
    "clean_slabs": 1,
    "stream_group": 16,
    "path_from": 256,
}
SCALES = {"local_scale": 2, "flip_scale": 2, "half_scale": 2}


def sort_of(shape: str, key: str = "u32", signature: Signature = PLAIN, walks: bool = False, **values: Any) -> Sort:
    """The merge sort of a shape."""
    p = bitonic.Params(key=KEYS[key], signature=signature, path_walks=walks, **SCALES, **{**SHAPES[shape], **values})
    return sort_by("bitonic", p, signature)


def counts(sort: Sort) -> list[int]:
    """Counts around blocks, and around every number of levels up to five."""
    block = sort.parts[0].params.block
    return sorted({1, 2, *(block << level for level in range(6)), *((block << level) + 1 for level in range(5))})


@pytest.mark.parametrize("walks", [False, True])
@pytest.mark.parametrize("path_from", [1, 40, 10**9])
@pytest.mark.parametrize("shape", SHAPES)
def test_keys_end_in_order(shape: str, path_from: int, walks: bool) -> None:
    sort, rng = sort_of(shape, path_from=path_from, walks=walks), np.random.default_rng(1)
    for n in counts(sort):
        for in_place in (False, True):
            keys = rng.integers(0, 50, (3, n), np.uint32)
            kept = keys.copy()
            assert np.array_equal(model.run(sort, keys, in_place=in_place), np.sort(kept)), (n, in_place)
            assert in_place or np.array_equal(keys, kept)


@pytest.mark.parametrize("key", ["u32", "u64"])
@pytest.mark.parametrize("most", [256, 1024])
def test_blocks_by_rows_and_their_merges_end_in_order(most: int, key: str) -> None:
    """Few keys are a single block, more keys are two blocks or more; grids cover blocks, and tiles."""
    p = bitonic.Params(key=KEYS[key], path_walks=True, row_block=most, **SCALES, **ROWS)
    sort, rng = sort_by("bitonic", p, PLAIN), np.random.default_rng(5)
    assert [k.name for k in sort.kernels] == ["row_block", "path"] and p.lane_block == most
    for n in counts(sort):
        keys = rng.integers(0, 50, (2, n), np.dtype(f"u{KEYS[key].bytes}"))
        assert np.array_equal(model.run(sort, keys.copy(), in_place=False), np.sort(keys)), n
        first, *rest = launches(sort.plan, n, in_place=False)
        size = p.block << level_of(first.step)
        assert first.step.kernel == "row_block" and size <= most and first.groups == -(-n // size)
        assert not rest if n <= min(2 * p.block, most) else first.groups > 1
        assert [level_of(x.step) for x in rest] == list(range(level_of(first.step), level_of(first.step) + len(rest)))
        assert size << len(rest) >= n


@pytest.mark.parametrize("value", ["v4", "v16", "index"])
def test_values_move_with_their_keys_by_rows(value: str) -> None:
    """Each launch reads the keys and the values that the launch before has written, and scratch has room for both."""
    signature = Signature(value=value)
    p = bitonic.Params(key=KEYS["u32"], path_walks=True, row_block=1024, signature=signature, **SCALES, **ROWS)
    sort, rng = sort_by("bitonic", p, signature), np.random.default_rng(6)
    assert [k.name for k in sort.kernels] == ["row_block", "path"] and p.lane_block == 1024
    for n, in_place in ((n, place) for n in counts(sort) for place in (False, True)):
        keys, held = rng.integers(0, 50, n, np.uint32), signature.value_bytes
        places: dict[object, Any] = {}  # the order of the keys that a buffer holds
        for launch in launches(sort.plan, n, in_place=in_place):
            names = (b.name for b in sort.kernel(launch.step.kernel).buffers)
            by_buffer = dict(zip(names, launch.step.bindings, strict=True))
            if launch.step.kernel == "row_block":
                size = p.block << level_of(launch.step)
                order = np.concatenate([i + np.argsort(keys[i : i + size], kind="stable") for i in range(0, n, size)])
                to, values_to = by_buffer["destination"], by_buffer["values_out"]
            else:
                order, size = places[by_buffer["from"]], 2 * p.block << level_of(launch.step)
                assert order is places[by_buffer["values_from"]]
                cut = (order[i : i + size] for i in range(0, n, size))
                order = np.concatenate([run[np.argsort(keys[run], kind="stable")] for run in cut])
                to, values_to = by_buffer["to"], by_buffer["values_to"]
            if to.role == "scratch":
                assert 4 * n <= offset(values_to, n) <= scratch_bytes(sort, n) - held * n
            places[to] = places[values_to] = order
        assert {to.role, values_to.role} == {"destination", "values_out"}
        assert np.array_equal(order, np.argsort(keys, kind="stable")), (n, in_place)


def test_sorts_without_merges_by_rows_have_no_blocks_by_rows() -> None:
    """Values of 64-bit keys and device-side counts keep the kernels of the shape."""
    counted = Signature(value="v4", device_count=True)
    for key, signature in (("u64", Signature(value="v4")), ("u32", Signature(device_count=True)), ("u32", counted)):
        p = bitonic.Params(key=KEYS[key], path_walks=True, row_block=1024, signature=signature, **SCALES, **ROWS)
        assert p.lane_block == 0 and "row_block" not in {k.name for k in bitonic.kernels(p)}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"path_from": None}, "needs path_from"),
        ({"path_from": 512}, "needs path_from"),
        ({"row_block": 128}, "not a power of two from a block"),
        ({"row_block": 768}, "not a power of two from a block"),
        ({"slabs": 3}, "not a power of two from a block"),
        ({"row_block": 1 << 20}, "bytes of local memory"),
    ],
)
def test_blocks_by_rows_that_do_not_fit_are_refused(changes: dict[str, Any], complaint: str) -> None:
    device = target.find("cpu").device
    p = bitonic.Params(key=KEYS["u32"], **{**SCALES, **ROWS, "row_block": 1024, **changes})
    ((key, problem, _),) = bitonic.problems(p, device)
    assert key == "row_block" and complaint in problem


@pytest.mark.parametrize(("key", "value"), [("u32", "v4"), ("u64", "v16"), ("u32", "index")])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_keep_the_order_of_equal_keys(shape: str, key: str, value: str) -> None:
    signature = Signature(value=value, key_transform=True)
    sort, rng, how = sort_of(shape, key, signature, path_from=1), np.random.default_rng(2), options("i32", "descending")
    for n in counts(sort):
        for in_place in (False, True):
            keys = rng.integers(0, 9, n, np.dtype(f"u{KEYS[key].bytes}"))
            values = oracle.values_for(rng, n, sort)
            out, moved = model.run_valued(sort, keys, values, in_place=in_place, how=how)
            order = oracle.permutation(keys, sort, how)
            assert np.array_equal(out, keys[order])
            assert np.array_equal(moved, oracle.values_expected(values, order, sort))


def test_rows_of_counts_do_not_overlap_and_scratch_is_enough() -> None:
    """Each level is one launch, from one buffer to the other, and the last one ends in the destination."""
    sort = sort_of("wide", path_from=40)
    p = sort.parts[0].params
    for n in (p.block, 2 * p.block, 2 * p.block + 1, 100 * p.block, 3_000_000):
        steps = [launch.step for launch in launches(sort.plan, n, in_place=False)]
        paths = [s for s in steps if s.kernel == "path"]
        assert [level_of(s) for s in paths] == list(range(1, 1 + len(paths)))
        assert p.block << (1 + len(paths)) >= n and (not paths or p.block << len(paths) < n)
        ends = [s.bindings[-1].role for s in steps]
        assert ends[-1] == "destination" and {s.bindings[0].role for s in paths} <= {"scratch", "destination"}
        assert all(s.bindings[0] != s.bindings[1] for s in paths)
        assert scratch_bytes(sort, n) == (4 * n if n > 2 * p.block else 0)


def test_a_count_on_the_device_knows_no_paths() -> None:
    device_count = sort_of("wide", signature=Signature(device_count=True), path_from=1)
    assert not [k for k in device_count.kernels if k.name == "path"]


def test_a_target_says_where_paths_begin() -> None:
    found = target.find("generic")
    p = replace(found.choices["bitonic", "u32"], path_from=4096)
    for name, walks in (("generic", False), ("cpu", True)):
        device = target.find(name).device
        made = bitonic.specialize({"u32": p}, KEYS["u32"], PLAIN, device)
        assert made is not None and made.path_walks == walks
        assert ("merge paths", "runs of 4096 keys and more") in bitonic.notes(made)
    text = (target.resources.targets() / "generic.toml").read_text(encoding="utf-8")
    wrong = text.replace("stream_group = 256\n", "stream_group = 256\npath_from = 0\n", 1)
    with pytest.raises(Usage, match=r"bitonic\.u32\.path_from"):
        target.parse(wrong, "generic", "generic.toml")


def test_indices_of_paths_fit_signed_32_bit_numbers() -> None:
    """At the greatest count of `cpu`: the limits of the last two runs, and their tiles."""
    for key in ("u32", "u64"):
        sort = target.find("cpu").sort("bitonic", key)
        seen = 0
        for each in launches(sort.plan, sort.plan.max_n, in_place=False):
            p = sort.parts[0].params
            if each.step.kernel == "path":
                run, tile, seen = p.block << (each.argument & 255), 1 << (each.argument >> 8), seen + 1
                tiles = 2 * run // tile + (2 * run % tile != 0)
                last = (each.groups - 1) // tiles * 2 * run
                assert last + 2 * run + tile < 1 << 31 and run < sort.plan.max_n
        assert seen == (sort.plan.max_n - 1).bit_length() - (p.lane_block - 1).bit_length()
