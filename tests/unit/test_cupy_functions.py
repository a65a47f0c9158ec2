"""hsgen.cupy where CuPy's own sort is used, with numpy in the place of CuPy: axes, and the bits of NaNs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from first_of_rows import drawn, first_of_rows, ranks_of
from host_selection import HostSelection

from hsgen.runners.row_numbers import NAMES


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


class Memory:
    """The memory of an array, as CuPy names it."""

    def __init__(self, array: Any) -> None:
        self.ptr, self.device_id = array.ctypes.data, 0


class Array(np.ndarray):
    """An array of numpy with the attribute of CuPy's arrays that launches read."""

    @property
    def data(self) -> Memory:  # type: ignore[override]
        return Memory(self)


def of_cupy(a: Any) -> Any:
    """Return an array in the place of CuPy's."""
    return np.asarray(a).view(Array)


@pytest.fixture
def selecting(functions: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the functions, with selections by the host."""
    from hsgen.cuda import driver, selections

    monkeypatch.setattr(driver, "stand_in", object())  # a driver, which the host's selections do not call
    stand_in = SimpleNamespace(
        **{name: getattr(np, name) for name in ("ascontiguousarray", "moveaxis", "int32", "int64")}
    )
    stand_in.empty = lambda *shape: of_cupy(np.empty(*shape))
    stand_in.cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=0))
    monkeypatch.setattr(functions, "cupy", stand_in)
    stand_in.ndarray = np.ndarray
    stand_in.ascontiguousarray = lambda a: of_cupy(np.ascontiguousarray(a))
    monkeypatch.setattr(selections, "selection", lambda take, method="": HostSelection(take))
    return functions


@pytest.mark.parametrize("names", [(), ("lengths",), ("starts", "takes"), ("count",), ("table",), NAMES], ids="-".join)
def test_selections_with_every_number_of_rows(names: tuple[str, ...], selecting: Any) -> None:
    rng = np.random.default_rng(49)
    for shape, axis in (((5, 40), 1), ((40, 5), 0), ((2, 40, 3), 1), ((40,), None)):
        k, largest = 7, axis == 1
        a = rng.integers(-9, 9, shape).astype(np.float32)
        rows = np.moveaxis(a, -1 if axis is None else axis, -1)
        flat = drawn(rng, names, rows.size // 40, 40, k)
        numbers = {name: x if name in ("table", "count") else x.reshape(rows.shape[:-1]) for name, x in flat.items()}
        if names == ("table",):
            numbers["table"] = np.moveaxis(flat["table"].reshape(rows.shape), -1, -1 if axis is None else axis)
        passed = {name: of_cupy(x) for name, x in numbers.items()}
        result = selecting.topk(of_cupy(a), k, axis, largest=largest, **passed)
        turned = [np.moveaxis(x, -1 if axis is None else axis, -1).reshape(-1, k) for x in result]
        matrix = rows.reshape(-1, 40)
        ranks = ranks_of(matrix, largest=largest)
        expected = first_of_rows("f32", matrix, ranks, k, largest=largest, numbers=flat)
        assert np.array_equal(turned[0], expected.keys, equal_nan=True) and (turned[1] == expected.indices).all()
        assert len(turned) == 2 + ("table" in names)
        assert expected.entries is None or (turned[2] == expected.entries).all()
        assert selecting.topk_method(of_cupy(a), k, axis, largest=largest, **passed) == "hsgen: select"


def test_wrong_numbers_of_rows_are_one_line(functions: Any) -> None:
    a, ones = np.zeros((2, 3)), np.ones(3, int)
    for named, error, message in (
        ({"starts": [1]}, TypeError, r"starts is a list; give an array of CuPy with the start of each row"),
        ({"takes": ones[:2]}, ValueError, r"takes has the shape \(2,\); give \(3,\), a k for each row"),
        ({"table": ones}, ValueError, r"table has the shape \(3,\); give \(2, 3\), that of a, or table_starts"),
        ({"table": a.astype(np.int8)}, TypeError, r"table has elements of int8; give integers of 4 or 8 bytes"),
        ({"table_starts": ones}, ValueError, "table_starts is given, but no table"),
        (
            {"length": ones},
            TypeError,
            "length: no such argument; give lengths, starts, takes, count, table_starts, table",
        ),
    ):
        for call in (functions.topk, functions.topk_method):
            with pytest.raises(error, match=f"^{message}$"):
                call(a, 1, 0, **named)
