"""Selections without a device: plans, scratch and parameters of every target; what the oracle expects.

- Every target that sorts has a selection, whose kernels fit its local memory, for all keys and values.
- Steps for short rows and for longer ones exclude each other, by the length of a row; C gets the same guards.
- Scratch holds what kernels address for any number of rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hsgen import operations
from hsgen.algorithms import radix_select
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, launches
from hsgen.core.keys import KEYS, Signature
from hsgen.operations.oracle import ordered, unordered
from hsgen.operations.top_k import positions, selected, sorted_up_to
from hsgen.targets import target


@pytest.mark.parametrize("name", target.names())
def test_every_target_selects(name: str) -> None:
    found = target.find(name)
    for key in ("u8", "u16", "f32", "u64"):
        wide = {"u8": found.device.storage8, "u16": found.device.storage16}.get(key, True)
        if not found.autos or not wide:
            with pytest.raises(Usage):
                found.sort("radix_select", key)
            continue
        for value in ("none", "v16", "index", "index64"):
            sort = found.sort("radix_select", key, Signature(value=value))
            p = sort.parts[0].params
            assert sort.signature == Signature(value=value, key_transform=True, rows=True) and sort.operation == "top_k"
            assert all(k.local_bytes(sort.key) <= found.device.local_bytes for k in sort.kernels)
            assert max(k.local_bytes(sort.key) for k in sort.kernels) == p.local_bytes() and p.capacity >= 512
            assert all(len(k.buffers) <= 10 and k.work_group <= found.device.work_group for k in sort.kernels)
            assert p.tile < 1 << 16, "counts of a tile share a word"


def test_what_a_selection_does_not_serve() -> None:
    found = target.find("generic")
    for more in ({"value": "packed"}, {"bit_range": True}, {"device_count": True}, {"run_boundaries": True}):
        with pytest.raises(Usage):
            found.sort("radix_select", "u32", Signature(**more))  # type: ignore[arg-type]


def launched(sort_key: str, n: int, rows: int) -> list[str]:
    sort = target.find("generic").sort("radix_select", sort_key)
    how = Options(segment_count=rows, take=1)
    return [x.step.kernel for x in launches(sort.plan, n, in_place=False, how=how)]


def test_the_length_of_a_row_decides_what_runs() -> None:
    limit = radix_select.Params(key=KEYS["u32"]).row_limit
    shared = ["clear", "count", "count", "count", "sift", "spine", "place", "order"]
    assert launched("u32", 0, 1) == []
    for rows in (1, 7, 300):
        assert launched("u32", rows, rows) == launched("u32", rows * limit, rows) == ["row"]
        assert launched("u32", rows * (limit + 1), rows) == shared
    assert launched("u8", limit + 1, 1) == ["clear", "count", *shared[4:]]
    assert len(launched("u64", limit + 1, 1)) == 8 + 5


@pytest.mark.parametrize("key", ["u8", "u32", "u64"])
def test_scratch_holds_the_words_of_all_rows(key: str) -> None:
    p = radix_select.Params(key=KEYS[key], row_limit=1000, capacity=64, work_group=32, items=4, bits=5)
    scratch = radix_select.plan(p).scratch
    assert scratch.bytes(p.row_limit) == 0
    for length in (1001, 1024, 1025, 1999, 5000):
        for rows in (1, 2, 3, 50):
            tiles = rows * -(-length // p.tile)
            assert 4 * rows * p.row_words + 8 * tiles <= scratch.bytes(rows * length), (length, rows)


def test_expected_selections() -> None:
    sort = target.find("generic").sort("radix_select", "f32", Signature(value="index"))
    keys = np.array([[1.0, -0.0, 0.0, 1.0], [np.nan, -np.inf, 2.0, 2.0]], np.float32).reshape(-1).view(np.uint32)
    how = Options(kind=2, descending=True, segment_count=2, take=3)
    assert positions(sort, keys, how).tolist() == [[0, 3, 2], [0, 2, 3]]
    assert positions(sort, keys, replace(how, descending=False, take=2)).tolist() == [[1, 2], [1, 2]]
    found, index = selected(sort, keys, None, how)
    assert index is not None and index.reshape(-1).tolist() == [0, 3, 2, 0, 2, 3]
    assert np.array_equal(found, keys[[0, 3, 2, 4, 6, 7]])
    many = np.arange(sorted_up_to(sort) * 2, dtype=np.uint32)[::-1].copy()
    how = Options(segment_count=1, take=sorted_up_to(sort) + 1)
    assert (np.diff(positions(sort, many, how)[0]) > 0).all(), "in the order of the row"


@pytest.mark.parametrize(
    ("n", "rows", "k", "line"),
    [
        (10, 3, 1, "10 keys cannot be divided"),
        (10, 0, 1, "10 keys cannot be divided"),
        (10, 2, 6, "give 1 to 5"),
        (10, 2, 0, "give 1 to 5"),
    ],
)
def test_wrong_numbers_are_refused(n: int, rows: int, k: int, line: str) -> None:
    sort = target.find("generic").sort("radix_select", "u32")
    with pytest.raises(Usage, match=line):
        operations.settled(sort, n, Options(segment_count=rows, take=k), ())
    operations.settled(sort, 0, Options(segment_count=rows, take=k), ())


@pytest.mark.parametrize("distinct", [1, 3, 1 << 32])
def test_the_oracle_takes_what_a_stable_sort_does(distinct: int) -> None:
    sort, rng = target.find("generic").sort("radix_select", "f32"), np.random.default_rng(distinct)
    for number in range(60):
        rows, length = int(rng.integers(1, 6)), int(rng.integers(1, 40))
        how = Options(
            kind=number % 3, descending=number % 2 > 0, segment_count=rows, take=int(rng.integers(length)) + 1
        )
        keys = rng.integers(0, distinct, rows * length, np.uint32)
        by = ordered(keys, how.kind, descending=how.descending).reshape(rows, length)
        assert (positions(sort, keys, how) == np.argsort(by, axis=1, kind="stable")[:, : how.take]).all()
        assert (unordered(by.reshape(-1), how.kind, descending=how.descending) == keys).all()
