"""Arrays and memory maps beyond an artificial limit of a device's memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from copy_functions import addresses, functions
from doc_blocks import ROOT, only
from fake_cuda import Code, Fake
from nightly import nightly
from tools import C, need

import hsgen
from hsgen.core.errors import Unavailable, Wrong
from hsgen.engines.hosts import Host
from hsgen.numpy import copies, devices, large, pipeline, sorting
from hsgen.numpy.large import greatest_length
from hsgen.targets.target import find

pytestmark = pytest.mark.device
RNG = np.random.default_rng(50)


@pytest.fixture
def cpu(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(devices, "_KINDS", ((lambda: [embedded], devices.OpenClDevice),))
    return embedded.platform


def test_a_memory_map_of_ten_times_the_limit_is_sorted(cpu: str, tmp_path: Path) -> None:
    a = np.memmap(tmp_path / "a", np.uint32, "w+", shape=(200_000,))
    a[...] = RNG.integers(0, 1 << 32, len(a), np.uint32)
    expected, shares = np.sort(a), []
    out = np.memmap(tmp_path / "out", np.uint32, "w+", shape=a.shape)
    limit = a.nbytes // 10
    result = hsgen.sort(a, out=out, memory=limit, progress=lambda *x: shares.append(x))
    assert result is out and (out == expected).all() and len(shares) >= 20
    hsgen.sort(a, out=a, memory=limit, descending=True)
    assert (a == expected[::-1]).all() and sorted(p.name for p in tmp_path.iterdir()) == ["a", "out"]


@pytest.mark.parametrize("dtype", [np.float32, nightly(np.int64)])
def test_arrays_and_rows_are_sorted_in_chunks(dtype: Any, cpu: str) -> None:
    a = RNG.integers(-99, 99, (3, 5000)).astype(dtype)
    if a.dtype.kind == "f":
        a[:, ::7], a[:, 1::9] = np.nan, -0.0
    for memory in (None, 100_000, 30_000):
        assert np.array_equal(hsgen.sort(a, memory=memory), np.sort(a), equal_nan=True)
        assert np.array_equal(hsgen.sort(a[0], memory=memory), np.sort(a[0]), equal_nan=True)
        assert np.array_equal(hsgen.sort(a, None, memory=memory), np.sort(a, None), equal_nan=True)
        out = np.zeros_like(a)
        assert hsgen.sort(a, 0, out=out, memory=memory) is out and np.array_equal(out, np.sort(a, 0), equal_nan=True)


def test_misuse_is_one_line(cpu: str) -> None:
    a = np.arange(1000, dtype=np.uint32)
    with pytest.raises(Unavailable, match="too little memory"):
        hsgen.sort(a, memory=3)
    for out, error in ((np.zeros(999, np.uint32), ValueError), (np.zeros(1000), ValueError), ([], TypeError)):
        with pytest.raises(error, match=r"^out is "):
            hsgen.sort(a, out=out)
    out = a.copy()
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        hsgen.sort(a, out=out)
    with pytest.raises(ValueError, match=r"^memory 0: give 1 to"):
        hsgen.sort(a, memory=0)


def test_chunks_are_as_long_as_fits(cpu: str) -> None:
    sorter = hsgen.Sorter("u32", device=cpu)._sorter
    for room in (0, 100, 10_000, 1 << 20):
        n = greatest_length(sorter, room, 1 << 40)
        assert n == 0 or 4 * n + sorter.scratch_bytes(n) <= room
        assert 4 * (n + 1) + sorter.scratch_bytes(n + 1) > room


def test_a_bar_is_on_the_error_output(cpu: str, capsys: pytest.CaptureFixture[str]) -> None:
    a = RNG.integers(0, 99, 30_000, np.int64)
    assert (hsgen.sort(a, memory=200_000, progress=True) == np.sort(a)).all()
    assert capsys.readouterr().out == ""


def test_the_program_of_the_guide_runs(cpu: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(only(ROOT / "docs/guides/larger-than-memory.md", "python")[0], {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["keys.bin", "sorted.bin"]


@pytest.fixture(params=["C", "Python"])
def gpu(request: pytest.FixtureRequest, embedded: Host, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    """GPUs of the driver, with chunks of 4000 bytes and pinned pieces of 500 bytes; C or Python copies."""
    monkeypatch.setattr("hsgen.runners.arguments.hosts.target_for", lambda host, every: find("generic"))
    monkeypatch.setattr(sorting, "CHUNK", 4000)
    monkeypatch.setattr(pipeline, "SPAN", 1600)
    monkeypatch.setattr(pipeline, "PIECE", 500)
    monkeypatch.setattr(pipeline, "HELPERS", 3)
    monkeypatch.setattr(pipeline, "COUNTS", 1000)
    fake = Fake(embedded).install(monkeypatch)
    called = functions(
        lambda *arguments: fake.cuMemcpyHtoDAsync(*arguments)[0],
        lambda *arguments: fake.cuMemcpyDtoHAsync(*arguments)[0],
        lambda *arguments: fake.cuEventRecord(*arguments)[0],
        lambda *arguments: fake.cuEventSynchronize(*arguments)[0],
    )
    if request.param == "C":
        need(C)
        transfers = copies.Transfers(copies.library(), addresses(called))
        monkeypatch.setattr(pipeline, "transfers", lambda bindings: transfers)
    yield fake
    assert len(called) == 4  # these live as long as C calls them


@pytest.mark.parametrize("dtype", [np.uint32, nightly(np.float64), nightly(np.int16)])
def test_chunks_pass_through_pinned_memory(dtype: Any, gpu: Fake, tmp_path: Path) -> None:
    keys = RNG.integers(0, 30_000, 20_000).astype(dtype)
    expected = np.sort(keys)
    for memory, chunks in ((keys.nbytes // 2, 20), (30_000, 20)):
        a, shares = np.memmap(tmp_path / "a", dtype, "w+", shape=keys.shape), []
        a[...] = keys
        assert hsgen.sort(a, out=a, memory=memory, progress=lambda *x, shares=shares: shares.append(x[0])) is a
        assert (a == expected).all() and len(shares) >= chunks and shares == sorted(shares)
        assert shares[-1] == 2 * len(a) and not gpu.held
    assert any(x.kernel == "hs_count_keys" for x in gpu.launched)  # chunks have stayed on the GPU
    out = np.zeros((len(keys), 2), dtype)[:, 0]  # not contiguous
    hsgen.sort(keys[::-1], out=out, memory=keys.nbytes // 2, descending=True)
    assert (out == expected[::-1]).all() and not gpu.held


@pytest.mark.parametrize("room", [0, 999, 1000, 7500, 20_000])
def test_chunks_stay_on_the_gpu(room: int, gpu: Fake) -> None:
    a, out = RNG.integers(0, 200, 20_000).astype(np.uint32), np.zeros(20_000, np.uint32)
    device = devices.device_of(None)
    assert isinstance(device, devices.CudaDevice)
    sorter = device.build("Sorter", "u32", value=None, order="ascending", numeric=True)
    with pipeline.Pipeline(device.gpu, sorter, 1000, "u32", descending=False, room=room) as p:
        loads: list[int] = []
        fill = p.load.fill
        p.load.fill = lambda *arguments: (loads.append(len(arguments[1])), fill(*arguments))  # type: ignore[assignment]
        large.sort_large(a, out, p, 1000, "u32", descending=False, keeper=p)
    kept = room // 1000 * 1000
    assert (out == np.sort(a)).all() and sum(loads) == 2 * len(a) - kept
    assert not gpu.held


def test_no_chunk_stays_where_the_gpu_has_no_room(gpu: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    a, allocate = RNG.integers(0, 200, 20_000).astype(np.uint32), gpu.cuMemAlloc
    monkeypatch.setattr(gpu, "cuMemAlloc", lambda size: (Code(2), 0) if size > 10_000 else allocate(size))
    assert (hsgen.sort(a, memory=a.nbytes // 2) == np.sort(a)).all() and not gpu.held
    assert not any(x.kernel == "hs_count_keys" for x in gpu.launched)


def test_a_part_is_stored_after_earlier_parts_have_read(gpu: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Part 8 replaces the sorted chunk 8, from which part 7 reads; the helper that reads is late.

    With two slots, the main thread starts no further part, and so does not wait for the helper there.
    """
    monkeypatch.setattr(pipeline, "SLOTS", 2)
    a, out = RNG.permutation(20_000).astype(np.uint32), np.zeros(20_000, np.uint32)
    device = devices.device_of(None)
    assert isinstance(device, devices.CudaDevice)
    sorter = device.build("Sorter", "u32", value=None, order="ascending", numeric=True)
    stored, events = threading.Event(), []

    def in_chunk(part: Any) -> bool:
        return 8 * 4000 <= part.ctypes.data - out.ctypes.data < 9 * 4000

    with pipeline.Pipeline(device.gpu, sorter, 1000, "u32", descending=False, room=0) as p:
        fill, empty = p.load.fill, p.store.empty

        def late(stop: Any, part: Any, address: int, stream: Any) -> None:
            if in_chunk(part) and 7000 <= part[0] < 8000:
                stored.wait(0.5)
                events.append("read")
            elif in_chunk(part):
                events.append("other read")
            fill(stop, part, address, stream)

        def stores(stop: Any, part: Any, address: int, stream: Any) -> None:
            if events and in_chunk(part):
                events.append("store")
                stored.set()
            empty(stop, part, address, stream)

        p.load.fill, p.store.empty = late, stores  # type: ignore[assignment]
        large.sort_large(a, out, p, 1000, "u32", descending=False, keeper=p)
    assert "read" in events and "read" not in events[events.index("store") :], events
    assert (out == np.arange(20_000)).all() and not gpu.held


def test_a_part_is_loaded_after_its_pieces_have_moved(gpu: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Part 0 moves the pieces of chunk 0, of which part 1 reads the first; the helper that moves this piece is late."""
    a, out = RNG.permutation(20_000).astype(np.uint32), np.zeros(20_000, np.uint32)
    device = devices.device_of(None)
    assert isinstance(device, devices.CudaDevice)
    sorter = device.build("Sorter", "u32", value=None, order="ascending", numeric=True)
    copied, read, moves, events = copies.copier(), threading.Event(), [], []

    def late(to: Any, source: Any) -> None:
        moves.append(to)
        if len(moves) == 1:
            read.wait(0.5)
            events.append("move")
        copied(to, source)

    with pipeline.Pipeline(device.gpu, sorter, 1000, "u32", descending=False, room=0) as p:
        fill = p.load.fill

        def loads(stop: Any, part: Any, address: int, stream: Any) -> None:
            if moves and np.may_share_memory(part, moves[0]):
                events.append("read")
                read.set()
            fill(stop, part, address, stream)

        p.load.fill = loads  # type: ignore[assignment]
        monkeypatch.setattr(pipeline, "copier", lambda: late)
        large.sort_large(a, out, p, 1000, "u32", descending=False, keeper=p)
    assert events[:2] == ["move", "read"], events
    assert (out == np.arange(20_000)).all() and not gpu.held


@pytest.mark.parametrize("at", [1, 7, 30])
def test_an_interrupt_ends_all_copies(at: int, gpu: Fake) -> None:
    a = RNG.integers(0, 99, 20_000).astype(np.uint32)
    before, reports = np.sort(a), []

    def progress(done: int, total: int) -> None:
        reports.append(done)
        if len(reports) == at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hsgen.sort(a, out=a, memory=a.nbytes // 2, progress=progress)
    assert len(reports) == at and (np.sort(a) == before).all() and not gpu.held
    assert not [x for x in threading.enumerate() if x.name in ("load", "store")]


def test_an_interrupt_after_a_task_began_waits_for_the_task(gpu: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    a = RNG.permutation(20_000).astype(np.uint32)
    out = np.zeros_like(a)
    device = devices.device_of(None)
    assert isinstance(device, devices.CudaDevice)
    sorter = device.build("Sorter", "u32", value=None, order="ascending", numeric=True)
    began, events, submit = threading.Event(), [], ThreadPoolExecutor.submit

    def interrupted(pool: Any, task: Any, *arguments: Any) -> Any:
        submit(pool, task, *arguments)
        began.wait()
        raise KeyboardInterrupt

    with pipeline.Pipeline(device.gpu, sorter, 1000, "u32", descending=False, room=0) as p:

        def slow(*arguments: Any) -> None:
            events.append("begin")
            began.set()
            time.sleep(0.1)
            events.append("end")

        p.load.fill = slow  # type: ignore[assignment]
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(ThreadPoolExecutor, "submit", interrupted)
            large.sort_large(a, out, p, 1000, "u32", descending=False, keeper=p)
        assert events == ["begin", "end"]


def test_an_error_of_a_copy_is_an_error_of_the_sort(gpu: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.arange(20_000, dtype=np.uint32)
    for name in ("cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync"):
        with monkeypatch.context() as patch:
            patch.setattr(Fake, name, lambda *arguments: (Code(1),))
            with pytest.raises(Wrong, match="a copy of keys says CUDA_ERROR_INVALID_VALUE"):
                hsgen.sort(a, memory=a.nbytes // 2)
        assert not gpu.held
