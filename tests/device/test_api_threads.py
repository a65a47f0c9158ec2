"""One sorter, scanner, merger or checker of the Python API, called by several threads at once, each with its own queue.

Arrays are copied from the host: pyopencl's own kernels, such as that of `arange`, are not thread-safe.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from sorters import SMALL

from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import context_for
from hsgen.opencl import Checker, Merger, Scanner, SegmentedSorter, Sorter
from hsgen.system import toolchain

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
THREADS, CALLS = 4, 60

Call = Callable[[Any, np.random.Generator], bool]
"""Calls on a queue with random input; returns whether the result is right."""


@pytest.fixture(scope="module")
def context(embedded: Host) -> Iterator[Any]:
    made = context_for(embedded)
    yield made
    del made


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("threads") / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return str(path)


@pytest.fixture
def hasty() -> Iterator[None]:
    """Python switches threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def numbers(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 1 << 32, rng.integers(1, 3000), np.uint32)


def sorts(context: Any, small: str) -> Call:
    sorter = Sorter(context, "u32", target=small, value=4)

    def call(queue: Any, rng: np.random.Generator) -> bool:
        host = numbers(rng)
        keys, values = array.to_device(queue, host), array.to_device(queue, np.arange(len(host), dtype=np.uint32))
        out, places = array.empty_like(keys), array.empty_like(values)
        sorter(queue, keys, out, values=values, values_out=places).wait()
        return bool((out.get(queue) == np.sort(host)).all() and (host[places.get(queue)] == np.sort(host)).all())

    return call


def sums(context: Any, small: str) -> Call:
    scanner = Scanner(context, "u32", target="generic")

    def call(queue: Any, rng: np.random.Generator) -> bool:
        host = numbers(rng)
        keys = array.to_device(queue, host)
        scanner(queue, keys).wait()
        return bool((keys.get(queue) == np.cumsum(host, dtype=np.uint32)).all())

    return call


def merges(context: Any, small: str) -> Call:
    merger = Merger(context, "u32", target=small)

    def call(queue: Any, rng: np.random.Generator) -> bool:
        a, b = np.sort(numbers(rng)), np.sort(numbers(rng))
        both = np.concatenate([a, b])
        out = array.to_device(queue, np.zeros_like(both))
        merger(queue, array.to_device(queue, a), array.to_device(queue, b), out).wait()
        return bool((out.get(queue) == np.sort(both)).all())

    return call


def checks(context: Any, small: str) -> Call:
    checker = Checker(context, "u32", target=small)

    def call(queue: Any, rng: np.random.Generator) -> bool:
        host = numbers(rng)
        before = checker(queue, array.to_device(queue, host))
        after = checker(queue, array.to_device(queue, np.sort(host)))
        return after.faults(before) == ()

    return call


def segments(context: Any, small: str) -> Call:
    sorter = SegmentedSorter(context, "u32", target=small)

    def call(queue: Any, rng: np.random.Generator) -> bool:
        rows = rng.integers(1, 60)
        host = rng.integers(0, 1 << 32, (rows, rng.integers(1, 50)), np.uint32)
        keys = array.to_device(queue, host.reshape(-1))
        sorter(queue, keys, segments=int(rows)).wait()
        return bool((keys.get(queue).reshape(host.shape) == np.sort(host)).all())

    return call


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("make", [sorts, sums, merges, checks, segments], ids=lambda x: x.__name__)
def test_threads_that_share_one(make: Callable[[Any, str], Call], context: Any, small: str) -> None:
    call, begin = make(context, small), Barrier(THREADS)

    def work(number: int) -> list[bool]:
        queue, rng = cl.CommandQueue(context), np.random.default_rng(number)
        begin.wait()
        return [call(queue, rng) for _ in range(CALLS)]

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(work, range(THREADS)))
    assert found == [[True] * CALLS] * THREADS
