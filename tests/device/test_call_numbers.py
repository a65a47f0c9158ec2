"""Every number of every public call: any integer of Python or numpy within its bounds, and nothing else.

The numbers are read off the signatures, so that a new argument has a case here, or its test fails.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from fake_cuda import Array, Fake
from sorters import SMALL

import hsgen.cuda
import hsgen.numpy
import hsgen.opencl
from hsgen.core.errors import OutOfRange, Usage
from hsgen.core.numbers import integer
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import context_for
from hsgen.system import toolchain

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")

N = 240  # keys of most calls, so that every number fits all types
TYPES = (np.uint8, np.uint16, np.uint32, np.int64)
WRONG = (True, np.True_, 5.0, np.float32(5), "5", b"5", [5], 1j, np.array([5]))
INSIDE = {"prepared", "options", "short_rows", "of"}
"""Methods of `hsgen.cuda` for its own modules, whose callers have checked their numbers."""

Buffers = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A call of a class: its arguments, its arrays, and its numbers, of which each is valid.

    arrays: those of a call by argument, in the order of its positional ones.  written: those that it writes.
    """

    made: Mapping[str, Any] = field(default_factory=dict)
    arrays: Callable[[], Mapping[str, Any]] = dict
    numbers: Mapping[str, int] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    large: tuple[str, ...] = ()  # numbers of which 2^40 is one that a call may have


def random(n: int = N, dtype: Any = np.uint32) -> Any:
    return np.random.default_rng(n).integers(0, 200, n).astype(dtype)


CASES = {
    "Sorter": Case(
        made={"bit_range": True, "run_boundaries": True},
        arrays=lambda: {"keys": random(), "report": np.zeros(N + 1, np.uint32)},
        numbers={"n": 200, "begin_bit": 2, "end_bit": 7, "shift": 3},
        written=("keys", "report"),
    ),
    "SegmentedSorter": Case(
        made={"bit_range": True},
        arrays=lambda: {"keys": random()},
        numbers={"segments": 4, "begin_bit": 2, "end_bit": 7},
        written=("keys",),
    ),
    "Merger": Case(
        arrays=lambda: {"a": np.sort(random(99)), "b": np.sort(random(50)), "out": np.zeros(149, np.uint32)},
        written=("out",),
    ),
    "Scanner": Case(arrays=lambda: {"keys": random()}, numbers={"n": 50}, written=("keys",)),
    "TopK": Case(
        arrays=lambda: {"keys": random(), "out": np.zeros(N, np.uint32)},
        numbers={"n": 200, "k": 5, "rows": 4},
        written=("out",),
    ),
    "ReduceByKey": Case(
        arrays=lambda: {
            "keys": np.sort(random()),
            "out": np.zeros(N, np.uint32),
            "groups": np.zeros(1, np.uint32),
            "counts": np.zeros(N, np.uint32),
        },
        numbers={"n": 200},
        written=("out", "groups", "counts"),
    ),
    "GroupBy": Case(
        arrays=lambda: {"keys": random(), "out": np.zeros(N, np.uint32), "groups": np.zeros(1, np.uint32)},
        written=("groups",),
    ),
    "Operation": Case(
        arrays=lambda: {"keys": random(), "out": np.zeros(N, np.uint32), "groups": np.zeros(1, np.uint32)},
        numbers={"n": 200},
        written=("groups",),
    ),
    "Checker": Case(
        made={"bit_range": True},
        arrays=lambda: {"keys": random()},
        numbers={"n": 200, "size": 230, "begin_bit": 2, "end_bit": 7},
    ),
    "Gatherer": Case(
        arrays=lambda: {"index": random(100) % 30, "source": random(), "out": np.zeros(N, np.uint32)},
        numbers={"n": 20, "item_bytes": 8},
        written=("out",),
        large=(),
    ),
}
WITHOUT_NUMBERS = {"ColumnSorter", "import_pyopencl", "unique", "run_length_encode"}
"""Callables that take no numbers; `Field` has a test of its own."""


class World:
    """An API: its package, and how a call is made and its arrays are read."""

    package: Any
    first: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def array(self, data: Any) -> Any:
        raise NotImplementedError

    def made(self, name: str) -> Any:
        """The object of a case, compiled once."""
        if name not in self._made:
            key = {"Gatherer": (), "Operation": ("group_by", "u32")}.get(name, ("u32",))
            target = "generic" if name in ("Scanner", "Gatherer") else self.target
            self._made[name] = getattr(self.package, name)(*self.context, *key, target=target, **CASES[name].made)
        return self._made[name]

    target: Any = "generic"
    context: tuple[Any, ...] = ()

    def call(self, name: str, numbers: Mapping[str, Any]) -> list[bytes]:
        """Call the object of a case with new arrays; return the bytes that it wrote, or its result as text."""
        case = CASES[name]
        given = {role: self.array(data) for role, data in case.arrays().items()}
        positional = [p for p in ("a", "b", "index", "source", "keys", "k") if p in given or p in numbers]
        if name == "Operation":
            positional = []
        if name in ("Merger", "Gatherer"):
            positional.append("out")
        both = {**given, **numbers}
        named = {role: x for role, x in both.items() if role not in positional}
        result = self.made(name)(*self.first, *(both[p] for p in positional), **named)
        return [given[role].get().tobytes() for role in case.written] or [repr(result).encode()]


class OpenCl(World):
    package = hsgen.opencl

    def __init__(self, host: Host, target: str) -> None:
        super().__init__()
        self._context = context_for(host)  # kept: Intel's runtime frees a context that only a queue holds
        self.queue = cl.CommandQueue(self._context)
        self.first, self.context, self.target = (self.queue,), (self._context,), target

    def array(self, data: Any) -> Any:
        return array.to_device(self.queue, data)


class Cuda(World):
    package = hsgen.cuda

    def __init__(self, fake: Fake) -> None:
        super().__init__()
        self.fake = fake

    def array(self, data: Any) -> Any:
        return Array(self.fake, data)


@pytest.fixture(scope="module")
def worlds(embedded: Host, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, World]]:
    path = tmp_path_factory.mktemp("numbers") / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    patch = pytest.MonkeyPatch()
    yield {"opencl": OpenCl(embedded, str(path)), "cuda": Cuda(Fake(embedded).install(patch))}
    patch.undo()


def numbers_of(call: Any) -> dict[str, bool]:
    """The arguments of a callable that are numbers, each with whether it may be None."""
    found = inspect.signature(call).parameters.values()
    return {p.name: "None" in p.annotation for p in found if p.annotation in ("int", "int | None")}


def methods(class_: Any) -> dict[str, dict[str, bool]]:
    """The numbers of the public methods of a class."""
    every = inspect.getmembers(class_, inspect.isfunction)
    public = {n: f for n, f in every if n == "__call__" or not (n.startswith("_") or n in INSIDE)}
    return {name: numbers_of(f) for name, f in public.items()}


@pytest.mark.parametrize("package", [hsgen.opencl, hsgen.cuda])
def test_every_number_of_every_public_call_has_a_case(package: Any) -> None:
    assert set(package.__all__) - WITHOUT_NUMBERS - {"Field"} == set(CASES)
    for name in set(package.__all__) & WITHOUT_NUMBERS:
        made = getattr(package, name)
        assert not numbers_of(made).keys() - {"device"}
        assert not inspect.isclass(made) or not any(methods(made).values())
    for name, case in CASES.items():
        class_ = getattr(package, name)
        found = methods(class_)
        assert set(found.pop("__call__")) == set(case.numbers)
        assert found.pop("scratch_bytes", {"n": False}) == {"n": False}
        assert not any(found.values()), name
        more = {"columns"} if name == "Scanner" else set()
        assert numbers_of(class_).keys() - more == ({"device"} if package is hsgen.cuda else set())
    assert not any(numbers_of(getattr(hsgen.numpy, name)) for name in ("Sorter",))


@pytest.mark.parametrize("api", ["opencl", "cuda"])
@pytest.mark.parametrize(("name", "argument"), [(name, a) for name, c in CASES.items() for a in c.numbers])
def test_numbers_are_integers_within_bounds(name: str, argument: str, api: str, worlds: dict[str, World]) -> None:
    """Of any type with the same result; what is refused is refused after a valid call, too, which is remembered."""
    world, case = worlds[api], CASES[name]
    expected = world.call(name, case.numbers)
    for kind in TYPES:
        assert world.call(name, {**case.numbers, argument: kind(case.numbers[argument])}) == expected, kind
    optional = numbers_of(type(world.made(name)).__call__)[argument]
    wrong = [*WRONG, float(case.numbers[argument]), *([] if optional else [None])]
    for given in wrong:
        with pytest.raises(TypeError, match=rf"^{argument} is .*; give an integer from \d+ to \d+$"):
            world.call(name, {**case.numbers, argument: given})
    for beyond in (-1, np.int8(-1), 1 << 40, np.uint64(1 << 40), -(1 << 70), 1 << 9000):
        with pytest.raises(OutOfRange, match=rf"^{argument} .*: give \d+ to \d+$") as refused:
            world.call(name, {**case.numbers, argument: beyond})
        assert isinstance(refused.value, Usage) and isinstance(refused.value, ValueError)
    assert world.call(name, case.numbers) == expected


@pytest.mark.parametrize("api", ["opencl", "cuda"])
@pytest.mark.parametrize("name", [name for name in CASES if name != "Gatherer"])
def test_scratch_is_computed_in_integers_of_python(name: str, api: str, worlds: dict[str, World]) -> None:
    made = worlds[api].made(name)
    for n in (0, 1, 200, 255):
        found = [made.scratch_bytes(kind(n)) for kind in TYPES]
        assert found == [made.scratch_bytes(n)] * len(TYPES) and {type(x) for x in found} == {int}
    for n in (5000, 60_000):
        assert made.scratch_bytes(np.uint16(n)) == made.scratch_bytes(np.int64(n)) == made.scratch_bytes(n)
    for wrong in (*WRONG, None):
        with pytest.raises(TypeError, match=r"^n is .*; give an integer from 0 to \d+$"):
            made.scratch_bytes(wrong)
    for beyond in (-1, made.max_n + 1, 1 << 40, np.int64(-5)):
        with pytest.raises(OutOfRange, match=rf"^n -?\d+: give 0 to {made.max_n}$"):
            made.scratch_bytes(beyond)
    assert made.scratch_bytes(made.max_n) >= made.scratch_bytes(5000)


def test_an_argsort_that_discards_keys_computes_in_integers_of_python(worlds: dict[str, World]) -> None:
    world = worlds["opencl"]
    sorter = hsgen.opencl.Sorter(*world.context, "u32", value="index", target=world.target)
    for kind in (np.uint16, np.int16, np.uint32):
        assert sorter.scratch_bytes(kind(30_000), discard_keys=True) == sorter.scratch_bytes(30_000, discard_keys=True)
    with pytest.raises(OutOfRange, match="n -1: give 0 to"):
        sorter.scratch_bytes(-1, discard_keys=True)


def test_the_columns_of_a_sum(worlds: dict[str, World]) -> None:
    for api, world in worlds.items():
        scanner = worlds[api].package.Scanner
        assert scanner(*world.context, "u32", target="generic", columns=np.uint8(4)).columns == 4
        for given in (*WRONG, 4.0, None):
            with pytest.raises(TypeError, match=r"^columns is .*; give an integer from 1 to 16$"):
                scanner(*world.context, "u32", target="generic", columns=given)
        for beyond in (0, -1, 17, 1 << 40):
            with pytest.raises(OutOfRange, match=r"^columns -?\d+: give 1 to 16$"):
                scanner(*world.context, "u32", target="generic", columns=beyond)


@pytest.mark.parametrize("name", [name for name in hsgen.cuda.__all__ if inspect.isclass(getattr(hsgen.cuda, name))])
def test_the_number_of_a_gpu(name: str, worlds: dict[str, World]) -> None:
    class_ = getattr(hsgen.cuda, name)
    if name == "Field":
        return
    more: tuple[Any, ...] = {"ColumnSorter": (["u32"],), "Operation": ("group_by",)}.get(name, ())
    for kind in TYPES:
        assert class_(*more, target="generic", device=kind(1))._gpu.number == 1
    for given in WRONG:
        with pytest.raises(TypeError, match=r"^device is .*; give an integer from 0 to 1$"):
            class_(*more, target="generic", device=given)
    for beyond in (-1, 2, 1 << 40):
        with pytest.raises(OutOfRange, match=r"^device -?\d+: give 0 to 1$"):
            class_(*more, target="generic", device=beyond)


def test_the_handle_of_a_stream(worlds: dict[str, World]) -> None:
    world = worlds["cuda"]
    for kind in TYPES:
        world.call("Scanner", {"stream": kind(4)})
        assert world.fake.launched[-1].stream == 4  # type: ignore[attr-defined]
    for given in (True, 4.0, [4]):
        with pytest.raises(TypeError, match=r"^stream is "):
            world.call("Scanner", {"stream": given})
    for beyond in (-1, 1 << 64):
        with pytest.raises(OutOfRange, match=r"^stream -?\d+: give 0 to 18446744073709551615$"):
            world.call("Scanner", {"stream": beyond})


def test_the_numbers_of_a_field() -> None:
    for kind in TYPES:
        made = hsgen.opencl.Field(None, kind(200), item_bytes=kind(240))
        assert (type(made.offset), type(made.item_bytes)) == (int, int)
        assert (made.offset, made.item_bytes) == (200, 240)
    for given in WRONG:
        with pytest.raises(TypeError, match=r"^offset is .*; give an integer from 0 to \d+$"):
            hsgen.opencl.Field(None, given)
        with pytest.raises(TypeError, match=r"^item_bytes is .*; give an integer from 1 to \d+$"):
            hsgen.opencl.Field(None, item_bytes=given)
    for line, numbers in (("offset -1: give 0 to", (-1, 4)), ("item_bytes 0: give 1 to", (0, 0))):
        with pytest.raises(OutOfRange, match=line):
            hsgen.opencl.Field(None, numbers[0], item_bytes=numbers[1])


def test_an_array_of_another_library_may_have_any_integers_as_its_shape(worlds: dict[str, World]) -> None:
    world = worlds["cuda"]
    keys = world.array(random(60_000))
    expected = np.sort(keys.get())
    keys.shape = (np.uint16(60_000),)
    world.made("GroupBy")
    sorter = hsgen.cuda.Sorter("u32", target="generic")
    sorter(keys)
    assert (keys.get() == expected).all()


@pytest.mark.parametrize("given", [np.array(5), np.int8(5), np.uint64(5), 5])
def test_an_integer_is_one_of_python(given: Any) -> None:
    assert type(integer("n", given, 0, 5)) is int
    with pytest.raises(OutOfRange, match=r"^n 5: give 6 to 9$"):
        integer("n", given, 6, 9)
    with pytest.raises(OutOfRange, match=r"^n 5: give 6$"):
        integer("n", given, 6, 6)
