"""numpy's sorts in place of a device's: no call waits for a thread that compiles, unless it must."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hsgen
from hsgen.core.errors import Unavailable, Wrong
from hsgen.cuda import background
from hsgen.numpy import meanwhile, sorting

RNG = np.random.default_rng(7)


class Device:
    """A device whose sorters need slow work, and then sort in an order that numpy does not have: all zeros."""

    def __init__(self) -> None:
        self.event, self.callers = threading.Event(), list[str]()
        self.failure: Exception | None = None

    def run(self, rows: Any, key: str, out: Any, order: Any, *, descending: bool, device: str | None) -> None:
        self._called()
        (out if order is None else order)[...] = 0

    def select(self, keys: Any, key: str, k: int, *, largest: bool, sorted: bool, device: str | None) -> Any:
        self._called()
        return np.zeros((*keys.shape[:-1], k), np.intp)

    def _called(self) -> None:
        if not self.event.is_set():
            background.slow()
        self.callers.append(threading.current_thread().name)
        assert self.event.wait(10)
        if self.failure:
            raise self.failure


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """A device that is ready after its event; the thread is on."""
    on = Device()
    monkeypatch.setattr(background, "_known", {})
    monkeypatch.setattr(background, "_on", True)
    monkeypatch.setattr(sorting, "device_of", lambda name=None: on)
    monkeypatch.setattr(on, "room", lambda memory: (), raising=False)
    monkeypatch.setattr(sorting, "greatest_length", lambda sorter, *_: 1 << 30)
    monkeypatch.setattr(sorting, "_run", on.run)
    monkeypatch.setattr(sorting, "_select", on.select)
    monkeypatch.setattr(sorting, "_sorter", lambda *_: None)
    yield on
    on.event.set()
    assert background.wait_for_thread(10)


def test_numpy_serves_calls_until_the_device_is_ready(device: Device) -> None:
    a = RNG.permutation(300).astype(np.float32).reshape(3, 100)
    for _ in range(2):
        assert np.array_equal(hsgen.sort(a), np.sort(a))
        assert np.array_equal(hsgen.sort(a, descending=True), np.sort(a)[:, ::-1])
        assert np.array_equal(hsgen.argsort(a), np.argsort(a))
        values, indices = hsgen.topk(a, 7)
        assert np.array_equal(values, np.sort(a)[:, :-8:-1])
        assert np.array_equal(np.take_along_axis(a, indices, 1), values)
    device.event.set()
    assert background.wait_for_thread(10)
    assert set(device.callers) == {"hsgen"} and len(device.callers) == 4
    assert not hsgen.sort(a).any() and not hsgen.argsort(a).any()
    assert np.array_equal(hsgen.topk(a, 7).indices, np.zeros((3, 7)))
    assert threading.main_thread().name in device.callers


def test_the_result_may_replace_the_array(device: Device) -> None:
    a = RNG.permutation(1000).astype(np.int32)
    assert hsgen.sort(a, out=a) is a
    assert a.tolist() == list(range(1000))


def test_a_device_that_is_ready_is_used_at_once(device: Device) -> None:
    device.event.set()
    assert not hsgen.sort(np.arange(5)).any()
    assert device.callers == [threading.main_thread().name]


@pytest.mark.parametrize("why", ["named", "many", "unsorted", "off"])
def test_some_calls_wait(device: Device, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller names the device, there are many elements, only the device knows the order, or the thread is off."""
    if why == "many":
        monkeypatch.setattr(meanwhile, "MOST", 99)
    if why == "off":
        background.prepare_in_thread(False)
    threading.Timer(0.05, device.event.set).start()
    a, name = np.arange(100), "cpu" if why == "named" else None
    if why == "unsorted":
        assert not hsgen.topk(a, 3, sorted=False).indices.any()
    else:
        assert not hsgen.sort(a, device=name).any()
    assert device.callers == [threading.main_thread().name]


def test_errors_of_the_preparation_are_those_of_the_next_call(device: Device) -> None:
    device.failure = Wrong("no kernel")
    assert np.array_equal(hsgen.sort(np.arange(5)), np.arange(5))
    device.event.set()
    assert background.wait_for_thread(10)
    with pytest.raises(Wrong, match="no kernel"):
        hsgen.sort(np.arange(5))


def test_a_missing_device_is_an_error_of_the_first_call(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str | None = None) -> None:
        raise Unavailable("no device")

    monkeypatch.setattr(sorting, "device_of", missing)
    with pytest.raises(Unavailable, match="no device"):
        hsgen.sort(np.arange(5))


def test_a_device_with_too_little_memory_for_one_sort_changes_nothing_before(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sorts in chunks may need several kernels; the result, which may be the array, must stay until all are ready."""
    chunks: list[int] = []
    monkeypatch.setattr(sorting, "greatest_length", lambda sorter, *_: 10)
    monkeypatch.setattr(sorting, "_sort_rows", lambda rows, *_, **__: chunks.append(rows.size))
    device.event.set()
    a = np.arange(100)[::-1].copy()
    assert hsgen.sort(a, out=a) is a
    assert a.tolist() == list(range(100))
    assert background.wait_for_thread(10)
    hsgen.sort(a, out=a)
    assert chunks == [100, 100]
