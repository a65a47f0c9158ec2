"""`hsgen.torch.enable` on tensors of the CPU, with stand-ins for the sorts: PyTorch's functions, results and errors."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (pip install torch)")

import torch_stand_ins  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import hsgen.torch  # noqa: E402
from hsgen.core.errors import Unavailable, Wrong  # noqa: E402
from hsgen.cuda import driver  # noqa: E402
from hsgen.torch import enabling, grouping, repeats, rows, selections  # noqa: E402

if not hasattr(torch.library, "get_kernel"):
    pytest.skip("PyTorch is older than 2.9", allow_module_level=True)

TYPES = (torch.int64, torch.int32, torch.int16, torch.uint8, torch.bool, torch.float32, torch.float64, torch.bfloat16)
FLAGS = ((False, False), (False, True), (True, False), (True, True))
"""Requests for the group of each element, and for counts."""


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sorts without a GPU, and PyTorch's own kernels after each test."""
    torch_stand_ins.install(monkeypatch.setattr)
    enabling._failed.clear()
    yield
    hsgen.torch.disable()


def tensor(shape: tuple[int, ...], dtype: Any) -> Any:
    torch.manual_seed(3)
    x = torch.randint(0, 2 if dtype == torch.bool else 9, shape)
    return (x - 4).to(dtype) if dtype.is_signed else x.to(dtype)


def both(call: Callable[[], Any]) -> tuple[Any, Any]:
    """Return the results of hsgen and of PyTorch."""
    with hsgen.torch.enable():
        ours = call()
    return ours, call()


def same(ours: Any, theirs: Any) -> bool:
    """Return True if results have the same elements, types and strides."""
    if isinstance(theirs, torch.Tensor):
        return ours.dtype == theirs.dtype and ours.stride() == theirs.stride() and torch.equal(ours, theirs)
    return len(ours) == len(theirs) and all(same(a, b) for a, b in zip(ours, theirs, strict=True))


def standard(results: Any) -> Any:
    """Return results with the strides of contiguous tensors; those of distinct slices differ on CPUs and GPUs."""
    results = (results,) if isinstance(results, torch.Tensor) else results
    return [x.clone(memory_format=torch.contiguous_format) for x in results]


def test_it_is_on_until_it_is_off() -> None:
    def sorts() -> bool:
        before = torch_stand_ins.Sorting.calls
        torch.randn(9).sort()
        return torch_stand_ins.Sorting.calls > before

    assert not sorts() and not hsgen.torch.enabled()
    with hsgen.torch.enable():
        with hsgen.torch.enable():
            assert sorts()
        assert sorts() and hsgen.torch.enabled()
    assert not sorts()
    hsgen.torch.enable()
    with hsgen.torch.enable():
        assert sorts()
    assert sorts()
    hsgen.torch.disable()
    hsgen.torch.disable()
    assert not sorts()


def test_torch_serves_the_first_call_of_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "BEFORE", 1)
    monkeypatch.setattr(repeats, "_counts", {})
    monkeypatch.setattr(repeats, "_KEPT", 3)
    for function in (torch.sort, lambda x: torch.topk(x, 3)):
        calls = []
        with hsgen.torch.enable():
            for length in (11, 12, 11, 11, 13, 14, 15, 16, 12):
                before = torch_stand_ins.Sorting.calls
                function(torch.randn(length))
                calls.append(torch_stand_ins.Sorting.calls - before)
        assert calls == [0, 0, 1, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_sorts_have_results_and_strides_of_torch(dtype: Any) -> None:
    x = tensor((5, 6, 7), dtype)
    views = (x, x.transpose(0, 2), x.permute(1, 2, 0), x[:, ::2], x[1:, 1:, 1:], x.expand(2, 5, 6, 7), x[0, 0], x[:0])
    for y, descending in itertools.product(views, (False, True)):
        for dim in range(-y.dim(), y.dim()):
            ours, theirs = both(lambda y=y, d=descending, n=dim: torch.sort(y, dim=n, descending=d, stable=True))
            assert same(ours, theirs), (y.shape, y.stride(), dim)
    assert same(*both(lambda: x.argsort(dim=1, stable=True))) and same(*both(lambda: x.msort()))


@pytest.mark.parametrize("dtype", [t for t in TYPES if t != torch.bool], ids=str)
@pytest.mark.parametrize("largest", [False, True])
def test_selections_have_results_of_torch(dtype: Any, largest: bool) -> None:
    x = torch.randperm(60).view(3, 20).to(dtype)
    for y, dim in ((x, 1), (x, 0), (x.t(), 0), (x[:, ::3], -1)):
        ours, theirs = both(lambda y=y, dim=dim: torch.topk(y, 2, dim, largest))
        assert same(ours, theirs)
    assert same(*both(lambda: x.topk(0)))
    assert torch.equal(both(lambda: torch.tensor([-0.0, 0.0, -1.0]).topk(2).indices)[0], torch.tensor([0, 1]))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_distinct_elements_are_those_of_torch(dtype: Any, flags: tuple[bool, bool]) -> None:
    for x in (tensor((5, 6), dtype), tensor((5, 6), dtype).t(), tensor((1,), dtype), tensor((0, 3), dtype)):
        assert same(*both(lambda x=x: torch.unique(x, True, *flags)))
        assert same(*both(lambda x=x: torch.unique_consecutive(x, *flags)))
    x = tensor((4, 3, 2), dtype)
    for dim in (-3, 0, 1, 2):
        ours, theirs = both(lambda d=dim: torch.unique(x, True, *flags, dim=d))
        assert same(standard(ours), standard(theirs)), dim
        assert same(*both(lambda d=dim: torch.unique_consecutive(x, *flags, dim=d))), dim


def test_distinct_floats_are_those_of_torch() -> None:
    x = torch.tensor([0.0, float("nan"), -0.0, 1.0, float("nan"), 1.0])
    ours, theirs = both(lambda: x.unique(return_inverse=True, return_counts=True))
    assert torch.equal(ours[1], theirs[1]) and torch.equal(ours[2], theirs[2])
    assert torch.equal(ours[0].nan_to_num(9), theirs[0].nan_to_num(9))


class Waits(TorchDispatchMode):
    """The operators for which the host would wait on a GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = function.name()
        if name in ("aten::nonzero", "aten::_local_scalar_dense", "aten::equal", "aten::masked_select"):
            self.names.append(name)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32], ids=str)
@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_the_host_waits_once_for_the_number_of_elements(dtype: Any, flags: tuple[bool, bool]) -> None:
    x = tensor((40,), dtype)
    calls: list[Callable[[], Any]] = [lambda: grouping.distinct(x, *flags), lambda: grouping.runs(x, *flags)]
    if dtype == torch.int32:
        calls.append(lambda: grouping.distinct_slices(x.view(20, 2), 0, *flags))
    for call in calls:
        with Waits() as waits:
            assert call() is not None
        assert len(waits.names) == 1, waits.names


def test_gradients_compiled_functions_and_vmap() -> None:
    x = torch.randperm(40, dtype=torch.float64).view(4, 10).requires_grad_()
    with hsgen.torch.enable():
        begin = torch_stand_ins.Sorting.calls
        assert torch.autograd.gradcheck(lambda t: t.sort(0, descending=True)[0] * t.topk(3)[0].sum(), (x,))
        compiled = torch.compile(lambda t: torch.sort(t * 2, stable=True), fullgraph=True, backend="aot_eager")
        assert same(compiled(x.detach()), torch.sort(x.detach() * 2))
        mapped = torch.func.vmap(lambda t: torch.sort(t)[1])(x.detach())
        assert torch_stand_ins.Sorting.calls > begin
    assert torch.equal(mapped, x.argsort(1))


def test_results_go_into_tensors_of_the_caller() -> None:
    x = tensor((4, 30), torch.float32)
    for shape in ((0,), (4, 30)):
        out = torch.empty(shape), torch.empty(shape, dtype=torch.int64)
        with hsgen.torch.enable():
            torch.sort(x, dim=1, stable=True, out=out)
        assert same(out, tuple(torch.sort(x, dim=1, stable=True)))
    y = x.clone()
    with hsgen.torch.enable():
        torch.sort(y, out=(y, torch.empty(0, dtype=torch.int64)))
        first = torch.topk(x, 4, out=(torch.empty(0), torch.empty(0, dtype=torch.int64)))
        with pytest.raises(RuntimeError, match="dtype long"):
            torch.sort(x, out=(torch.empty(0), torch.empty(0)))
    assert torch.equal(y, x.sort().values) and torch.equal(first.values, x.topk(4).values)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sort(2),
        lambda x: x.topk(1, 5),
        lambda x: x.topk(31),
        lambda x: torch.unique(x, dim=4),
        lambda x: torch.sort(x.to(torch.complex64)),
        lambda x: x.sort(0.5),
    ],
)
def test_errors_are_those_of_torch(call: Callable[[Any], Any]) -> None:
    x = tensor((3, 30), torch.float32)
    with pytest.raises((RuntimeError, IndexError, TypeError)) as theirs:
        call(x)
    with hsgen.torch.enable(), pytest.raises(type(theirs.value)) as ours:
        call(x)
    assert str(ours.value).splitlines()[0] == str(theirs.value).splitlines()[0]


@pytest.mark.parametrize("error", [Unavailable("no NVRTC"), Wrong("a.cu: error")])
def test_without_kernels_the_program_goes_on(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(rows, "prepared", fails)
    monkeypatch.setattr(selections, "prepared", fails)
    x = tensor((30,), torch.float32)
    with hsgen.torch.enable():
        with pytest.warns(RuntimeWarning, match=rf"^hsgen: {error}; PyTorch's own sort runs instead$"):
            order = x.sort(stable=True).indices
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            x.sort()
        with pytest.warns(RuntimeWarning, match="own topk runs instead"):
            x.topk(2)
    assert torch.equal(order, x.sort(stable=True).indices)


def test_a_failed_launch_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise Wrong("kernel grid says CUDA_ERROR_ILLEGAL_ADDRESS")

    monkeypatch.setattr(torch_stand_ins.Sorting, "run", fails)
    with hsgen.torch.enable(), pytest.raises(Wrong, match="ILLEGAL_ADDRESS"):
        tensor((30,), torch.float32).sort()


def test_what_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise Unavailable("no NVIDIA driver")

    with monkeypatch.context() as patch:
        patch.setattr(driver, "bindings", missing)
        with pytest.raises(Unavailable, match=r"^no NVIDIA driver$"):
            hsgen.torch.enable()
    with monkeypatch.context() as patch:
        patch.delattr(torch.library, "get_kernel")
        with pytest.raises(Unavailable, match=r"^PyTorch .* cannot call a replaced kernel; install 2.9 or later$"):
            hsgen.torch.enable()
    monkeypatch.setattr(enabling, "KEY", "CUDA")
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(Unavailable, match=r"^PyTorch .* was built without CUDA; install a build for CUDA$"):
        hsgen.torch.enable()
    assert not hsgen.torch.enabled()
