"""hsgen.torch on tensors of the CPU, which PyTorch itself sorts: results, operators, gradients and compilation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from first_of_rows import drawn, first_of_rows, ranks_of
from host_selection import HostSelection

from hsgen.runners.row_numbers import NAMES

torch = pytest.importorskip("torch", reason="PyTorch is not installed (pip install torch)")

import hsgen.torch  # noqa: E402
from hsgen.cuda.subjects import Take  # noqa: E402
from hsgen.torch import operators, selections  # noqa: E402
from hsgen.torch import rows as torch_rows  # noqa: E402
from hsgen.torch.rows import KEYS  # noqa: E402

RNG = np.random.default_rng(49)
SHAPES = ((7, 30), (50,), (0,), (), (5, 6, 7), (3, 1))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_results_are_those_of_torch(shape: tuple[int, ...], descending: bool) -> None:
    x = torch.randint(-9, 9, shape).float()
    for dim in range(-max(len(shape), 1), max(len(shape), 1)):
        found = hsgen.torch.sort(x, dim, descending)
        expected = torch.sort(x, dim=dim, descending=descending, stable=True)
        assert torch.equal(found.values, expected.values) and torch.equal(found.indices, expected.indices)
        assert torch.equal(hsgen.torch.argsort(x, dim, descending), expected.indices)
    assert hsgen.torch.method(x) == "torch.sort"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_operators_pass_the_checks_of_torch(shape: tuple[int, ...]) -> None:
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    torch.library.opcheck(operators.SORT, (x, 0, True))
    torch.library.opcheck(operators.ARGSORT, (x.detach(), -1, False))
    assert torch.autograd.gradcheck(lambda t: hsgen.torch.sort(t)[0], (x,)) or not x.numel()


def test_compiled_functions_are_whole_graphs() -> None:
    x = torch.randn(4, 100)
    compiled = torch.compile(lambda t: hsgen.torch.sort(t * 2), fullgraph=True, backend="aot_eager")
    found, expected = compiled(x), torch.sort(x * 2, stable=True)
    assert torch.equal(found[0], expected[0]) and torch.equal(found[1], expected[1])


def test_a_wrong_dimension_is_the_error_of_torch() -> None:
    with pytest.raises(IndexError, match="Dimension out of range"):
        hsgen.torch.sort(torch.randn(3), 1)
    with pytest.raises(IndexError, match="Dimension out of range"):
        hsgen.torch.method(torch.randn(3), 1)


@pytest.mark.parametrize("dim", [0.0, True, None, "0"])
def test_a_dimension_is_an_integer(dim: Any) -> None:
    x = torch.randn(3)
    hsgen.torch.sort(x, 0)
    for call in (hsgen.torch.sort, hsgen.torch.argsort, hsgen.torch.method):
        with pytest.raises(TypeError, match=r"^dim is .*; give an integer from "):
            call(x, dim)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("largest", [False, True])
def test_selections_are_those_of_torch(shape: tuple[int, ...], largest: bool) -> None:
    x = torch.randn(shape)
    for dim in range(-max(len(shape), 1), max(len(shape), 1)):
        for k in {0, 1, 2, x.shape[dim] if shape else 1}:
            if k <= (x.shape[dim] if shape else 1):
                result, expected = hsgen.torch.topk(x, k, dim, largest), torch.topk(x, k, dim, largest)
                assert torch.equal(result.values, expected.values) and torch.equal(result.indices, expected.indices)
    assert hsgen.torch.topk_method(x, 0) == "torch.topk"


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.int8, torch.int64, torch.bool])
def test_elements_beyond_a_length_do_not_count(kind: Any) -> None:
    x = torch.randint(0, 2, (3, 4, 9)).to(kind)
    x[0, 0, 0] = torch.inf if kind.is_floating_point else 1
    for dim, largest in ((2, True), (0, False), (-2, True)):
        shape = list(x.shape)
        rows, k = shape.pop(dim), 3
        lengths = torch.randint(0, rows + 1, shape)
        result = hsgen.torch.topk(x, k, dim, largest, lengths=lengths)
        values, places, flat = (t.movedim(dim, -1).reshape(-1, t.shape[dim]) for t in (*result, x))
        for row, (length, source) in enumerate(zip(lengths.reshape(-1).tolist(), flat, strict=True)):
            expected = torch.sort(source[:length], descending=largest, stable=True)
            count = min(k, length)
            assert torch.equal(values[row, :count], expected.values[:count])
            assert places[row].tolist() == expected.indices[:count].tolist() + [-1] * (k - count)
            assert len(values[row, count:].unique()) <= 1 or values[row, count:].isnan().all()
    assert hsgen.torch.topk_method(x, 3, lengths=torch.ones(3, 4, dtype=torch.int32)) == "torch.sort"


@pytest.mark.parametrize(("shape", "k", "dim"), [((7, 30), 3, 0), ((50,), 50, -1), ((), 1, 0), ((5, 6, 7), 2, 1)])
def test_the_operator_of_selections_passes_the_checks_of_torch(shape: tuple[int, ...], k: int, dim: int) -> None:
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    without = list(shape)
    rows = without.pop(dim) if shape else 1
    for lengths in (None, torch.randint(k, rows + 1, without)):
        torch.library.opcheck(operators.TOPK, (x, k, dim, False, True, lengths))
        assert torch.autograd.gradcheck(lambda t, c=lengths: hsgen.torch.topk(t, k, dim, lengths=c)[0], (x,))


def test_no_gradient_of_an_element_beyond_a_length() -> None:
    x = torch.randn(3, 9, requires_grad=True)
    values, _ = hsgen.torch.topk(x, 4, lengths=torch.tensor([2, 9, 0]))
    values.sum().backward()
    assert x.grad is not None and x.grad.sum(1).tolist() == [2, 4, 0] and not x.grad[0, 2:].any()


def test_compiled_selections_are_whole_graphs_for_any_k() -> None:
    x = torch.randn(4, 100)
    compiled = torch.compile(lambda t, k: hsgen.torch.topk(t * 2, k), fullgraph=True, backend="aot_eager", dynamic=True)
    for k in (2, 5):
        result, expected = compiled(x, k), torch.topk(x * 2, k)
        assert torch.equal(result[0], expected[0]) and torch.equal(result[1], expected[1])


ROWS = torch.zeros(3, 4)


@pytest.mark.parametrize(
    ("k", "dim", "lengths", "error", "message"),
    [
        (5, 1, None, RuntimeError, "selected index k out of range: k is 5, dimension 1 has 4 elements"),
        (-1, 0, None, RuntimeError, "selected index k out of range: k is -1, dimension 0 has 3 elements"),
        (1, 2, None, IndexError, "Dimension out of range"),
        (1.5, 0, None, TypeError, "k is a float; give an integer from "),
        (1, 0, 3, TypeError, "lengths is an int; give a tensor with the length of each row"),
        (1, 0, torch.ones(4), TypeError, "lengths has elements of torch.float32; give integers"),
        (1, 0, torch.ones(3, dtype=torch.int32), ValueError, r"lengths has the shape \(3,\); give \(4,\), a length"),
        (1, 0, torch.ones(4, dtype=torch.int32, device="meta"), ValueError, "lengths is on meta, input on cpu"),
    ],
)
def test_wrong_arguments_of_selections_are_one_line(
    k: Any, dim: int, lengths: Any, error: type[Exception], message: str
) -> None:
    for call in (hsgen.torch.topk, hsgen.torch.topk_method):
        with pytest.raises(error, match=f"^{message}"):
            call(ROWS, k, dim, lengths=lengths)


NUMBERS = [("starts",), ("takes",), ("count",), ("table",), ("table", "table_starts"), ("lengths", "takes"), NAMES]


def numbers_of(names: tuple[str, ...], shape: tuple[int, ...], dim: int, k: int) -> tuple[dict[str, Any], Any]:
    """Random numbers of these names for a tensor, and what they are for its rows as a matrix."""
    without = [*shape[:dim], *shape[dim + 1 :]] if shape else []
    rows, length = int(np.prod(without, initial=1)), shape[dim] if shape else 1
    flat = drawn(RNG, names, rows, length, k)
    numbers = {
        name: torch.from_numpy(x) if name in ("count", "table") else torch.from_numpy(x).reshape(without)
        for name, x in flat.items()
    }
    if "table" in names and "table_starts" not in names:
        table = numbers["table"].reshape(*without, length)
        numbers["table"] = table.movedim(-1, dim) if shape else table.reshape(())
    return numbers, flat


@pytest.mark.parametrize("names", NUMBERS, ids="-".join)
def test_every_number_of_rows_counts(names: tuple[str, ...]) -> None:
    for shape, dim, kind in (
        ((3, 4, 9), 2, "f4"),
        ((7, 5), 0, "i8"),
        ((3, 8, 2), 1, "f2"),
        ((6,), 0, "f4"),
        ((), 0, "i4"),
    ):
        k, largest = min(shape[dim], 4) if shape else 1, len(shape) % 2 == 1
        ties = not {*names} <= {"table", "table_starts"}  # PyTorch's own selection has no order among equal elements
        count = int(np.prod(shape))
        x = torch.from_numpy(
            (RNG.integers(-4, 4, count) if ties else RNG.permutation(count)).astype(kind).reshape(shape)
        )
        numbers, flat = numbers_of(names, shape, dim, k)
        rows = (x.movedim(dim, -1) if shape else x.reshape(1)).reshape(-1, shape[dim] if shape else 1).numpy()
        ranks = ranks_of(rows, largest=largest)
        expected = first_of_rows(KEYS[x.dtype], rows, ranks, k, largest=largest, numbers=flat)
        for call in (hsgen.torch.topk, traced):
            result = call(x, k, dim, largest, **numbers)
            turned = [(y.movedim(dim, -1) if shape else y.reshape(1)).reshape(-1, k).numpy() for y in result]
            assert len(turned) == (3 if "table" in names else 2)
            assert np.array_equal(turned[0], expected.keys, equal_nan=True) and (turned[1] == expected.indices).all()
            assert expected.entries is None or (turned[2] == expected.entries).all()
        assert hsgen.torch.topk_method(x, k, dim, largest, **numbers) == ("torch.sort" if ties else "torch.topk")


def on_host(x: Any, k: int, dim: int, *, largest: bool, sorted: bool, numbers: Any, method: str) -> HostSelection:
    """The selection from a tensor by the host, as `hsgen.torch.selections.prepared` returns it."""
    length, k = (x.shape[dim], k) if x.dim() else (1, 1)
    entry = numbers["table"].element_size() if "table" in numbers else 4
    shape = {"rows": x.numel() // length, "length": length, "k": k}
    return HostSelection(
        Take(number=0, key=KEYS[x.dtype], **shape, largest=largest, numbers=tuple(numbers), entry=entry)
    )


@pytest.mark.parametrize("names", [(), *NUMBERS], ids="-".join)
def test_launches_get_every_number_of_rows(names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selections, "prepared", on_host)
    monkeypatch.setattr(torch_rows, "_raw", lambda number: 0)
    for shape, dim in (((3, 4, 9), 2), ((7, 5), 0), ((3, 8, 2), 1), ((), 0)):
        k = min(shape[dim], 4) if shape else 1
        x = torch.from_numpy(RNG.integers(-4, 4, shape or 1).astype(np.float32)).reshape(shape)
        numbers, flat = numbers_of(names, shape, dim, k)
        rows = (x.movedim(dim, -1) if shape else x.reshape(1)).reshape(-1, shape[dim] if shape else 1).numpy()
        expected = first_of_rows("f32", rows, ranks_of(rows, largest=True), k, largest=True, numbers=flat)
        result = hsgen.torch.topk(x, k, dim, **numbers)
        turned = [(y.movedim(dim, -1) if shape else y.reshape(1)).reshape(-1, k).numpy() for y in result]
        assert (turned[0] == expected.keys).all() and (turned[1] == expected.indices).all()
        assert len(turned) == 2 + ("table" in names)
        assert expected.entries is None or (turned[2] == expected.entries).all()


def traced(x: Any, *arguments: Any, **numbers: Any) -> Any:
    """The selection by the operator of PyTorch."""
    x = x.clone().requires_grad_() if x.dtype.is_floating_point else x
    return [y.detach() for y in hsgen.torch.topk(x, *arguments, **numbers)]


def test_the_operator_with_numbers_of_rows_passes_the_checks_of_torch() -> None:
    x = torch.randn(4, 9, dtype=torch.float64, requires_grad=True)
    numbers, _ = numbers_of(operators.NUMBERS, (4, 9), 1, 3)
    numbers |= {"count": torch.tensor([3]), "lengths": torch.tensor([9, 2, 4, 9])}
    torch.library.opcheck(operators.TOPK, (x, 3, 1, True, True, *(numbers[name] for name in operators.NUMBERS)))
    assert torch.autograd.gradcheck(lambda t: hsgen.torch.topk(t, 3, **numbers)[0].clamp(min=-100), (x,))


def test_gradients_go_only_to_places_that_are_taken() -> None:
    x = torch.arange(18.0).reshape(3, 6).requires_grad_()
    starts, takes = torch.tensor([1, 0, 4]), torch.tensor([2, 0, 3])
    values, _ = hsgen.torch.topk(x, 3, starts=starts, lengths=torch.tensor([3, 6, 6]), takes=takes)
    values[values.isfinite()].sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[0, 0, 1, 1, 0, 0], [0] * 6, [0, 0, 0, 0, 1, 1]]


def test_compiled_selections_from_tables_are_whole_graphs() -> None:
    x, table = torch.randn(4, 100), torch.randint(0, 1000, (50, 100))
    numbers = {"takes": torch.tensor([5, 0, 2, 3]), "table_starts": torch.tensor([0, 300, 100, 100])}

    def call(t: Any, entries: Any, takes: Any, table_starts: Any) -> Any:
        return hsgen.torch.topk(t * 2, 5, table=entries, takes=takes, table_starts=table_starts)

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    for result, expected in zip(compiled(x, table, **numbers), call(x, table, **numbers), strict=True):
        assert torch.equal(result, expected)


@pytest.mark.parametrize(
    ("numbers", "error", "message"),
    [
        (
            {"takes": torch.ones(3, dtype=torch.int32)},
            ValueError,
            r"takes has the shape \(3,\); give \(4,\), a k for each",
        ),
        ({"starts": [1]}, TypeError, "starts is a list; give a tensor with the start of each row"),
        ({"count": torch.ones(4, dtype=torch.int64)}, ValueError, r"count has the shape \(4,\); give one number"),
        ({"count": 3}, TypeError, "count is an int; give a tensor with the number of rows"),
        ({"table": torch.ones(3, 4)}, TypeError, "table has elements of torch.float32; give integers"),
        (
            {"table": torch.ones(3, 4, dtype=torch.int16)},
            TypeError,
            "table has elements of torch.int16; give integers of",
        ),
        (
            {"table": torch.ones(12, dtype=torch.int32)},
            ValueError,
            r"table has the shape \(12,\); give \(3, 4\), that of ",
        ),
        ({"table_starts": torch.ones(4, dtype=torch.int32)}, ValueError, "table_starts is given, but no table"),
        (
            {"take": torch.ones(4)},
            TypeError,
            "take: no such argument; give lengths, starts, takes, count, table_starts",
        ),
        ({"takes": torch.ones(4, dtype=torch.int32, device="meta")}, ValueError, "takes is on meta, input on cpu"),
    ],
)
def test_wrong_numbers_of_rows_are_one_line(numbers: dict[str, Any], error: type[Exception], message: str) -> None:
    for call in (hsgen.torch.topk, hsgen.torch.topk_method):
        with pytest.raises(error, match=f"^{message}"):
            call(ROWS, 1, 0, **numbers)
