"""Copies of long arrays, by the C functions and by numpy; functions of Python stand in for the driver."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from copy_functions import addresses, functions
from tools import C, need

from hsgen.core.errors import Unavailable
from hsgen.numpy import copies
from hsgen.system import compilers


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    copies.library.cache_clear()
    yield
    copies.library.cache_clear()


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.uint64])
def test_nothing_but_the_part_changes(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_LEAST", 0)
    copy, rng = copies.copier(), np.random.default_rng(1)
    for n in (0, 1, 15, 63, 64, 65, 200, 5000):
        for begin, first in ((0, 0), (1, 3), (7, 0), (16, 9)):
            source = rng.integers(0, 255, n + 20).astype(dtype)
            to = rng.integers(0, 255, n + 40).astype(dtype)
            expected = to.copy()
            expected[begin : begin + n] = source[first : first + n]
            copy(to[begin : begin + n], source[first : first + n])
            assert to.tobytes() == expected.tobytes(), (n, begin, first)


def test_long_and_strided_arrays_are_copied() -> None:
    copy, source = copies.copier(), np.random.default_rng(2).integers(0, 1 << 63, 300_001)
    to = np.zeros((300_001, 2), np.int64)
    copy(to[:, 1], source)
    assert (to[:, 1] == source).all() and not to[:, 0].any()
    copy(flat := np.zeros_like(source), source)
    assert (flat == source).all()


def test_numpy_copies_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> list[str]:
        raise Unavailable("no C compiler")

    monkeypatch.setattr(compilers, "c_compiler", missing)
    assert copies.copier() is np.copyto


class Slow:
    """A driver whose transfers take place when their event is waited for, or at the end."""

    def __init__(self, wrong: int = -1) -> None:
        self.open: list[tuple[int, int, int]] = []
        self.waiting: dict[int, list[tuple[int, int, int]]] = {}
        self.calls, self._wrong = 0, wrong
        self.functions = functions(self.copy, self.copy, self.record, self.wait)

    def transfers(self) -> copies.Transfers:
        need(C)
        return copies.Transfers(copies.library(), addresses(self.functions))

    def result(self) -> int:
        self.calls += 1
        return 7 if self.calls == self._wrong else 0

    def copy(self, to: int, source: int, size: int, stream: int) -> int:
        assert stream == 5
        self.open.append((to, source, size))
        return self.result()

    def record(self, event: int, stream: int) -> int:
        assert stream == 5 and not self.waiting.get(event)
        self.waiting[event], self.open = self.open, []
        return self.result()

    def wait(self, event: int) -> int:
        for to, source, size in self.waiting.pop(event, []):
            ctypes.memmove(to, source, size)
        return self.result()


def lane_of(pieces: Any) -> copies.Lane:
    """Return pieces with the events 11 and 12."""
    return copies.Lane.of([(x.ctypes.data, 11 + i) for i, x in enumerate(pieces)], pieces[0].nbytes)


@pytest.mark.parametrize("n", [0, 1, 99, 100, 101, 200, 250, 1000])
def test_transfers_wait_for_their_pieces(n: int) -> None:
    driver, pieces = Slow(), [np.zeros(100, np.uint8) for _ in range(copies.PIECES)]
    transfers, lane = driver.transfers(), lane_of(pieces)
    rng = np.random.default_rng(n)
    a, gpu, out = rng.integers(0, 255, n, np.uint8), np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    assert transfers.fill(lane, copies.Stop(), a, gpu.ctypes.data, 5) == 0
    for event in (11, 12):
        driver.wait(event)
    assert (gpu == a).all()
    assert transfers.empty(lane, copies.Stop(), out, gpu.ctypes.data, 5) == 0
    assert (out == a).all() and not driver.open and not any(driver.waiting.values())


@pytest.mark.parametrize("wrong", range(1, 10))
def test_an_error_of_the_driver_is_returned(wrong: int) -> None:
    a, gpu, pieces = np.zeros(300, np.uint8), np.zeros(300, np.uint8), [np.zeros(100, np.uint8) for _ in range(2)]
    for name in ("fill", "empty"):
        driver = Slow(wrong)
        assert getattr(driver.transfers(), name)(lane_of(pieces), copies.Stop(), a, gpu.ctypes.data, 5) == 7
        assert driver.calls == wrong


def test_a_stop_ends_transfers() -> None:
    driver, stop, a = Slow(), copies.Stop(), np.zeros(300, np.uint8)
    stop.set()
    transfers, lane = driver.transfers(), lane_of([a, a])
    assert transfers.fill(lane, stop, a, 0, 5) == transfers.empty(lane, stop, a, 0, 5) == driver.calls == 0


def test_other_drivers_have_no_transfers() -> None:
    assert copies.transfers(np) is None
