"""PyTorch's sorts in place of hsgen's, while a thread prepares hsgen's: the same results, and no call waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (pip install torch)")

import hsgen.torch as hsgen_torch  # noqa: E402
from hsgen.cuda import background  # noqa: E402
from hsgen.torch import meanwhile, rows  # noqa: E402

WORDS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


def random(dtype: Any, shape: tuple[int, ...]) -> Any:
    """Elements of all bit patterns; floats with NaNs of both signs, zeros and infinities."""
    size = torch.empty(0, dtype=dtype).element_size()
    bits = np.random.default_rng(7).integers(0, 256, (*shape, size), np.uint8).view(WORDS[size])[..., 0]
    x = torch.from_numpy(bits & 1 if dtype is torch.bool else bits).view(dtype).clone()
    if dtype.is_floating_point:
        flat = x.view(-1)
        for step, value in ((5, torch.nan), (6, -torch.nan), (7, 0.0), (8, -0.0), (9, torch.inf)):
            flat[step::11] = value
    return x


def ranks(x: Any) -> Any:
    """The rank of each element in numeric order, by numpy; equal elements have equal ranks."""
    if x.dtype.is_floating_point:
        values = x.double().numpy()
        return np.where(np.isnan(values), x.numel(), np.unique(values + 0.0, return_inverse=True)[1].reshape(x.shape))
    return np.unique(x.numpy(), return_inverse=True)[1].reshape(x.shape)


@pytest.mark.parametrize("dtype", sorted(rows.KEYS, key=str), ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_results_are_those_of_a_stable_sort_in_numeric_order(dtype: Any, descending: bool) -> None:
    for shape, dim in (((60,), 0), ((3, 200), 1), ((200, 3), 0)):
        x = random(dtype, shape)
        expected = np.argsort(-ranks(x) if descending else ranks(x), axis=dim, kind="stable")
        values, indices = meanwhile.sorted_rows(x, dim, descending)
        assert np.array_equal(indices.numpy(), expected)
        assert np.array_equal(meanwhile.argsorted_rows(x, dim, descending).numpy(), expected)
        word = getattr(torch, WORDS[x.element_size()])
        bits = np.take_along_axis(x.view(word).numpy(), expected, dim)
        assert values.dtype == dtype and values.is_contiguous() and indices.is_contiguous()
        assert np.array_equal(values.view(word).numpy(), bits)
        first, places = meanwhile.first_of_rows(x, 5, dim, descending)
        assert torch.equal(first.view(word), values.view(word).narrow(dim, 0, 5))
        assert torch.equal(places, indices.narrow(dim, 0, 5))


@pytest.fixture
def _thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The thread is on, and tensors of the CPU have shapes as those of a GPU."""
    monkeypatch.setattr(background, "_known", {})
    monkeypatch.setattr(background, "_on", True)
    monkeypatch.setattr(rows, "_shape", lambda x, dim, **outputs: rows.Shape(
        number=0, key="f32", rows=1, length=len(x), descending=outputs["descending"], keys=outputs["keys"]
    ))  # fmt: skip
    yield
    assert background.wait_for_thread(10)


@pytest.mark.usefixtures("_thread")
def test_calls_do_not_wait_for_the_preparation(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared, end = list[Any](), threading.Event()

    def order(shape: Any, method: str) -> None:
        background.slow()
        prepared.append((threading.current_thread().name, shape.keys))
        assert end.wait(10)

    monkeypatch.setattr(rows, "_order", order)
    x = random(torch.float32, (1000,))
    for _ in range(3):
        values, indices = hsgen_torch.sort(x)
        assert torch.equal(indices, meanwhile.argsorted_rows(x, 0, False))
        assert torch.equal(values.view(torch.int32), x.view(torch.int32)[indices])
        assert torch.equal(hsgen_torch.argsort(x), indices)
    end.set()
    assert background.wait_for_thread(10)
    assert ("hsgen", True) in prepared and ("hsgen", False) in prepared
    assert not rows.unprepared(x, 0, descending=False, keys=True)


@pytest.mark.usefixtures("_thread")
def test_lengths_whose_kernels_are_loaded_are_not_left_to_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call prepares its length, as without the thread."""
    names: list[str] = []
    monkeypatch.setattr(rows, "_order", lambda *_: names.append(threading.current_thread().name))
    for n in range(1000, 1010):
        assert not rows.unprepared(random(torch.float32, (n,)), 0, descending=False, keys=True)
    assert names == [threading.main_thread().name] * 10


@pytest.mark.usefixtures("_thread")
def test_rows_that_pytorch_cannot_sort_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meanwhile, "LONGEST", 999)
    monkeypatch.setattr(rows, "_order", lambda *_: background.slow())
    assert not rows.unprepared(random(torch.float32, (1000,)), 0, descending=False, keys=True)
    assert rows.unprepared(random(torch.float32, (999,)), 0, descending=False, keys=True)


@pytest.mark.usefixtures("_thread")
@pytest.mark.parametrize("call", ["sort", "argsort"])
def test_a_call_waits_if_pytorch_has_too_little_memory(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[str] = []

    def order(*_: Any) -> None:
        background.slow()
        prepared.append(threading.current_thread().name)

    def sorts(*_: Any) -> None:
        raise torch.cuda.OutOfMemoryError("no memory")

    monkeypatch.setattr(rows, "_order", order)
    monkeypatch.setattr(meanwhile, "argsorted_rows", sorts)
    x = random(torch.float32, (1000,))
    result = getattr(hsgen_torch, call)(x)
    assert threading.main_thread().name in prepared
    assert result[0].shape == x.shape if call == "sort" else result.shape == x.shape


@pytest.mark.usefixtures("_thread")
def test_without_the_thread_the_call_prepares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_on", False)
    names: list[str] = []
    monkeypatch.setattr(rows, "_order", lambda *_: names.append(threading.current_thread().name))
    hsgen_torch.sort(random(torch.float32, (1000,)))
    assert names == [threading.main_thread().name]
