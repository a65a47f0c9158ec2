"""Rows of equal length that no work-group holds: launches without work are omitted, and their kernels not compiled.

The kernels of hsgen.cuda run through OpenCL, on the CPU (`fake_cuda`).  Lengths are those at which other launches have
work, and one less and one more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_cuda import Array, Fake
from nightly import nightly
from sorters import order_of, random_keys

from hsgen.algorithms.segmented import equal_rows, short_rows
from hsgen.algorithms.segmented.params import Params
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.cuda import SegmentedSorter
from hsgen.cuda.choices import SEGMENTS
from hsgen.cuda.order import Shape, order
from hsgen.engines.hosts import Host
from hsgen.targets.target import find, names

LISTS, SHORT, PASSES = {"begin", "sift"}, {"windows", "windows_rest"}, {"count", "rows", "scatter", "copy"}


def params_of(sort: Sort) -> Params:
    p = sort.parts[0].params
    assert isinstance(p, Params)
    return p


def lengths_of(p: Params) -> list[int]:
    """Lengths at which other launches have work, and one less and one more."""
    bounds = (p.small, p.window, p.tile, 2 * p.tile)
    return sorted({1, 2, *(b + d for b in bounds for d in (-1, 0, 1) if b + d > 0)})


def working(p: Params, rows: int, length: int) -> set[str]:
    """The kinds of lists that are not empty: a model of `windows` and `sift`, for each window and row."""
    kinds, n = set(), rows * length
    for low in range(0, n, p.window):
        first, last = -(-low // length), min(-(-(low + p.window) // length), rows)
        if first < last and length > p.small:
            last -= 1
        if first < last:
            kinds.add("short")
    for s in range(rows):
        closes = s + 1 == rows or (s + 1) * length // p.window != s * length // p.window
        if length > p.tile:
            kinds.add("long")
        elif length > p.small and (closes or not p.together):
            kinds.add("medium")
    return kinds


@pytest.mark.parametrize("name", [name for name in names() if "cuda" in find(name).apis])
def test_only_launches_without_work_are_omitted(name: str) -> None:
    for key, signature in (("u32", Signature()), ("u64", Signature(value="index64")), ("u8", Signature(value="v16"))):
        sort = find(name).sort("segmented_sort", key, signature)
        p = params_of(sort)
        if p.serial:
            assert equal_rows.plan(sort, 3, p.tile + 1) is None
            continue
        every = [s.kernel for s in sort.plan.steps]
        for length in lengths_of(p):
            for rows in (1, 2, 5):
                planned = equal_rows.plan(sort, rows, length)
                launched = [s.kernel for s in planned.steps] if planned else every
                assert planned is None or (planned.scratch, planned.max_n) == (sort.plan.scratch, sort.plan.max_n)
                kinds = working(p, rows, length)
                idle = {k for k in every if k not in launched}
                assert not idle & LISTS
                assert "short" not in kinds or not idle & SHORT
                assert "medium" not in kinds or "alone" not in idle
                assert "long" not in kinds or not idle & PASSES
                needed = (LISTS, SHORT if "short" in kinds or length < p.window else set())
                needed += ({"alone"} if "medium" in kinds or p.small < length <= p.tile else set(),)
                assert set(launched) <= set().union(*needed, PASSES if "long" in kinds else set()), (length, rows)


@pytest.mark.parametrize(
    ("name", "key", "value", "way"),
    [
        ("nvidia-sm90", "u32", "index", "descending"),
        ("generic", "u8", None, "ascending"),
        nightly("nvidia-hopper", "f32", "index64", "ascending"),
        nightly("nvidia-hopper", "u64", None, "descending"),
        nightly("nvidia-sm35", "f64", "index", "ascending"),
    ],
)
def test_rows_are_sorted_by_launches_with_work(
    name: str, key: str, value: Any, way: str, embedded: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stable, in place and into other arrays; a sorter renders no kernels but those that it launches."""
    fake, rng, sorters = Fake(embedded).install(monkeypatch), np.random.default_rng(12), list[SegmentedSorter]()
    p = params_of(SegmentedSorter(key, value=value, order=way, target=name)._sort)
    for length in {p.window + 1, p.tile, short_rows.LONGEST + 1, 2 * short_rows.LONGEST + 77}:
        sorter, rows = SegmentedSorter(key, value=value, order=way, target=name), 3
        sorters.append(sorter)  # the driver keeps programs by the identity of kernels
        keys = random_keys(rng, rows * length, key, distinct=1 << 20)
        expected = np.concatenate(
            [order_of(row, key, way) + i * length for i, row in enumerate(keys.reshape(rows, -1))]
        )
        bits = keys.view(f"u{keys.dtype.itemsize}")
        for here in (False, True):
            array = Array(fake, bits.view(sorter.dtype))
            out = array if here else Array(fake, np.zeros_like(bits).view(sorter.dtype))
            places = Array(fake, np.zeros(len(bits), np.uint64 if value == "index64" else np.uint32))
            fake.launched.clear()
            more = {} if value is None else {"values_out": places}
            sorter(array, segments=rows, out=None if here else out, **more)
            kernels = {x.kernel for x in fake.launched}
            if any(kernel.startswith("row") for kernel in kernels - PASSES):
                continue  # rows that fit a work-group
            assert kernels < {k.name for k in sorter._sort.kernels}, length
            assert set(sorter._kernels._loaded) == kernels
            assert (out.get().view(bits.dtype) == bits[expected]).all(), (length, here)
            if value is not None:
                assert (places.get() == expected).all(), (length, here)
    fake.launched.clear()
    fake.runs = False
    offsets, more = Array(fake, np.array([0, 5, 9], np.uint32)), {}
    if value is not None:
        more = {"values_out": Array(fake, np.zeros(9, places.dtype))}
    sorter(Array(fake, np.zeros(9, sorter.dtype)), offsets, **more)
    every = [s.kernel for s in sorter._sort.plan.steps if s.guard.min_n < 9 and s.guard.place != "out"]
    assert [x.kernel for x in fake.launched] == every  # segments with offsets have any length


@pytest.mark.parametrize("length", [32_769, 40_000])
def test_arguments_of_rows_discard_keys_in_scratch(
    length: int, embedded: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake, rows = Fake(embedded).install(monkeypatch), 3
    data = np.random.default_rng(5).integers(-99, 99, rows * length).astype(np.int32)
    planned = order(Shape(number=0, key="i32", rows=rows, length=length, keys=False), SEGMENTS)
    assert planned is not None and planned.scratch > 4 * rows * length
    array, indices = Array(fake, data), Array(fake, np.zeros(rows * length, np.int64))
    scratch = fake.allocate(planned.scratch)
    planned.run(array.address, 0, indices.address, scratch, 0)
    expected = np.argsort(data.reshape(rows, length), axis=1, kind="stable")
    assert (indices.get().reshape(rows, length) == expected).all()
    assert (array.get() == data).all()
