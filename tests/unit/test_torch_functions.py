"""hsgen.torch on tensors of the CPU, which PyTorch itself sorts: results, operators, gradients and compilation."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (pip install torch)")

import hsgen.torch  # noqa: E402
from hsgen.torch import operators  # noqa: E402

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
