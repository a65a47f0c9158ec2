"""Sorts of numpy arrays: on the embedded device, and on GPUs of a driver without one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_cuda import Fake
from first_of_rows import drawn, first_of_rows, ranks_of
from nightly import nightly

import hsgen
from hsgen.core.errors import Unavailable, Usage
from hsgen.engines.hosts import Host
from hsgen.numpy import devices, meanwhile, sorting
from hsgen.runners.row_numbers import NAMES
from hsgen.targets.target import find

pytestmark = pytest.mark.device
GUIDE = Path(__file__).resolve().parents[2] / "docs/guides/python.md"
RNG = np.random.default_rng(7)


@pytest.fixture
def cpu(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the embedded device, with no GPU in sight."""
    monkeypatch.setattr(devices, "_KINDS", ((lambda: [embedded], devices.OpenClDevice),))
    return embedded.platform


@pytest.fixture
def gpu(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Two GPUs of the driver, for which the generic target serves."""
    monkeypatch.setattr("hsgen.runners.arguments.hosts.target_for", lambda host, every: find("generic"))
    return Fake(embedded).install(monkeypatch)


def table(dtype: Any, shape: tuple[int, ...] = (3, 400)) -> Any:
    """Numbers of which many are equal; floats with zeros and NaNs of both signs."""
    found = RNG.integers(-90 if np.dtype(dtype).kind in "if" else 0, 90, shape).astype(dtype)
    if found.dtype.kind == "f":
        found[..., ::5], found[..., 1::7] = 0.0, -0.0
        found[..., 3::50], found[..., 4::60] = np.nan, -np.nan
    return found


def check(a: Any, axis: int | None = -1) -> None:
    before = a.copy()
    assert np.array_equal(hsgen.argsort(a, axis), np.argsort(a, axis, kind="stable"))
    found = hsgen.sort(a, axis)
    assert found.dtype == a.dtype and np.array_equal(found, np.sort(a, axis), equal_nan=a.dtype.kind == "f")
    assert a.tobytes() == before.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "?", "f2", "u8", "i1", "f8", "i4"])
def test_results_are_those_of_numpy(dtype: str, cpu: str) -> None:
    a = table(dtype)
    for axis in (-1, 0, None):
        check(a, axis)
    check(a[:, ::3])
    check(a[0, :1])
    check(a[:0])
    check(np.broadcast_to(a[0], (2, 400)))


@pytest.mark.parametrize("dtype", ["f4", "?", "f2", "u8", "i1", "f8", "i4"])
def test_numpy_has_the_bits_of_the_device_while_a_thread_compiles(dtype: str, cpu: str) -> None:
    a = table(dtype)
    key = sorting._rows(a, -1)[1]
    for descending in (False, True) if dtype in ("f4", "i4") else (False,):
        on_device = hsgen.sort(a, descending=descending), hsgen.argsort(a, descending=descending)
        assert meanwhile.sorted_rows(a, key, descending=descending).tobytes() == on_device[0].tobytes()
        assert np.array_equal(meanwhile.argsorted_rows(a, key, descending=descending), on_device[1])


def test_results_on_a_gpu_are_those_of_numpy(gpu: Fake) -> None:
    held = gpu.held
    check(table("f4"))
    assert gpu.held == held and gpu.launched


def test_the_program_of_the_guide_runs(cpu: str) -> None:
    (text,) = re.findall(r"```python\n(import hsgen\n.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    exec(text, {})


def test_descending_keeps_the_order_of_equal_elements(cpu: str) -> None:
    a = np.array([1.0, np.nan, -0.0, 0.0, 1.0, -5.0], np.float32)
    assert hsgen.argsort(a, descending=True).tolist() == [1, 0, 4, 2, 3, 5]
    assert str(hsgen.sort(a, descending=True)[[0, 1, -1]]) == "[nan  1. -5.]"


@pytest.mark.parametrize("where", ["cpu", "gpu"])
def test_a_sorter_sorts_in_place_and_into_other_arrays(where: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(where)
    pairs, argsort = hsgen.Sorter("f32", value=4), hsgen.Sorter(np.float32, value="index")
    keys, values = RNG.integers(0, 99, 1000).astype(np.float32), np.arange(1000, dtype=np.float32)
    expected, order = np.argsort(keys, kind="stable"), np.empty(1000, np.uint32)
    out, moved = np.empty_like(keys), np.empty(2000, np.float32)[::2]
    pairs(keys, out, values=values, values_out=moved)
    assert (out == keys[expected]).all() and (moved == expected).all() and (values == np.arange(1000)).all()
    argsort(keys[::-1], out[::-1], values_out=order)
    assert (order == np.argsort(keys[::-1], kind="stable")).all() and (out[::-1] == np.sort(keys)).all()
    argsort(keys[:0], values_out=order[:0])
    pairs(keys, values=values)
    assert (keys == out[::-1]).all() and (values == expected).all()
    assert (
        pairs.target == {"cpu": "cpu", "gpu": "generic"}[where]
        and pairs.dtype == np.float32
        and "Sorter" in repr(pairs)
    )


def test_misuse_is_refused_in_one_line(cpu: str) -> None:
    sorter, keys = hsgen.Sorter("f32"), np.arange(9, dtype=np.float32)
    fixed = keys.copy()
    fixed.flags.writeable = False
    wrong: list[tuple[type[Exception], str, Any]] = [
        (TypeError, "keys is a list; give an array of numpy", lambda: sorter([1, 2])),
        (ValueError, "keys is read-only", lambda: sorter(fixed)),
        (ValueError, "out is read-only", lambda: sorter(keys, fixed)),
        (ValueError, r"out is float32 of shape \(8,\), keys float32 of shape \(9,\)", lambda: sorter(keys, keys[1:])),
        (ValueError, "keys has elements of int32", lambda: sorter(keys.view("i4"))),
        (ValueError, r"keys has the shape \(3, 3\)", lambda: sorter(keys.reshape(3, 3))),
        (ValueError, "values is given, but this sorter has none", lambda: sorter(keys, values=keys.copy())),
        (TypeError, "elements are complex128; give uint8", lambda: hsgen.sort(np.ones(3, complex))),
        (TypeError, "elements are >u4", lambda: hsgen.sort(keys.astype(">u4"))),
        (np.exceptions.AxisError, "axis 1 is out of bounds", lambda: hsgen.sort(keys, 1)),
        (TypeError, "device is an int; give a part of its name", lambda: hsgen.sort(keys, device=0)),
        (Unavailable, "no OpenCL device like 'zzz'; there is ", lambda: hsgen.sort(keys, device="zzz")),
        (Usage, "device '': is empty; .* leave out device", lambda: hsgen.sort(keys, device="")),
        (Usage, "key type x: unknown", lambda: hsgen.Sorter("x")),
    ]
    for kind, words, call in wrong:
        with pytest.raises(kind, match=words) as found:
            call()
        assert "\n" not in str(found.value)
    assert (keys == np.arange(9)).all()


@pytest.mark.parametrize("axis", [1, -2, 7, 0.0, -1.0, (0,), [0], "0", np.True_, 1 << 40, 1 << 70, np.array([0])])
def test_a_wrong_axis_is_refused_as_numpy_refuses_it(axis: Any, cpu: str) -> None:
    a = np.arange(9, dtype=np.float32)
    with pytest.raises(Exception) as expected:
        np.sort(a, axis=axis)
    for call in (hsgen.sort, hsgen.argsort):
        with pytest.raises(expected.type, match=f"^{re.escape(str(expected.value))}$"):
            call(a, axis)


def test_arrays_without_dimensions_have_no_axis(cpu: str) -> None:
    with pytest.raises(np.exceptions.AxisError, match="axis -1 is out of bounds for array of dimension 0"):
        hsgen.sort(np.float32(3))
    assert hsgen.sort(np.float32(3), None).tolist() == [3] and hsgen.argsort(np.float32(3), None).tolist() == [0]


@pytest.mark.parametrize("axis", [0, np.int8(-2), np.uint64(0), np.array(0), np.int64(-1)])
def test_an_axis_is_any_integer(axis: Any, cpu: str) -> None:
    a = table("i4", (20, 30))
    assert np.array_equal(hsgen.sort(a, axis), np.sort(a, axis))
    assert np.array_equal(hsgen.argsort(a, axis), np.argsort(a, axis, kind="stable"))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(1,), (3, 1), (2,), (4, 2)])
def test_nans_come_out_as_one_bit_pattern_from_rows_of_any_length(dtype: str, shape: tuple[int, ...], cpu: str) -> None:
    width = np.dtype(dtype).itemsize
    a = np.full(shape, np.nan, dtype)
    bits = a.view(f"u{width}")
    bits.reshape(-1)[::2] |= np.array(1 << 8 * width - 1 | 5, bits.dtype)  # with a sign and a payload
    assert np.isnan(a).all()
    found = hsgen.sort(a)
    assert np.unique(found.view(bits.dtype)).tolist() == [np.array(np.nan, dtype).view(bits.dtype)]
    zero = np.full(shape, -0.0, dtype)
    assert np.signbit(hsgen.sort(zero)).all()


def test_masked_arrays_are_refused(cpu: str) -> None:
    masked, plain = np.ma.masked_equal(np.arange(9, dtype=np.float32), 3), np.arange(9, dtype=np.float32)
    for call in (hsgen.sort, hsgen.argsort):
        with pytest.raises(TypeError, match=r"^a is a MaskedArray; give a plain array, such as a.filled\(\) or "):
            call(masked)
    with pytest.raises(TypeError, match=r"^keys is a MaskedArray; give a plain array, such as keys.data"):
        hsgen.Sorter("f32")(masked)
    with pytest.raises(TypeError, match=r"^out is a MaskedArray; give a plain array"):
        hsgen.Sorter("f32")(plain, masked)


def test_gpus_come_first_and_names_choose(embedded: Host, gpu: Fake) -> None:
    assert devices.chosen()[0].name == "Fake 0"
    assert devices.chosen("Fake 1")[0].handle == 1
    assert devices.chosen(embedded.platform)[1] is devices.OpenClDevice
    with pytest.raises(Usage, match=r"names 2 CUDA devices; give device='?NVIDIA CUDA/Fake 0'? or device="):
        devices.chosen("fake")


def check_first(a: Any, k: int, axis: int | None = -1, lengths: Any = None, **named: Any) -> None:
    """Compare a selection with a stable sort, bit by bit."""
    before, largest = a.copy(), named.get("largest", True)
    rows = np.moveaxis(a.reshape(-1) if axis is None else a, -1 if axis is None else axis, -1)
    ranks = np.unique(rows, return_inverse=True)[1].reshape(rows.shape)
    ranks = -ranks if largest else ranks
    counted = np.arange(rows.shape[-1]) < (rows.shape[-1] if lengths is None else lengths[..., None])
    order = np.argsort(np.where(counted, ranks, 1 << 40), -1, kind="stable")[..., :k]
    beyond = ~np.take_along_axis(np.broadcast_to(counted, rows.shape), order, -1)
    values, indices = (
        np.moveaxis(x, -1 if axis is None else axis, -1) for x in hsgen.topk(a, k, axis, lengths=lengths, **named)
    )
    assert (indices == np.where(beyond, -1, order)).all()
    expected = np.take_along_axis(rows, order, -1)
    assert values.dtype == a.dtype and values[~beyond].tobytes() == expected[~beyond].tobytes()
    assert len(np.unique(values[beyond])) <= 1 and a.tobytes() == before.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "?", nightly("f2"), nightly("u8"), nightly("i1"), nightly("f8")])
def test_selections_are_stable_sorts_cut_to_k(dtype: str, cpu: str) -> None:
    a = table(dtype)
    for axis in (-1, 0, None):
        check_first(a, 3, axis)
    check_first(a, 100, largest=False)
    check_first(a, 9, lengths=np.array([400, 0, 5]))
    check_first(a, 2, 0, lengths=RNG.integers(0, 4, 400), largest=False)
    check_first(a[0, :1], 1)
    assert hsgen.topk(a, 0).values.shape == (3, 0) and hsgen.topk(a[:0], 5).indices.shape == (0, 5)


@pytest.mark.parametrize(
    "names", [NAMES, *(nightly((name,)) for name in NAMES if name != "table_starts")], ids="-".join
)
def test_selections_with_numbers_of_rows(names: tuple[str, ...], cpu: str) -> None:
    for dtype, key, axis in (("f4", "f32", -1), ("i4", "i32", 0)):
        a = table(dtype, (7, 60) if axis else (60, 7))
        rows, largest = np.moveaxis(a, axis, -1), axis == 0
        flat = drawn(RNG, names, 7, 60, 9)
        numbers = {**flat, **({"table": np.moveaxis(flat["table"], -1, axis)} if names == ("table",) else {})}
        result = hsgen.topk(a, 9, axis, largest=largest, **numbers)
        expected = first_of_rows(key, rows, ranks_of(rows, largest=largest), 9, largest=largest, numbers=flat)
        values, *indices = (np.moveaxis(x, axis, -1) for x in result)
        assert values.tobytes() == expected.keys.tobytes() and (indices[0] == expected.indices).all()
        assert len(indices) == 1 + ("table" in names)
        assert expected.entries is None or (indices[1] == expected.entries).all()


def test_a_selection_of_nothing_has_no_entries(cpu: str) -> None:
    result = hsgen.topk(np.zeros((3, 4)), 0, table=np.zeros((3, 4), np.int32))
    assert [x.shape for x in result] == [(3, 0)] * 3 and result.entries.dtype == np.int32
    assert hsgen.topk(np.arange(4.0), 2, table=range(4), takes=1).entries.tolist() == [3, -1]


def test_many_selected_elements_are_sorted_unless_any_order_serves(cpu: str) -> None:
    a = table("f4", (2, 12_000))
    check_first(a, 9000)
    check_first(a, 9000, largest=False)
    loose, expected = hsgen.topk(a, 9000, sorted=False), hsgen.topk(a, 9000)
    assert (np.sort(loose.indices) == np.sort(expected.indices)).all()
    assert np.array_equal(np.take_along_axis(a, loose.indices, 1), loose.values, equal_nan=True)


def test_selections_on_a_gpu_are_the_same(gpu: Fake) -> None:
    before = gpu.held
    check_first(table("f4"), 20)
    assert gpu.held == before and gpu.launched


def test_wrong_arguments_of_selections_are_one_line(cpu: str) -> None:
    a = table("f4")
    with pytest.raises(Usage, match=r"^k 401: give 0 to 400$"):
        hsgen.topk(a, 401)
    with pytest.raises(TypeError, match=r"^k is a float; give an integer from 0 to 400$"):
        hsgen.topk(a, 2.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^lengths has elements of float64; give integers$"):
        hsgen.topk(a, 2, lengths=np.ones(3))
    with pytest.raises(ValueError, match=r"^lengths has the shape \(2,\); give \(3,\), a length for each row$"):
        hsgen.topk(a, 2, lengths=np.ones(2, int))
    with pytest.raises(
        ValueError, match=r"^table has the shape \(400, 3\); give \(3, 400\), that of a, or table_starts$"
    ):
        hsgen.topk(a, 2, 0, table=np.ones((400, 3), int))
    with pytest.raises(np.exceptions.AxisError):
        hsgen.topk(a, 2, 2)
