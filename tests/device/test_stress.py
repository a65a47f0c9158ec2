"""The stress program for NVIDIA GPUs: its right results against numpy, its kernels on the host, and its calls with a
driver that has no GPU."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import pairwise
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import stress
import stress_gpu
from conftest import missing
from fake_cuda import Array, Fake
from nightly import NIGHTLY
from stress_gpu import FIELD_WORDS, FIELDS, NAMES, TEXT, UNTOUCHED, Fault
from stress_inputs import KINDS, Groups, Input, distinct, key_bits, sizes, value_bits

import hsgen.cuda
from hsgen.cuda import groups, libraries
from hsgen.engines.hosts import Host

ON_HOST = """
struct Dim { unsigned x; };
static Dim blockIdx, threadIdx, gridDim, blockDim;
static long long clock64() { static long long now; return now += 1000; }
template <typename T> void atomicAdd(T *to, T x) { *to += x; }
template <typename T> void atomicMin(T *to, T x) { *to = x < *to ? x : *to; }
extern "C" void place(unsigned b, unsigned t, unsigned blocks, unsigned threads)
{
    blockIdx.x = b, threadIdx.x = t, gridDim.x = blocks, blockDim.x = threads;
}
#define __global__
#define __device__
#define __shared__
"""
BLOCKS, THREADS = 2, 3


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """A function that runs a kernel of the program on the host, by its name and arguments."""
    compiler = shutil.which("c++") or missing("a C++ compiler (c++)")
    folder = tmp_path_factory.mktemp("stress")
    (folder / "kernels.cpp").write_text(ON_HOST + TEXT, encoding="utf-8")
    command = [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-w", "kernels.cpp", "-o", "kernels.so"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "kernels.so"))

    def run(name: str, *arguments: Any) -> None:
        def word(x: Any) -> Any:
            at = x.ctypes.data if isinstance(x, np.ndarray) else int(x or 0)
            assert not isinstance(x, np.ndarray) or x.flags.c_contiguous
            return ctypes.c_uint64(at)

        for block in range(BLOCKS):
            for thread in range(THREADS):
                library.place(block, thread, BLOCKS, THREADS)
                getattr(library, name)(*map(word, arguments))

    return run


class Numbers(Array):
    """An array that `unique` and `run_length_encode` may make and cut."""

    def __getitem__(self, at: Any) -> Any:
        return self.part(0, at.stop) if isinstance(at, slice) else self.get()[at]


class HostGpu:
    """Arrays in the memory of a driver that has no GPU, compared by the program's kernels on the host."""

    xp = np

    def __init__(self, fake: Fake, run: Callable[..., None], slots: int = stress.SLOTS) -> None:
        self._fake, self._run = fake, run
        self._slots = np.empty((slots, FIELDS, FIELD_WORDS), np.uint64)
        self._slots[...] = np.array(UNTOUCHED, np.uint64)
        self.delays = self.fills = 0

    def turned(self, bits: Any, dtype: Any, shift: int = 0, add: int = 0) -> Any:
        bits = np.ascontiguousarray(bits)
        out = np.empty_like(bits)
        if bits.itemsize < 4:
            assert (shift, add) == (0, 0)
            return Numbers(self._fake, bits)
        self._run(f"turn{bits.itemsize}", out, bits, len(bits), shift, add)
        return Numbers(self._fake, out.view(dtype))

    def empty(self, n: int, dtype: Any, pattern: Any = None) -> Any:
        out = np.full(n, 77, dtype)
        if pattern is not None:
            self._run("fill", out, out.nbytes // 4, np.ascontiguousarray(pattern), len(pattern))
        return Numbers(self._fake, out)

    def _field(self, slot: int, field: int) -> Any:
        return self._slots[slot, field]

    def same(
        self, slot: int, field: int, found: Any, right: Any, *, times: Any = None, shift: int = 0, add: int = 0
    ) -> None:
        is_, right = self.seen(found), np.ascontiguousarray(right)
        assert is_.nbytes >= right.nbytes and is_.itemsize == right.itemsize
        name = f"same{right.itemsize}"
        self._run(name, is_, right, times, len(right), shift, add, self._field(slot, field))

    def order(
        self, slot: int, field: int, index: Any, by: Any, bits: Any = None, out: Any = None, part: Any = None,
        *, shift: int = 0, base: int = 0,
    ) -> None:  # fmt: skip
        i, o = self.seen(index), None if out is None else self.seen(out)
        name = f"order{i.itemsize}{by.itemsize}{4 if bits is None else bits.itemsize}"
        assert name in NAMES
        self._run(name, i, by, bits, o, part, len(by), shift, base, self._field(slot, field))

    def seen(self, array: Any) -> Any:
        return array.get() if isinstance(array, Array) else np.ascontiguousarray(array)

    def stream(self, number: int) -> Any:
        return nullcontext()

    def handle(self, number: int) -> Any:
        return 16 + 2 * number  # of the first GPU

    def wait(self) -> None:
        pass

    def faults(self) -> list[Fault]:
        found = stress_gpu.faults(self._slots)
        self._slots[...] = np.array(UNTOUCHED, np.uint64)
        return found

    def delay(self, draw: Any, source: Any, slot: int, field: int) -> None:
        self.delays += 1
        self._run("spin", draw.randrange(10), 1)
        held = np.ascontiguousarray(source).copy()
        self._run("late_same", held, source, len(held), 5, self._field(slot, field))

    def late(self, to: Any, source: Any, cycles: int) -> None:
        out, data = to.get(), self.seen(source)
        self._run("late_copy", out, data, out.nbytes // 4, cycles)
        self._fake.write(to.address, out)

    def table(self, array: Any, width: int) -> Any:
        array.shape = (array.shape[0] // width, width)
        return array

    def trim(self, most: int) -> None:
        pass

    @contextmanager
    def scratch(self, pattern: Callable[[], Any]) -> Iterator[None]:
        plain = libraries.Library.allocate

        def allocate(library: Any, size: int, device: int, stream: int, *, current: bool) -> Any:
            memory = plain(library, size, device, stream, current=current)
            if (words := pattern()) is not None:
                self.fills += 1
                self._fake.write(memory.address, np.resize(words, size // 4))
            return memory

        libraries.Library.allocate = allocate  # type: ignore[method-assign]
        try:
            yield
        finally:
            libraries.Library.allocate = plain  # type: ignore[method-assign]


class Mirror(np.ndarray):  # type: ignore[type-arg]
    """An array of numpy with the attributes of one of CuPy."""

    class Memory:
        """Its memory."""

        def __init__(self, array: Any) -> None:
            self.array, self.ptr = array, array.ctypes.data

        def copy_from_device_async(self, source: Any, size: int, stream: Any) -> None:
            assert size <= min(self.array.nbytes, source.array.nbytes)

        def memset_async(self, value: int, size: int, stream: Any) -> None:
            assert size <= self.array.nbytes and 0 <= value < 256

    @property
    def data(self) -> Any:  # type: ignore[override]
        return self.Memory(self)

    def get(self) -> Any:
        return np.asarray(self)


def mirror(kernels: Callable[..., None], launched: list[str]) -> Any:
    """A module like CuPy, whose arrays are numpy's and whose kernels run on the host."""

    def arrays(make: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: make(*args).view(Mirror)

    class Stream:
        def __init__(self, *args: Any, **more: Any) -> None:
            self.ptr = 0

        def __enter__(self) -> None:
            pass

        def __exit__(self, *what: Any) -> None:
            pass

    class Module:
        def __init__(self, code: str, options: tuple[str, ...]) -> None:
            assert code == TEXT

        def get_function(self, name: str) -> Callable[..., None]:
            def launch(grid: Any, block: Any, args: Any, shared_mem: int = 0) -> None:
                assert all(isinstance(x, np.ndarray | np.uint64 | np.int32) for x in args)
                launched.append(name)
                kernels(name, *(np.asarray(x) if isinstance(x, np.ndarray) else x for x in args))

            return launch

    found = SimpleNamespace(**{x: arrays(getattr(np, x)) for x in ("empty", "zeros", "array", "asarray")})
    found.RawModule = Module
    found.cuda = SimpleNamespace(
        Stream=Stream, ExternalStream=Stream, Device=lambda: SimpleNamespace(synchronize=lambda: None)
    )
    Stream.null = Stream()  # type: ignore[attr-defined]
    found.get_default_memory_pool = lambda: SimpleNamespace(total_bytes=lambda: 5, free_all_blocks=lambda: None)
    return found


def test_what_the_gpu_does_with_arrays_of_a_mirror_of_cupy(
    kernels: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[str] = []
    monkeypatch.setitem(sys.modules, "cupy", mirror(kernels, launched))
    gpu = stress_gpu.CupyGpu(2, 4)
    bits = np.arange(100, dtype=np.uint32).view(Mirror)
    turned = gpu.turned(bits, np.int32, 30, 5)
    assert turned.dtype == np.int32 and (turned == np.roll(bits, -30) + 5).all()
    gpu.same(1, 2, turned, bits.view(np.uint32), times=None, shift=30, add=5)
    assert gpu.faults() == []
    gpu.same(1, 2, turned, bits.view(np.uint32), times=None, shift=29, add=5)
    assert [(f.slot, f.field, f.count, f.index) for f in gpu.faults()] == [(1, 2, 100, 0)]
    assert gpu.faults() == [], "slots are cleared"
    wide = gpu.empty(50, np.uint64, np.array([7, 9], np.uint32))
    assert (wide == 7 | 9 << 32).all() and gpu.empty(3, np.uint32).shape == (3,)
    order = np.argsort(-bits.astype(np.int64)).astype(np.uint64).view(Mirror)
    by = (~bits).view(Mirror)
    gpu.order(3, 0, order, by, bits, bits[::-1].copy().view(Mirror))
    assert gpu.faults() == []
    gpu.order(3, 0, order[::-1].copy(), by, bits, bits)
    assert [(f.slot, f.field) for f in gpu.faults()] == [(3, 0)]
    to = gpu.empty(100, np.uint32)
    gpu.late(to, bits, 9)
    assert (to == bits).all()
    draw = Random(5)
    for _ in range(40):
        gpu.delay(draw, bits, 0, 7)
    assert gpu.faults() == [] and {"spin", "late_same", "late_copy"} <= set(launched)
    assert gpu.table(to, 4).shape == (25, 4)
    gpu.trim(1)
    room = np.zeros(8, np.uint32)
    patterns = iter([None, np.array([6], np.uint32), np.array([1, 2], np.uint32)])
    memory = libraries.Memory(room.ctypes.data, room)
    monkeypatch.setattr(libraries.Cupy, "allocate", lambda *args, **more: memory)
    with gpu.scratch(lambda: next(patterns)):
        for current, right in ((True, [0] * 8), (True, [6] * 8), (False, [1, 2] * 4)):
            assert libraries.Cupy.allocate(None, 32, 0, 5, current=current) is memory  # type: ignore[arg-type]
            assert room.tolist() == right


def typed(key: str, bits: Any) -> Any:
    return bits.view(stress.dtype_of(key))


@pytest.mark.parametrize("kind", KINDS)
def test_right_results_of_groupings_are_those_of_numpy(kind: str) -> None:
    for n, seed in ((1, 1), (2, 2), (999, 3), (5000, 4)):
        x = Input(np, kind, n, seed)
        assert x.x.dtype == np.uint32 and len(x.x) == n
        assert (x.x == Input(np, kind, n, seed).x).all(), "an input follows from its seed"
        for key in ("u32", "i32", "u64"):
            keys = typed(key, x.bits(key))
            distinct_, first, counts = np.unique(keys, return_index=True, return_counts=True)
            for down in (False, True):
                turn = slice(None, None, -1 if down else 1)
                assert (typed(key, x.grouped("keys", key, "u32", down)) == distinct_[turn]).all()
                assert (x.grouped("counts", key, "u32", down) == counts[turn]).all()
                firsts = np.cumsum(counts[turn]) - counts[turn]
                assert (x.grouped("firsts", key, "u32", down) == firsts).all()
            assert (keys[first] == distinct_).all()
        order = np.argsort(x.x, kind="stable")
        begins = np.flatnonzero(np.r_[True, np.diff(x.x[order].astype(np.int64)) != 0])
        for value in ("u32", "i32", "f32"):
            values = typed(value, x.values(value))[order]
            for name, ufunc in (("sum", np.add), ("min", np.minimum), ("max", np.maximum)):
                right = ufunc.reduceat(values, begins)
                assert (typed(value, x.grouped(name, "u32", value, False)) == right).all(), (value, name)


def test_images_of_numbers_keep_their_order() -> None:
    x = np.sort(distinct(np, 3000, 7))
    assert len(np.unique(x)) == 3000
    for key in ("u32", "i32", "u64", "i64"):
        assert (np.diff(typed(key, key_bits(np, key, x)).astype(object)) > 0).all(), key
    floats = typed("f32", key_bits(np, "f32", x[(x > 1 << 23) & (x < (1 << 32) - (1 << 23))]))
    assert (np.diff(floats) > 0).all()
    for value in ("u32", "i32", "f32"):
        ordinals = np.arange(7, dtype=np.uint32)
        assert (np.diff(typed(value, value_bits(np, value, ordinals)).astype(np.float64)) == 1).all()


def test_the_failing_input_has_its_key_and_share() -> None:
    found = [Input(np, "hot", 30_000, seed) for seed in range(20)]
    shares = [float((x.x == np.uint32(0x7824A24F)).mean()) for x in found]
    assert sum(abs(share - 0.9) < 0.01 for share in shares) > 5
    assert all(len(np.unique(x.x)) > 1 for x in found)


def test_right_results_of_other_operations_are_those_of_numpy() -> None:
    x = Input(np, "few", 2000, 5)
    by = x.x.astype(np.int64)
    for down in (False, True):
        order = np.argsort(-by if down else by, kind="stable")
        assert (typed("u32", x.sorted_bits("u32", down)) == x.x[order]).all()
        for rows, k in ((1, 100), (4, 7)):
            length = x.n // rows
            first = np.argsort((-by if down else by).reshape(rows, length), axis=1, kind="stable")[:, :k]
            for in_order in (True, False):
                numbers, index = x.selected(rows, k, down, in_order=in_order)
                right = first if in_order else np.sort(first, axis=1)
                assert (index.reshape(rows, k) == right).all()
                assert (numbers == np.take_along_axis(x.x.reshape(rows, length), right, 1).ravel()).all()
    cuts, part = x.segments(17), x.segment_of(17)
    assert (cuts[0], cuts[-1], len(cuts)) == (0, x.n, 19)
    right = np.concatenate([np.sort(x.x[a:b]) for a, b in pairwise(cuts)])
    assert (x.sorted_parts("a", part) == right).all()
    assert (x.sorted_parts("b", x.row_of(40)) == np.sort(x.x.reshape(-1, 40), axis=1).ravel()).all()
    runs = x.in_runs
    begins = np.flatnonzero(np.r_[True, runs[1:] != runs[:-1]])
    assert len(begins) > 1 and (x.run_output("firsts", "u32", "u32") == begins).all()
    assert (x.run_output("keys", "u32", "u32") == runs[begins]).all()
    assert (x.run_output("counts", "u32", "u32") == np.diff(begins, append=x.n)).all()
    assert (x.run_output("sum", "u32", "u32") == np.add.reduceat(x.values("u32"), begins)).all()
    for key, columns, exclusive in (("u32", 3, True), ("u64", 1, False), ("f32", 1, True)):
        table = typed(key, x.summands(key, columns)).reshape(-1, columns)
        sums = np.cumsum(table, axis=0, dtype=table.dtype)
        sums = sums - table if exclusive else sums
        assert (typed(key, x.summed(key, columns, exclusive=exclusive)) == sums.ravel()).all()
    numbers, every = x.merged(700)
    assert (numbers[:700] == np.sort(x.x[:700])).all() and (every == np.sort(x.x)).all()


def test_groups_of_one_and_of_all() -> None:
    ones = Groups.of(np, np.array([5], np.uint32), np.array([9], np.uint32))
    assert [x.tolist() for x in (ones.keys, ones.counts, ones.sums, ones.least, ones.greatest)] == [
        [5],
        [1],
        [9],
        [9],
        [9],
    ]
    same = Groups.of(np, np.full(4, 0xFFFFFFFF, np.uint32), np.array([3, 1, 2, 9], np.uint32))
    assert (same.counts.tolist(), same.sums.tolist()) == ([4], [15])
    assert (same.least.tolist(), same.greatest.tolist()) == ([1], [9])


def test_counts_come_near_switches_and_stay_in_range() -> None:
    draw = Random(3)
    found = [sizes(draw, [4096, 65536], 10, 4_000_000) for _ in range(2000)]
    assert min(found) >= 10 and max(found) <= 4_000_000
    assert found.count(3_000_003) > 100 and sum(n in range(65535, 65539) for n in found) > 50
    assert all(100 <= sizes(draw, [4096], 100, 3000) <= 3000 for _ in range(200))


def test_kernels_see_each_wrong_element(kernels: Callable[..., None]) -> None:
    def field() -> Any:
        return np.array(UNTOUCHED, np.uint64)

    n = 100
    right = np.arange(n, dtype=np.uint32)
    times = np.full(n, 2, np.uint32)
    found = np.roll(right + 2 * 7, -30).astype(np.uint32)
    words = field()
    kernels("same4", found, right, times, n, 30, 7, words)
    assert (words == UNTOUCHED).all()
    found[[20, 60]] = 5
    kernels("same4", found, right, times, n, 30, 7, words)
    assert stress_gpu.faults(words.reshape(1, 1, 3)) == [Fault(0, 0, 2, 20, 5, 64)]
    wide = found.astype(np.uint64) << np.uint64(33)
    words = field()
    kernels("same8", wide, wide + (np.arange(n) == 99).astype(np.uint64), None, n, 0, 0, words)
    assert [(f.count, f.index) for f in stress_gpu.faults(words.reshape(1, 1, 3))] == [(1, 99)]

    by = (right * 37 % 10).astype(np.uint32)
    order = np.argsort(by, kind="stable").astype(np.uint32)
    part = np.zeros(n, np.uint32)

    def wrong(index: Any, out: Any = None, parts: Any = None) -> int:
        words = field()
        kernels("order444", index + np.uint32(1000), by, by, out, parts, n, 0, 1000, words)
        return int(words[0])

    assert wrong(order) == wrong(order, by[order].copy(), part) == 0
    for change in (
        lambda x: x[[1, 0, *range(2, n)]],
        lambda x: np.where(right == 50, x[49], x),
        lambda x: x + (right == n - 1) * n,
    ):
        assert wrong(change(order).astype(np.uint32)) > 0
    out = by[order].copy()
    out[3] += 1
    assert wrong(order, out) == 1
    part[50:] = 1
    assert wrong(order, None, part) > 0, "an index of another segment"
    inside = np.concatenate([np.argsort(by[:50], kind="stable"), 50 + np.argsort(by[50:], kind="stable")])
    assert wrong(inside.astype(np.uint32), None, part) == 0
    turned = np.empty_like(by)
    kernels("turn4", turned, by, n, 13, 5)
    assert (turned == np.roll(by, -13) + 5).all()
    words = field()
    order = np.argsort(np.roll(by, -13), kind="stable").astype(np.uint32)
    kernels("order444", order, by, by, np.roll(by, -13)[order].copy(), None, n, 13, 0, words)
    assert words[0] == 0


TARGETS = [
    (stress.group_by, "u32", "u32", "ascending"),
    (stress.group_by, "f32", "f32", "descending"),
    (stress.unique, "u32"),
    (stress.sort, "u32", "ascending"),
    (stress.argsort, "f32", "index64", "descending"),
    (stress.pairs, "u64", 8, "ascending"),
    (stress.segmented, "u32", "index", "ascending"),
    (stress.segmented, "u32", None, "ascending"),
    (stress.merge, "u32", 4),
    (stress.top_k, "f32", "index", "descending"),
    (stress.scan, "u32", 4, True),
    (stress.scan, "f32", 1, True),
    (stress.reduce_by_key, "u64", "f32"),
    (stress.run_lengths, "u32"),
    (stress.columns, "narrow"),
    (stress.columns, "wide"),
    (stress.gather,),
    (stress.digest, "u32"),
]
"""Operations with as few kernels as possible, since each is compiled; the fast run has every other one."""


def run_of(
    fake: Fake, kernels: Callable[..., None], work: list[tuple[Any, ...]], **more: Any
) -> tuple[HostGpu, stress.Bursts]:
    gpu = HostGpu(fake, kernels)
    s = stress.Stress(gpu, Random(1), target="generic", most=3000, **more)
    return gpu, stress.Bursts(s, [(w, 1.0) for w in work], 1)


@pytest.mark.device
def test_calls_are_right_with_a_driver_without_a_gpu(
    embedded: Host, kernels: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake(embedded).install(monkeypatch)
    work = TARGETS if NIGHTLY else TARGETS[::2]
    gpu, bursts = run_of(fake, kernels, work, delay=True, streams=4)
    monkeypatch.setattr(
        libraries.Library, "empty", lambda own, like, n, words=False: Numbers(fake, np.zeros(n, np.uint32))
    )
    for name in ("GroupBy", "ReduceByKey"):
        monkeypatch.setattr(groups, name, partial(getattr(groups, name), target="generic"))
    stress.switches(bursts.s, work)
    with gpu.scratch(bursts.s.scratch):
        stress.repeat(bursts, 600, 1 << 62, going=False, most_calls=100)
    assert bursts.wrong == []
    assert set(bursts.s.counts) == {w[0].__name__ for w in work}
    assert gpu.delays >= 100 and gpu.fills > 10


@pytest.mark.device
@pytest.mark.parametrize("place", ["groups", "out", "counts", "values_out"])
def test_a_wrong_grouping_is_reported(
    place: str,
    embedded: Host,
    kernels: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake = Fake(embedded).install(monkeypatch)
    _, bursts = run_of(fake, kernels, [(stress.group_by, "u32", "u32", "ascending")], kinds=("distinct",))
    plain, calls = hsgen.cuda.GroupBy.__call__, []

    def spoiled(own: Any, keys: Any, **more: Any) -> None:
        plain(own, keys, **more)
        if more[place] is None:
            return
        calls.append(more[place])
        if len(calls) == 5:
            words = more[place].get()
            words[len(words) // 2] += 1
            fake.write(more[place].address, words)

    monkeypatch.setattr(hsgen.cuda.GroupBy, "__call__", spoiled)
    stress.repeat(bursts, 600, 1 << 62, going=False)
    (wrong,) = bursts.wrong
    said = capsys.readouterr().out
    assert f"{place}: 1 wrong" in said and "keys distinct" in said and "seed 1" in said
    assert str(wrong).startswith("WRONG group_by u32 u32 ascending")


def test_options_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["--kinds", "hot,odd"], "there is no 'odd'"),
        (["--sizes", "5,x"], "no list of counts"),
        (["--sizes", "99999999"], "counts of 1 to"),
        (["--least", "9", "--most", "8"], "the least first"),
        (["--share", "2"], "from 0 to 1"),
    ):
        with pytest.raises(SystemExit) as ended:
            stress.checked(stress.options(), words)
        assert ended.value.code == 2 and said in capsys.readouterr().err
    given = stress.checked(stress.options(), ["--groupings-only", "--sizes", "7,3000003", "--kinds", "hot"])
    assert (given.share, given.sizes, given.kinds) == (1.0, (7, 3000003), ("hot",))
    assert sum(x for _, x in stress.weighted(0.7)) == pytest.approx(1.0)
    assert all(w in stress.GROUPINGS for w, _ in stress.weighted(1.0))


def test_without_cupy_the_program_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert stress.main(["--seconds", "1"]) == 3
    assert "cupy" in capsys.readouterr().err
