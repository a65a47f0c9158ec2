"""The baseline torch with a stand-in for PyTorch: its input, its output, and its reasons not to run."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hsgen.core.errors import Unavailable
from hsgen.tools.bench.baselines import BASELINES, VALUED

CUDA: Any = SimpleNamespace(api="cuda", index=3)


class Tensor:
    """An array on a device."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def to(self, device: str) -> Tensor:
        assert device == "cuda:3"
        return Tensor(self.array.copy())

    def __getitem__(self, order: Tensor) -> Tensor:
        return Tensor(self.array[order.array])

    def clone(self) -> Tensor:
        return Tensor(self.array.copy())

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.array


class Event:
    """A point on a stream; successive events are a millisecond apart."""

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing

    def record(self, stream: str) -> None:
        assert stream == "stream of cuda:3"

    def elapsed_time(self, other: Event) -> float:
        assert isinstance(other, Event)
        return 1.0


def stand_in(called: list[Any], available: bool = True) -> Any:
    """The part of PyTorch that the baseline uses; like PyTorch, it sorts only signed integers."""

    def sort(tensor: Tensor, stable: bool) -> tuple[Tensor, Tensor]:
        assert tensor.array.dtype in (np.int32, np.int64)
        called.append(stable)
        order = np.argsort(tensor.array, kind="stable")
        return Tensor(tensor.array[order]), Tensor(order)

    cuda = SimpleNamespace(
        is_available=lambda: available,
        Event=Event,
        current_stream=lambda device: f"stream of {device}",
        synchronize=lambda device: called.append(f"waited for {device}"),
        empty_cache=lambda: called.append("emptied"),
    )
    device = lambda kind, index: f"{kind}:{index}"  # noqa: E731
    return SimpleNamespace(__version__="9.1+cu1", cuda=cuda, device=device, from_numpy=Tensor, sort=sort)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    out: list[Any] = []
    monkeypatch.setitem(sys.modules, "torch", stand_in(out))
    return out


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_keys_are_sorted_as_unsigned_ones(dtype: Any, called: list[Any]) -> None:
    keys = np.random.default_rng(1).integers(0, np.iinfo(dtype).max, 1000, dtype, endpoint=True)
    before = keys.copy()
    run = BASELINES["torch"](CUDA, keys)
    run.prepare()
    assert run.sort() is None and run.device() == 1e-3
    assert run.result().dtype == dtype and (run.result() == np.sort(before)).all() and (keys == before).all()
    assert run.version == "9.1+cu1"
    run.close()
    assert called == ["waited for cuda:3", False, "waited for cuda:3", "emptied"]


@pytest.mark.parametrize("width", [1, 2, 4, None])
def test_values_and_places_are_those_of_a_stable_sort(width: int | None, called: list[Any]) -> None:
    rng = np.random.default_rng(2)
    keys = rng.integers(0, 9, 500, np.uint32)
    values = None if width is None else rng.integers(0, 2**32, (500, width), np.uint32)
    run = VALUED["torch"](CUDA, keys, values)
    run.sort()
    order = np.argsort(keys, kind="stable")
    assert run.values is not None and called[0] is True
    assert (run.result() == keys[order]).all()
    found = run.values()
    assert found.dtype == np.uint32 and (found == (order.reshape(-1, 1) if values is None else values[order])).all()


def test_it_needs_cuda(called: list[Any]) -> None:
    for api in ("opencl", "vulkan"):
        with pytest.raises(Unavailable, match=r"^baseline torch: needs CUDA; add --api cuda$"):
            BASELINES["torch"](SimpleNamespace(api=api), np.zeros(1, np.uint32))  # type: ignore[arg-type]
    assert not called


def test_without_pytorch_or_its_device_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(Unavailable, match=r"^baseline torch needs PyTorch; install it with pip install torch$"):
        BASELINES["torch"](CUDA, np.zeros(1, np.uint32))
    monkeypatch.setitem(sys.modules, "torch", stand_in([], available=False))
    line = r"^baseline torch: PyTorch 9.1\+cu1 sees no CUDA device; install a build for this machine's CUDA$"
    with pytest.raises(Unavailable, match=line):
        VALUED["torch"](CUDA, np.zeros(1, np.uint32), None)
