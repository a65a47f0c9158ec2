"""Arrays without elements, such as slices at the end of a buffer: every call is one with n = 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fake_cuda import Array, Fake
from sorters import SMALL

import hsgen.cuda
import hsgen.opencl
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import context_for
from hsgen.system import toolchain

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
N = 100  # keys before the end, which lies where no part of a buffer may begin
MARK = 77

Call = Callable[..., Any]


class World:
    """Calls of an API on arrays that begin somewhere in the memory of others, each of which holds `MARK`."""

    def __init__(self, package: Any, context: tuple[Any, ...], first: tuple[Any, ...], target: Any) -> None:
        self.package, self.context, self.first, self.target = package, context, first, target
        self.whole: list[Any] = []

    def array(self, data: Any) -> Any:
        raise NotImplementedError

    def part(self, whole: Any, begin: int, end: int) -> Any:
        raise NotImplementedError

    def empty(self, at: int = N, dtype: Any = np.uint32) -> Any:
        """An array without elements at some element of another."""
        self.whole.append(self.array(np.full(N, MARK, dtype)))
        return self.part(self.whole[-1], at, at)

    def call(self, name: str, *arrays: Any, made: dict[str, Any] | None = None, **named: Any) -> Any:
        target = "generic" if name in ("Scanner", "Gatherer", "ColumnSorter") else self.target
        key = () if name == "Gatherer" else (["u32"],) if name == "ColumnSorter" else ("u32",)
        return getattr(self.package, name)(*self.context, *key, target=target, **(made or {}))(
            *self.first, *arrays, **named
        )


class OpenCl(World):
    def array(self, data: Any) -> Any:
        return array.to_device(self.first[0], data)

    def part(self, whole: Any, begin: int, end: int) -> Any:
        return whole[begin:end]


class Cuda(World):
    fake: Fake

    def array(self, data: Any) -> Any:
        return Array(self.fake, data)

    def part(self, whole: Any, begin: int, end: int) -> Any:
        return whole.part(begin, end)


@pytest.fixture(scope="module")
def worlds(embedded: Host, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, World]]:
    path = tmp_path_factory.mktemp("empty") / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    context = context_for(embedded)  # kept: Intel's runtime frees a context that only a queue holds
    patch = pytest.MonkeyPatch()
    cuda = Cuda(hsgen.cuda, (), (), "generic")
    cuda.fake = Fake(embedded).install(patch)
    yield {"opencl": OpenCl(hsgen.opencl, (context,), (cl.CommandQueue(context),), str(path)), "cuda": cuda}
    patch.undo()


@pytest.fixture(params=["opencl", "cuda"])
def world(request: pytest.FixtureRequest, worlds: dict[str, World]) -> Iterator[World]:
    """An API, none of whose arrays may have changed after a test."""
    found = worlds[request.param]
    found.whole.clear()
    yield found
    assert all((x.get() == MARK).all() for x in found.whole)


@pytest.mark.parametrize("at", [0, 1, 64, N])
def test_sorts(world: World, at: int) -> None:
    e = world.empty
    world.call("Sorter", e(at))
    world.call("Sorter", e(at), e(at))
    world.call("Sorter", e(at), values=e(at), made={"value": 4})
    world.call("Sorter", e(at), e(at), values=e(at), values_out=e(at), made={"value": 4})
    same = e(at)
    world.call("Sorter", same, same, values=e(at), made={"value": 4})
    world.call("Sorter", e(at), values_out=e(at), discard_keys=True, made={"value": "index"})
    report = world.array(np.full(1, MARK, np.uint32))
    world.call("Sorter", e(at), report=report, made={"run_boundaries": True})
    assert report.get().tolist() == [0]


def test_other_operations(world: World) -> None:
    e, number = world.empty, lambda: world.array(np.full(1, MARK, np.uint32))
    world.call("SegmentedSorter", e(), segments=3)
    world.call("SegmentedSorter", e(), world.array(np.zeros(3, np.uint32)), out=e())
    world.call("Scanner", e(), e())
    world.call("TopK", e(), 1, out=e())
    world.call("TopK", e(), 0, rows=0, out=e(), values_out=e(), made={"value": "index"})
    assert world.call("Checker", e()) == world.call("Checker", world.array(np.zeros(0, np.uint32)))
    world.call("ColumnSorter", [e()], values=[e()], index_out=e())
    for name in ("ReduceByKey", "GroupBy"):
        groups = number()
        world.call(name, e(), out=e(), groups=groups, counts=e())
        assert groups.get().tolist() == [0]
    world.call("Gatherer", e(), world.array(np.zeros(5, np.uint32)), e())
    world.call("Gatherer", e(), e(), e())


def test_merges_with_one_empty_array(world: World) -> None:
    keys = np.arange(50, dtype=np.uint32)
    for given in ((world.empty(), world.array(keys)), (world.array(keys), world.empty())):
        out = world.array(np.zeros(50, np.uint32))
        world.call("Merger", *given, out)
        assert (out.get() == keys).all()
    world.call("Merger", world.empty(), world.empty(), world.empty())


def test_a_gpu_does_not_matter_for_an_array_without_elements(worlds: dict[str, World]) -> None:
    hsgen.cuda.Sorter("u32", target="generic", device=1)(worlds["cuda"].empty())


def test_functions_of_whole_arrays(worlds: dict[str, World]) -> None:
    world = worlds["opencl"]
    assert len(hsgen.opencl.unique(*world.first, world.empty())) == 0
    keys, counts = hsgen.opencl.run_length_encode(*world.first, world.empty())
    assert len(keys) == len(counts) == 0
