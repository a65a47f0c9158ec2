"""hsgen.jax on CPUs: XLA calls the handler, and stand-ins for the sorts run in it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed (pip install jax)")

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402
from jax_frames import HERE, compiled  # noqa: E402
from sort_stand_ins import Moving, Selecting, Sorting  # noqa: E402
from tools import C, need  # noqa: E402

import hsgen.jax  # noqa: E402
from hsgen.core.errors import Unavailable  # noqa: E402
from hsgen.jax import handler, sorting, target, work  # noqa: E402
from hsgen.system import compilers  # noqa: E402

TYPES = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "bool", "float16", "bfloat16", "float32")
SHAPES = ((7, 300), (2, 1), (3, 0, 4), (5, 6, 70))


def launches(this: Any, number: int) -> Any:
    """Return the stand-in for work."""
    if this.rows * this.length == 77:
        raise Unavailable("no NVRTC")
    kind = partial(Selecting, take=this.take) if this.take else Sorting
    if this.value:
        kind = partial(Moving, value=this.value)
    if this.narrow:
        kind = partial(Sorting, index_bytes=4)
    return kind((this.rows, this.length), work.NAMES[this.key], descending=this.descending)


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(target, "PLATFORM", "cpu")
    monkeypatch.setattr(target, "_stream", lambda api, context: 0)
    monkeypatch.setattr(target, "number", lambda stream: 0)
    monkeypatch.setattr(target, "library", lambda: None)
    monkeypatch.setattr(target, "gpus", lambda: True)
    monkeypatch.setattr(work.Work, "launches", launches)
    monkeypatch.setattr(work, "_known", {})
    monkeypatch.setattr(sorting, "FROM", 1)
    monkeypatch.setattr(sorting, "selector", lambda *_, **__: Selecting)
    jax.clear_caches()
    yield
    jax.clear_caches()


def array(shape: tuple[int, ...], dtype: str) -> Any:
    x = np.random.default_rng(4).integers(-9, 9, shape)
    return jnp.asarray(x % 2 == 0 if dtype == "bool" else x % 9 if dtype[0] == "u" else x, dtype)


def same(ours: Any, theirs: Any) -> bool:
    return ours.dtype == theirs.dtype and bool(np.array_equal(np.asarray(ours), np.asarray(theirs)))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_results_are_those_of_jax(dtype: str, descending: bool) -> None:
    before = Sorting.calls
    for shape in SHAPES if dtype == "int32" else SHAPES[:1]:
        x = array(shape, dtype)
        for axis in (*range(-1, x.ndim - 1), None) if dtype == "int32" else (-1,):
            words = {"axis": axis, "descending": descending}
            assert same(hsgen.jax.sort(x, **words), jnp.sort(x, **words)), (shape, axis)
            assert same(hsgen.jax.argsort(x, **words), jnp.argsort(x, **words)), (shape, axis)
    assert Sorting.calls > before


@pytest.mark.parametrize("dtype", ["int32", "float32", "uint16"])
def test_selections_and_pairs_are_those_of_jax(dtype: str) -> None:
    before = Sorting.calls
    x = array((4, 50), dtype)
    for axis, k in ((-1, 7), (0, 2), (1, 50), (1, 0)):
        ours, theirs = hsgen.jax.top_k(x, k, axis=axis), jax.lax.top_k(jnp.moveaxis(x, axis, -1), k)
        assert same(ours[0], jnp.moveaxis(theirs[0], -1, axis)) and same(ours[1], jnp.moveaxis(theirs[1], -1, axis))
        values = jnp.arange(200.0).reshape(4, 50)
        results, lax = hsgen.jax.sort_key_val(x, values, axis), jax.lax.sort_key_val(x, values, axis)
        assert same(results[0], lax[0]) and same(results[1], lax[1])
    assert Sorting.calls > before


@pytest.mark.parametrize("dtype", ["int32", "uint16", "bool", "float32"])
@pytest.mark.parametrize("value", ["float32", "complex64", "int16"])
def test_values_are_sorted_with_integers_or_gathered(dtype: str, value: str) -> None:
    """Rows of more than 4096 keys have a sort that moves values of 4 and 8 bytes."""
    for shape in ((9000,), (3, 5000), (2, 4, 60)):
        before = Moving.moved
        x = array(shape, dtype)
        values = jnp.arange(x.size).reshape(shape).astype(value)
        results, lax = hsgen.jax.sort_key_val(x, values), jax.lax.sort_key_val(x, values)
        assert same(results[0], lax[0]) and same(results[1], lax[1]), shape
        assert Moving.moved == before + (dtype != "float32" and value != "int16" and shape[-1] > 60)


def test_sorts_of_pairs_have_rows_and_gradients() -> None:
    x = jnp.asarray(np.random.default_rng(1).integers(-99, 99, (3, 5000)), "int32")
    values = jnp.arange(15000.0).reshape(x.shape)
    before = Moving.moved
    ours, lax = jax.vmap(hsgen.jax.sort_key_val)(x, values), jax.lax.sort_key_val(x, values)
    assert same(ours[0], lax[0]) and same(ours[1], lax[1]) and Moving.moved == before + 1
    ours, lax = (jax.vmap(f, in_axes=(0, None))(x, values[0]) for f in (hsgen.jax.sort_key_val, jax.lax.sort_key_val))
    assert same(ours[0], lax[0]) and same(ours[1], lax[1]) and Moving.moved == before + 2
    short = x[:, :300], values[:, :300]
    many = jax.vmap(jax.jit(hsgen.jax.sort_key_val))(*(jnp.tile(t[0], (20, 1)) for t in (x, values)))
    assert same(many[1][0], jax.lax.sort_key_val(x[0], values[0])[1])
    assert same(jax.vmap(hsgen.jax.sort_key_val)(*short)[1], jax.lax.sort_key_val(*short)[1])
    before = Moving.moved
    for keys, moving in ((x, values), (x[0], values[0])):
        weights = jnp.sin(jnp.arange(moving.size)).reshape(moving.shape)
        results, lax = (
            jax.grad(lambda t, f=f, k=keys, w=weights: (f(k, t * 2)[1] * w).sum())(moving)
            for f in (hsgen.jax.sort_key_val, jax.lax.sort_key_val)
        )
        assert same(results, lax)
    jvp = jax.jvp(lambda t: hsgen.jax.sort_key_val(x[0], t), (values[0],), (values[0] + 1,))
    assert same(jvp[1][1], jax.lax.sort_key_val(x[0], values[0] + 1)[1])
    integers = x.astype("int32")
    assert same(jax.grad(lambda t: hsgen.jax.sort_key_val(x, integers)[1].sum() * t)(1.0), jnp.float32(x.sum()))


def test_special_floats_are_those_of_jax() -> None:
    x = array((400,), "float32")
    for i, special in enumerate((-0.0, jnp.nan, jnp.inf, -jnp.nan)):
        x = x.at[i::9].set(special)
    assert same(jnp.nan_to_num(hsgen.jax.sort(x), nan=99), jnp.nan_to_num(jnp.sort(x), nan=99))
    assert same(hsgen.jax.argsort(x), jnp.argsort(x))
    assert same(hsgen.jax.argsort(x, descending=True), jnp.argsort(x, descending=True))
    ours, theirs = hsgen.jax.sort_key_val(x, x), jax.lax.sort_key_val(x, x)
    assert same(ours[0].view("u4"), theirs[0].view("u4"))


def test_vmap_adds_rows_and_jit_compiles() -> None:
    x = array((4, 5, 60), "int32")
    before = Sorting.calls
    assert same(jax.vmap(jax.vmap(hsgen.jax.sort))(x), jnp.sort(x))
    assert Sorting.calls == before + 1
    assert same(jax.jit(jax.vmap(hsgen.jax.argsort, in_axes=1, out_axes=2))(x), jnp.argsort(x, 2).transpose(0, 2, 1))
    best = jax.vmap(partial(hsgen.jax.top_k, k=3))(x)
    assert same(best[0], jax.lax.top_k(x, 3)[0]) and same(best[1], jax.lax.top_k(x, 3)[1])
    assert same(jax.jit(lambda t: hsgen.jax.sort(t * 2) + 1)(x), jnp.sort(x * 2) + 1)


def test_shards_are_sorted_by_themselves() -> None:
    from jax.sharding import Mesh, PartitionSpec

    mesh = Mesh(np.array(jax.devices("cpu")[:1]), ("rows",))
    spec = PartitionSpec("rows")
    x = array((4, 60), "int32")
    sharded = jax.shard_map(hsgen.jax.sort, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    assert same(jax.jit(sharded)(x), jnp.sort(x))


def test_gradients_are_those_of_jax() -> None:
    x = jnp.asarray(np.random.default_rng(2).permutation(60).reshape(3, 20) / 4, "float32")
    weights = jnp.arange(60.0).reshape(3, 20)
    for ours, theirs in (
        (partial(hsgen.jax.sort, descending=True), partial(jnp.sort, descending=True)),
        (partial(hsgen.jax.sort, axis=0), partial(jnp.sort, axis=0)),
        (lambda t: hsgen.jax.sort_key_val(t, t)[0], jnp.sort),
        (lambda t: hsgen.jax.sort_key_val(-t, t * t)[1], lambda t: jax.lax.sort_key_val(-t, t * t)[1]),
    ):
        results, lax = (jax.grad(lambda t, f=f: (f(t) * weights).sum())(x) for f in (ours, theirs))
        assert same(results, lax)
        assert same(jax.vmap(jax.grad(lambda t, f=ours: f(t).sum() if t.ndim > 1 else 0.0 * t.sum()))(x), x * 0)
    check_grads(lambda t: hsgen.jax.sort(t), (x,), 1, ("fwd", "rev"), atol=0.1, rtol=0.1)
    top = jax.grad(lambda t: (hsgen.jax.top_k(t, 5)[0] * weights[:, :5]).sum())(x)
    assert same(top, jax.grad(lambda t: (jax.lax.top_k(t, 5)[0] * weights[:, :5]).sum())(x))
    assert not jax.grad(lambda t: hsgen.jax.argsort(t).astype("float32").sum())(x).any()


def test_an_error_is_an_error_of_xla(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match="no NVRTC"):
        hsgen.jax.sort(jnp.arange(77))

    def fails(*_: Any) -> None:
        raise Unavailable("the device is out of memory")

    monkeypatch.setattr(Sorting, "run", fails)
    with pytest.raises(Exception, match="hsgen: the device is out of memory"):
        jax.block_until_ready(hsgen.jax.sort(jnp.arange(78)))


def test_xla_calls_the_handler_in_c(tmp_path: Path) -> None:
    """XLA registers the handler, and returns its errors and those of XLA's functions that it calls."""
    need(C)
    compiler = compilers.shared_c99()
    driver = compiled(compiler, HERE / "fake_libcuda.c", tmp_path / "libfake.so")
    library = handler.loaded(compiled(compiler, handler.SOURCE, tmp_path / "handler.so"), str(driver))
    capsule = jax.ffi.pycapsule(ctypes.cast(library.hs_handler, ctypes.c_void_p))
    jax.ffi.register_ffi_target("hsgen_in_c", capsule, platform="cpu")
    x = jnp.arange(8)
    call = jax.ffi.ffi_call("hsgen_in_c", jax.ShapeDtypeStruct(x.shape, x.dtype))
    with pytest.raises(Exception, match="hsgen: the custom call has no numbers of work of this version"):
        jax.block_until_ready(call(x, work=np.zeros(3, np.int64)))
    with pytest.raises(Exception, match="GPU context is not available") as error:
        jax.block_until_ready(call(x, other=np.int32(1), work=np.zeros(work.Work.COUNT, np.int64)))
    assert "hsgen:" not in str(error.value)


def test_wrong_arguments_are_one_line() -> None:
    x = jnp.zeros((3, 4))
    with pytest.raises(ValueError, match=r"^axis 2 is out of bounds for array of dimension 2$"):
        hsgen.jax.sort(x, 2)
    with pytest.raises(TypeError, match=r"^axis is a str; give an integer"):
        hsgen.jax.argsort(x, "0")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^k 5: give 0 to 4$|^k 5:"):
        hsgen.jax.top_k(x, 5)
    with pytest.raises(ValueError, match=r"^keys have the shape \(3, 4\), values \(4,\); give equal shapes$"):
        hsgen.jax.sort_key_val(x, x[0])


def test_the_method_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    x = array((64, 4096), "float32")
    assert hsgen.jax.method(x) == "hsgen: rows" and hsgen.jax.method(x[0, :1]) == "jax"
    with monkeypatch.context() as m:
        m.setattr(target, "library", object)
        assert hsgen.jax.method(x) == "hsgen: rows, launched from C"
    assert hsgen.jax.method(x.astype("complex64")) == "jax"
    monkeypatch.setattr(target, "gpus", lambda: False)
    assert hsgen.jax.method(x) == "jax"


def test_without_a_gpu_jax_sorts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    before = Sorting.calls
    x = array((30_000,), "int32")
    assert same(hsgen.jax.sort(x), jnp.sort(x)) and same(hsgen.jax.top_k(x, 3)[1], jax.lax.top_k(x, 3)[1])
    assert Sorting.calls == before
