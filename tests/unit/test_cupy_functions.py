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
