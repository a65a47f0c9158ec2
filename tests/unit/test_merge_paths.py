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
from hsgen.core.interpreter import launches, options, scratch_bytes
from hsgen.core.keys import KEYS, PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.targets import target

SHAPES: dict[str, dict[str, Any]] = {
    "wide": {"subgroup": 4, "height": 2, "slabs": 4, "clean_slabs": 4, "stream_group": 16},
    "odd": {"subgroup": 1, "height": 2, "slabs": 5, "clean_slabs": 4, "stream_group": 4},
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
            data, p = sort.kernel(each.step.kernel).data, sort.parts[0].params
            if each.step.kernel == "path":
                run, seen = p.block << (each.argument & 255), seen + 1
                tiles = 2 * run // data.tile + (2 * run % data.tile != 0)
                last = each.groups // tiles * 2 * run
                assert last + 2 * run + data.tile < 1 << 31 and run < sort.plan.max_n
        assert seen == (sort.plan.max_n - 1).bit_length() - (p.block - 1).bit_length()
