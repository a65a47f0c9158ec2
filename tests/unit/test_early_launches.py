"""Kernels for CUDA that may be launched before those ahead have ended, and kernels that several tables share."""

from __future__ import annotations

import re

import pytest

from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.targets import assembly, target

WAIT = "hs_wait_for_kernels();"


def pairs(key: str) -> Sort:
    """Return the sort of pairs that has the most tables."""
    return target.find("nvidia-hopper").sort("auto", key, Signature(value="v4"))


def test_each_kernel_first_waits_for_those_ahead() -> None:
    """Before it reads or writes anything, a count in device memory included."""
    sort = target.find("nvidia-hopper").sort("auto", "u32", Signature(device_count=True))
    source = render(sort, "cuda")
    parts = source.parts
    assert set(parts) == {k.name for k in sort.kernels}
    waits = (
        '#if __CUDA_ARCH__ >= 900\n#define hs_wait_for_kernels() asm volatile("griddepcontrol.wait;" ::: "memory")\n'
    )
    assert waits in source.prelude
    for name, text in parts.items():
        body = text[text.index("{\n") + 2 :]
        assert body.startswith(f"    {WAIT}"), name


def test_hip_has_no_such_launches() -> None:
    sort = target.find("amd-rdna").sort("auto", "u32")
    assert (
        "#if __CUDA_ARCH__ >= 900\n#define hs_wait_for_kernels() asm" in render(sort, "hip").prelude
    )  # not defined there


@pytest.mark.parametrize("key", ["u32", "u64"])
def test_tables_with_the_same_look_back_share_its_kernels(key: str) -> None:
    sort = pairs(key)
    names = [k.name for k in sort.kernels]
    for kernel in ("begin", "histogram", "onesweep"):
        assert len([n for n in names if re.fullmatch(rf"{kernel}(_radix\w*)?", n)]) == 1, names
    sorting = [n for n in names if re.fullmatch(r"pair_bucket_radix_(few|pairs|more|many)", n)]
    assert len(sorting) == len([x for x in sort.parts if x.max_n > 1 << 22]) == 4
    assert {s.kernel for s in sort.plan.steps} == set(names)


@pytest.mark.parametrize("key", ["u32", "u64"])
@pytest.mark.parametrize("n", [1 << 22, 1 << 25, 1 << 28, 1 << 29])
def test_traffic_is_that_of_the_table_of_a_count(key: str, n: int) -> None:
    """Two passes and a sort on chip read and write keys and values three times, and one more read counts them."""
    sort = pairs(key)
    once = n * (sort.key.bytes + 4)
    found = assembly.traffic(sort, n)
    assert 6 * once <= found <= 1.1 * (6 * once + 2 * n * sort.key.bytes), (found / once, n)
