"""hsgen.cupy where CuPy's own sort is used, with numpy in the place of CuPy: axes, and the bits of NaNs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of the functions, which finds numpy as the module cupy."""
    monkeypatch.setitem(sys.modules, "cupy", np)
    for name in ("hsgen.cupy", "hsgen.cupy.sorting"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("hsgen.cupy.sorting")
    for name in ("hsgen.cupy", "hsgen.cupy.sorting"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("axis", [0.0, True, (0,), "0", np.True_])
def test_an_axis_is_an_integer(functions: Any, axis: Any) -> None:
    for call in (functions.sort, functions.argsort, functions.method):
        with pytest.raises(TypeError, match=r"^axis is .*; give an integer from "):
            call(np.zeros((3, 1)), axis)


def test_another_axis_is_the_error_of_cupy(functions: Any) -> None:
    for call in (functions.sort, functions.argsort, functions.method):
        with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of bounds for array of dimension 2"):
            call(np.zeros((3, 1)), 2)
    assert functions.sort(np.zeros((3, 1)), np.int8(-1)).shape == (3, 1)
    assert functions.method(np.zeros((3, 1)), np.uint8(1)) == "cupy.sort"


def test_nans_of_rows_of_one_element_have_one_bit_pattern(functions: Any) -> None:
    a = np.array([[0xFFC00005], [0x7F800001], [0x3F800000]], np.uint32).view(np.float32)
    before = a.copy()
    assert functions.sort(a).view(np.uint32).tolist() == [[0x7FC00000], [0x7FC00000], [0x3F800000]]
    assert a.tobytes() == before.tobytes()
    assert functions.argsort(a).tolist() == [[0], [0], [0]]


@pytest.mark.parametrize(
    ("k", "axis", "lengths", "message"),
    [
        (1.0, -1, None, "k is a float; give an integer from 0 to 3"),
        (True, -1, None, "k is a bool; give an integer from 0 to 3"),
        (1, 0.0, None, "axis is a float; give an integer from "),
        (1, 0, [1, 1, 1], "lengths is a list; give an array of CuPy with the length of each row"),
        (1, 0, np.ones(3), "lengths has elements of float64; give integers"),
    ],
)
def test_wrong_types_in_selections_are_one_line(functions: Any, k: Any, axis: Any, lengths: Any, message: str) -> None:
    for call in (functions.topk, functions.topk_method):
        with pytest.raises(TypeError, match=f"^{message}"):
            call(np.zeros((2, 3)), k, axis, lengths=lengths)


def test_selections_are_of_rows_of_known_types(functions: Any) -> None:
    with pytest.raises(np.exceptions.AxisError):
        functions.topk(np.array(3.0), 1)
    with pytest.raises(TypeError, match=r"^a has elements of complex128; give uint8, uint16, "):
        functions.topk(np.zeros(3, complex), 1)
    with pytest.raises(ValueError, match=r"^k 4: give 0 to 3$"):
        functions.topk(np.zeros((2, 3)), 4)
    with pytest.raises(ValueError, match=r"^lengths has the shape \(2,\); give \(3,\), a length for each row$"):
        functions.topk(np.zeros((2, 3)), 1, 0, lengths=np.ones(2, int))


def test_nothing_is_selected_from_nothing(functions: Any) -> None:
    values, indices = functions.topk(np.zeros((0, 3), np.float16), 2)
    assert (values.shape, values.dtype, indices.dtype) == ((0, 2), np.float16, np.int64)
    assert functions.topk(np.zeros((4, 3)), 0, 0).values.shape == (0, 3)
    assert functions.topk_method(np.zeros((4, 3)), 0) == "none"
