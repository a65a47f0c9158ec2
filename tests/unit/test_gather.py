"""Gathers without a device: parameters and plans of every target, what calls may have, and what the oracle expects."""

from __future__ import annotations

import numpy as np
import pytest

from hsgen import operations
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, launches
from hsgen.core.keys import Signature
from hsgen.operations.calls import UNTOUCHED
from hsgen.operations.gather import MOST_BYTES, OPERATION, UNITS, gathered, unit
from hsgen.targets import target


@pytest.mark.parametrize("name", target.names())
def test_every_target_gathers(name: str) -> None:
    found = target.find(name)
    for value in ("none", "index", "v4", "v8", "v16"):
        sort = found.sort("gather", "u32", Signature(value=value))
        (kernel,) = sort.kernels
        assert sort.signature == Signature(value=value if value in UNITS else "v4", rows=True)
        assert sort.operation == "gather" and kernel.work_group <= found.device.work_group
        assert not kernel.arrays and sort.plan.scratch.bytes(sort.plan.max_n) == 0
        p = sort.parts[0].params
        for n in (1, p.tile, p.tile + 1, 1 << 30):
            (launch,) = launches(sort.plan, n, in_place=False, how=Options(segment_count=3, take=1))
            assert (launch.groups - 1) * p.tile < n <= launch.groups * p.tile


@pytest.mark.parametrize(
    ("key", "more"),
    [
        ("u64", {}),
        ("u8", {}),
        ("i32", {}),
        ("u32", {"device_count": True}),
        ("u32", {"bit_range": True}),
    ],
)
def test_what_a_gather_does_not_serve(key: str, more: dict[str, object]) -> None:
    with pytest.raises(Usage):
        target.find("generic").sort("gather", key, Signature(**more))  # type: ignore[arg-type]


def test_items_consist_of_the_widest_values() -> None:
    found = {size: unit(size) for size in range(4, MOST_BYTES + 1, 4)}
    sizes = {4: "v4", 8: "v8", 12: "v4", 16: "v16", 20: "v4", 24: "v8", 48: "v16", 252: "v4", 256: "v16"}
    assert {size: found[size] for size in sizes} == sizes
    for size in (0, -4, 2, 6, 255):
        with pytest.raises(Usage, match=f"items of {size} bytes: give a multiple of 4"):
            unit(size)


def test_expected_items() -> None:
    table = np.arange(12, dtype=np.uint32).reshape(-1, 2)  # values of 8 bytes
    index = np.array([1, 0, 1, 2, 5], np.uint32)
    assert gathered(index, table, Options(segment_count=3, take=2)).reshape(5, 4)[:4].tolist() == [
        [4, 5, 6, 7],
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
    ]
    assert (gathered(index, table, Options(segment_count=3, take=2))[-2:] == UNTOUCHED).all()


@pytest.mark.parametrize(
    ("n", "count", "take", "line"),
    [
        (10, 0, 1, "segment_count 0"),
        (10, 1, 0, "take 0"),
        (1 << 28, 1, 8, "up to 2147483647 values"),
        (1, 1 << 28, 8, "up to 2147483647 values"),
    ],
)
def test_wrong_numbers_are_refused(n: int, count: int, take: int, line: str) -> None:
    sort = target.find("generic").sort("gather", "u32")
    with pytest.raises(Usage, match=line):
        operations.settled(sort, n, Options(segment_count=count, take=take), ())
    operations.settled(sort, 0, Options(segment_count=count, take=take), ())


def test_a_benchmark_counts_whole_items() -> None:
    sort = target.find("generic").sort("gather", "u32", Signature(value="v16"))
    assert OPERATION.moved(sort, 1000, Options(segment_count=7, take=4)) == 1000 * (4 + 2 * 64)
    work = OPERATION.load(sort, np.array([0, 1 << 31], np.uint32), None, Options(take=2), np.random.default_rng(1))
    assert work.n == 2 and work.how.segment_count == 2 and work.keys.tolist() == [0, 1]
    assert work.values is not None and np.array_equal(work.values_expected, work.values)
