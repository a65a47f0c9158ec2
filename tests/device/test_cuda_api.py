"""The Python API for CUDA with a driver that has no GPU: its kernels run through OpenCL, on the CPU."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from fake_cuda import Array, Fake

from hsgen.core.errors import Usage
from hsgen.core.interpreter import launches, options
from hsgen.core.keys import TYPES
from hsgen.cuda import Checker, Merger, Scanner, SegmentedSorter, Sorter
from hsgen.cuda.choices import EACH, ROWS, SEGMENTS, WHOLE
from hsgen.cuda.order import Shape, order
from hsgen.cuda.streams import KEPT
from hsgen.engines.hosts import Host
from hsgen.targets.target import find

pytestmark = pytest.mark.device
RNG = np.random.default_rng(24)
COUNTS = (0, 1, 2, 33, 1000, 5000)


@pytest.fixture(scope="module")
def made() -> dict[Any, Any]:
    """Sorters by their arguments: kernels are compiled once."""
    return {}


@pytest.fixture
def fake(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> Fake:
    return Fake(embedded).install(monkeypatch)


def keys(n: int, dtype: Any) -> Any:
    kind = np.dtype(dtype)
    bits = RNG.integers(0, 256, n * kind.itemsize, np.uint8).view(kind)
    if kind.kind == "f":
        bits = np.where(np.isnan(bits), kind.type(0), bits)
        bits[::7], bits[3::11] = 0.0, -0.0
    bits[::5] = bits[:1]
    return bits


@pytest.mark.parametrize("key", ["u32", "i64", "f32", "u8"])
def test_sorts_in_place_and_into_another_array(key: str, fake: Fake) -> None:
    sorter = Sorter(key, target="generic")
    for n in COUNTS:
        data = keys(n, sorter.dtype)
        mine, other = Array(fake, data), Array(fake, np.zeros_like(data))
        sorter(mine, out=other)
        assert (mine.get() == data).all()
        assert (other.get() == np.sort(data)).all()
        sorter(mine)
        assert mine.get().tobytes() == other.get().tobytes()


def test_argsorts_and_values(fake: Fake) -> None:
    sorter, pairs = (
        Sorter("u32", value="index", target="generic"),
        Sorter("u32", value=8, order="descending", target="generic"),
    )
    for n in COUNTS:
        data, values = RNG.integers(0, 50, n, np.uint32), np.arange(n, dtype=np.uint64)
        mine, order = Array(fake, data), Array(fake, np.zeros(n, np.int32))
        sorter(mine, values_out=order, discard_keys=True)
        assert (order.get() == np.argsort(data, kind="stable")).all()
        assert (mine.get() == data).all()
        moved = Array(fake, values)
        pairs(mine, values=moved)
        assert (moved.get() == np.argsort(~data, kind="stable")).all()
        assert (mine.get() == np.sort(data)[::-1]).all()


def test_bit_ranges_and_a_count_on_the_device(fake: Fake) -> None:
    sorter = Sorter("u32", bit_range=True, device_count=True, target="generic")
    data = RNG.integers(0, 1 << 32, 3000, np.uint32)
    mine = Array(fake, data)
    sorter(mine, begin_bit=4, end_bit=12)
    assert (mine.get() == data[np.argsort(data >> 4 & 255, kind="stable")]).all()
    mine, count = Array(fake, data), Array(fake, np.array([1234], np.uint32))
    sorter(mine, count=count)
    assert (mine.get() == np.concatenate([np.sort(data[:1234]), data[1234:]])).all()


def test_numeric_order_is_that_of_numpy(fake: Fake) -> None:
    data = keys(4000, np.float32)
    data[5::97], data[7::89] = np.nan, np.uint32(0xFFC00001).view(np.float32)
    sorter = Sorter("f32", value="index", numeric=True, target="generic")
    mine, out, order = Array(fake, data), Array(fake, data * 0), Array(fake, np.zeros(4000, np.uint32))
    sorter(mine, out, values_out=order)
    expected = np.argsort(data, kind="stable")
    assert (order.get() == expected).all()
    assert np.array_equal(out.get(), data[expected], equal_nan=True)
    plain = Sorter("f32", numeric=True, target="generic")
    plain(mine)
    assert np.array_equal(mine.get(), np.sort(data), equal_nan=True)


def test_bfloat16_keys(fake: Fake) -> None:
    bits = RNG.integers(0, 1 << 16, 2000, np.uint16)
    bits = bits[(bits & 0x7FFF) <= 0x7F80]
    mine = Array(fake, bits)
    Sorter("bf16", target="generic")(mine)
    numbers = (mine.get().astype(np.uint32) << 16).view(np.float32)
    assert (numbers[:-1] <= numbers[1:]).all()


def test_segments_with_offsets_and_rows(fake: Fake) -> None:
    sorter = SegmentedSorter("u32", value="index", target="generic")
    data = RNG.integers(0, 99, 6000, np.uint32)
    offsets = np.array([0, 0, 10, 500, 500, 5990], np.int32)
    mine, out, order = Array(fake, data), Array(fake, data * 0), Array(fake, np.zeros(6000, np.uint32))
    sorter(mine, Array(fake, offsets), out=out, values_out=order)
    sorter.check()
    expected = data.copy()
    for a, b in pairwise(offsets):
        expected[a:b].sort()
    assert (out.get() == expected).all()
    assert (data[order.get()] == expected).all()
    for rows in (6, 2):  # of which the first fit a work-group
        sorter(mine, segments=rows, out=out, values_out=order)
        assert (out.get() == np.sort(data.reshape(rows, -1), axis=1).ravel()).all()
    sorter(mine, Array(fake, offsets[::-1].copy()), out=out, values_out=order)
    with pytest.raises(ValueError, match="offsets decrease"):
        sorter.check()


def test_merges_sums_and_digests(fake: Fake) -> None:
    a, b = np.sort(RNG.integers(0, 99, 700, np.uint32)), np.sort(RNG.integers(0, 99, 1300, np.uint32))
    out = Array(fake, np.zeros(2000, np.uint32))
    Merger("u32", target="generic")(Array(fake, a), Array(fake, b), out)
    both = np.sort(np.concatenate([a, b]))
    assert (out.get() == both).all()
    Merger("u32", target="generic")(Array(fake, a[:0]), Array(fake, both), out)
    assert (out.get() == both).all()
    checker = Checker("u32", target="generic")
    after, before = checker(out), checker(Array(fake, both[::-1].copy()))
    assert after.faults(before) == () and before.faults(after) == ("order",)
    Scanner("u32", target="generic")(out)
    assert (out.get() == np.cumsum(both, dtype=np.uint32)).all()


@pytest.mark.parametrize("n", [1, 100, 1 << 14, 1 << 20, 1 << 24])
@pytest.mark.parametrize("value", [None, "index"])
def test_launches_are_those_of_the_plan(n: int, value: Any, fake: Fake) -> None:
    fake.runs = False
    sorter = Sorter("f32", value=value, order="descending", target="nvidia-hopper")
    data = Array(fake, np.empty(16, np.float32))
    data.shape = (n,)
    order = Array(fake, np.empty(16, np.uint32))
    order.shape = (n,)
    out = Array(fake, np.empty(16, np.float32))
    out.shape = (n,)
    sorter(data, out, values_out=order if value else None)
    how = options("f32", "descending")
    expected = [(x.step.kernel, x.grid, x.argument) for x in launches(sorter._sort.plan, n, in_place=False, how=how)]
    assert [(x.kernel, x.grid, x.scalars[1]) for x in fake.launched] == expected
    assert all(x.scalars[0] == n for x in fake.launched)
    assert set(fake.compiled) == {x[0] for x in expected}
    sorts = [x for x in fake.launched if x.cooperative]
    assert bool(sorts) == any(sorter._sort.kernel(x[0]).cooperative for x in expected)


def test_only_kernels_of_calls_are_compiled_and_once(fake: Fake) -> None:
    sorter = Sorter("u32", target="generic")
    assert not fake.compiled
    mine = Array(fake, np.arange(100, dtype=np.uint32)[::-1].copy())
    sorter(mine)
    first = list(fake.compiled)
    sorter(mine)
    assert first == fake.compiled and len(first) < len(sorter._sort.kernels)


def test_scratch_is_freed_on_the_stream_and_arrays_are_kept(fake: Fake) -> None:
    sorter = Sorter("u32", value="index", target="generic")
    mine = Array(fake, RNG.integers(0, 99, 5000, np.uint32), stream=16)
    order = Array(fake, np.zeros(5000, np.uint32), stream=16)
    held, kept = fake.held, len(KEPT)
    fake.pending.add(16)
    sorter(mine, values_out=order)
    assert [c for c in fake.calls if c.startswith(("allocate", "free"))] == ["allocate 16", "free 16"]
    assert fake.held == held and len(KEPT) == kept + 1
    fake.pending.clear()
    KEPT.sweep()
    assert len(KEPT) == 0
    assert {x.stream for x in fake.launched} == {16}
    sorter(mine, values_out=order, stream=32)
    assert fake.launched[-1].stream == 32


def test_errors_are_one_sentence_and_launch_nothing(fake: Fake) -> None:
    sorter, pairs = Sorter("u32", target="generic"), Sorter("u32", value=4, target="generic")
    data = RNG.integers(0, 99, 512, np.uint32)
    mine, other = Array(fake, data), Array(fake, data)
    wrong: list[tuple[type[Exception], str, Any]] = [
        (TypeError, "keys is a ndarray; give an array on a GPU", lambda: sorter(data)),
        (TypeError, "keys is None; give an array on a GPU", lambda: sorter(None)),
        (ValueError, "keys is on GPU 1, this sort on GPU 0", lambda: sorter(Array(fake, data, device=1))),
        (ValueError, "keys is not contiguous", lambda: sorter(Array(fake, data).strided())),
        (ValueError, "keys is read-only", lambda: sorter(Array(fake, data, readonly=True))),
        (ValueError, "out is read-only", lambda: sorter(mine, Array(fake, data, readonly=True))),
        (
            ValueError,
            "keys has elements of int32, this sort takes uint32",
            lambda: sorter(Array(fake, data.view("i4"))),
        ),
        (ValueError, r"keys has the shape \(2, 256\)", lambda: sorter(Array(fake, data.reshape(2, 256)))),
        (ValueError, "out holds 10 keys, 512 are to be sorted", lambda: sorter(mine, other.part(0, 10))),
        (ValueError, "keys and out overlap; omit out", lambda: sorter(mine.part(0, 300), mine.part(200, 512))),
        (ValueError, "values is missing", lambda: pairs(mine)),
        (ValueError, "one of out and values_out is given", lambda: pairs(mine, other, values=Array(fake, data))),
        (ValueError, "the stream belongs to GPU 1, this sort to GPU 0", lambda: sorter(mine, stream=33)),
        (TypeError, "stream is a str; give a stream", lambda: sorter(mine, stream="main")),
        (TypeError, "n is a str; give an integer from 0 to ", lambda: sorter(mine, n="7")),
        (ValueError, "make the sorter with bit_range=True", lambda: sorter(mine, begin_bit=3)),
        (Usage, "device 7: give 0 to 1", lambda: Sorter("u32", device=7)),
        (Usage, "key type x: unknown", lambda: Sorter("x")),
    ]
    for kind, words, call in wrong:
        with pytest.raises(kind, match=words) as found:
            call()
        assert "\n" not in str(found.value)
    assert not fake.launched
    sorter(mine, out=other)  # prepared
    done = len(fake.launched)
    with pytest.raises(ValueError, match="overlap"):
        sorter(mine.part(0, 256), mine.part(1, 257))
    assert len(fake.launched) == done


def test_overlaps_are_found_in_prepared_calls(fake: Fake) -> None:
    sorter = Sorter("u32", target="generic")
    whole = Array(fake, np.arange(1024, dtype=np.uint32)[::-1].copy())
    sorter(whole.part(0, 256), whole.part(256, 512))
    done = len(fake.launched)
    with pytest.raises(ValueError, match="keys and out overlap"):
        sorter(whole.part(0, 256), whole.part(255, 511))
    assert len(fake.launched) == done


@pytest.mark.parametrize("method", [WHOLE, ROWS, SEGMENTS, EACH])
@pytest.mark.parametrize("key", ["f32", "i64"])
@pytest.mark.parametrize("descending", [False, True])
def test_orders_of_rows_are_those_of_numpy(
    method: str, key: str, descending: bool, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without keys or indices; the generic target sorts with an index, which the others do, too."""
    monkeypatch.setattr("hsgen.runners.arguments.hosts.target_for", lambda host, every: find("generic"))
    rows, length = {WHOLE: (1, 3000), SEGMENTS: (2, 2500)}.get(method, (4, 1024))
    data = keys(rows * length, TYPES[key].numpy).reshape(rows, length)
    if key == "f32":
        data[:, 3::97], data[:, 5::89] = np.nan, np.uint32(0xFFC00001).view(np.float32)
    ranks = np.unique(data, return_inverse=True)[1].reshape(data.shape)
    expected = np.argsort(-ranks if descending else ranks, axis=1, kind="stable")
    mine = Array(fake, data)
    for with_keys, with_indices in ((True, True), (True, False), (False, True)):
        shape = Shape(
            number=0, key=key, rows=rows, length=length, descending=descending, keys=with_keys, indices=with_indices
        )
        made = order(shape, method)
        assert made is not None and made.method == method
        out, found = Array(fake, data * 0), Array(fake, np.zeros(data.shape, np.int64))
        scratch = fake.allocate(made.scratch)
        made.run(mine.address, out.address if with_keys else 0, found.address if with_indices else 0, scratch, 0)
        if with_indices:
            assert (found.get() == expected).all()
        if with_keys:
            values = np.take_along_axis(data, expected, 1)
            assert np.array_equal(out.get(), values, equal_nan=key == "f32")
            if with_indices:
                assert out.get().tobytes() == values.tobytes()
        assert (mine.get().tobytes()) == data.tobytes()


@pytest.mark.parametrize(("n", "kernels"), [(2, ["single"]), (4096, ["single"]), (4097, ["grid"]), (1 << 19, ["grid"])])
@pytest.mark.parametrize("method", [WHOLE, EACH])
def test_floats_are_sorted_in_one_launch(n: int, kernels: list[str], method: str, fake: Fake) -> None:
    """Without another for 64-bit indices and the bits of zeros and NaNs; sorts of one work-group need no memory."""
    fake.runs = False
    rows = 1 if method == WHOLE else 3
    made = order(Shape(number=0, key="f32", rows=rows, length=n), method)
    assert made is not None and (made.scratch == 0) == (n <= 4096)
    source, keys, indices, scratch = (fake.allocate(16) for _ in range(4))
    made.run(source, keys, indices, scratch, 0)
    assert [x.kernel for x in fake.launched] == kernels * rows
    for row, launched in enumerate(fake.launched):
        assert launched.pointers[:2] == [source + 4 * n * row, keys + 4 * n * row]
        assert indices + 8 * n * row in launched.pointers


def test_a_numeric_sorter_gives_bits_back_up_to_a_count(fake: Fake) -> None:
    fake.runs = False
    sorter = Sorter("f64", value="index64", numeric=True, target="nvidia-hopper")
    how = sorter.options()
    assert sorter.argsorts.raw(0, how) is None and len(sorter.argsorts.raw(5000, how) or ()) == 1
    assert sorter.argsorts.raw(1 << 21, how) is None and Sorter("f64", value="index64").argsorts.raw(5000, how) is None
    assert Sorter("i64", value="index64", numeric=True).argsorts.raw(5000, how) is None
