"""The public functions of `hsgen.jax`; JAX can trace them under jit, grad, vmap and shard_map.

In this module, `ours` is a function that calls hsgen's kernels, and `theirs` one that calls JAX's own sort.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hsgen.core.numbers import MOST, integer
from hsgen.cuda.choices import LIBRARY, TOGETHER, choice
from hsgen.jax import target
from hsgen.jax.work import NAMES, Work, launches, moves, selector

_KEYS = {
    "bool": "u8",
    **{f"{sign}int{n}": f"{sign or 'i'}{n}" for sign in ("", "u") for n in (8, 16, 32, 64)},
    **{f"float{n}": f"f{n}" for n in (16, 32, 64)},
    "bfloat16": "bf16",
}
"""hsgen's key type for each element type of JAX."""
FROM = 1 << 13
"""The least number of elements that hsgen sorts or selects; XLA sorts fewer elements by one small kernel."""


def _number(x: Any) -> int:
    """Return the index in `NAMES` of an array's key type."""
    return NAMES.index(_KEYS[x.dtype.name])


def _serves(x: Any) -> bool:
    """Return True if hsgen, not JAX, sorts the last dimension of `x` on GPUs; its type, its shape and the rules of
    `hsgen.cuda.choices` decide.
    """
    if x.dtype.name not in _KEYS or not x.ndim or x.size < FROM or x.shape[-1] >> 31:
        return False
    length = x.shape[-1]
    return length > 1 and choice(_KEYS[x.dtype.name], x.size // length, length) != LIBRARY and target.gpus()


def _call(x: Any, work: Work, keys: Any, indices: Any, *values: Any) -> list[Any]:
    """Return the results of XLA's custom call "hsgen", which runs the sort or selection `work` on the array `x`.

    keys, indices: the shape and type of each result; None for a result that `work` does not have.  values: an array of
    values that are sorted with the keys, if `work` has values.
    """
    target.register()
    scratch = jax.ShapeDtypeStruct((max(launches(work, 0).scratch, 1),), jnp.uint8)
    results = [y for y in (keys, indices) if y is not None]
    call = jax.ffi.ffi_call(target.NAME, [*results, scratch])
    return list(call(x, *values, work=np.array(work.numbers(), np.int64)))[:-1]


@lru_cache(maxsize=8)
def _sorted(descending: bool, keys: bool, indices: bool) -> Callable[[Any], Any]:
    """Return a function that sorts the last dimension by hsgen's kernels; it returns keys, 32-bit indices, or both.

    Under vmap, the batch becomes further rows of the same custom call.
    """

    @jax.custom_batching.custom_vmap
    def ours(x: Any) -> tuple[Any, ...]:
        length = x.shape[-1]
        work = Work(_number(x), x.size // length, length, descending, keys, indices)
        out = jax.ShapeDtypeStruct(x.shape, x.dtype) if keys else None
        halves = jax.ShapeDtypeStruct((*x.shape, 2), jnp.uint32)
        order = jax.ShapeDtypeStruct(x.shape, jnp.int32) if work.narrow else halves
        results = _call(x, work, out, order if indices else None)
        if (
            indices and not work.narrow
        ):  # hsgen has stored 64-bit indices; JAX by default has no 64-bit integers, so take their lower halves
            results[-1] = jax.lax.bitcast_convert_type(results[-1][..., 0], jnp.int32)
        return tuple(results)

    @ours.def_vmap
    def rows(size: int, batched: Any, x: Any) -> tuple[Any, ...]:
        results = ours(x)
        return results, (True,) * len(results)

    return ours


@jax.custom_batching.custom_vmap
def _sorted_with(x: Any, values: Any) -> tuple[Any, ...]:
    """Return sorted keys and their values, by a sort of hsgen that moves both.

    Under vmap, the batch becomes further rows of the same custom call.
    """
    length = x.shape[-1]
    work = Work(_number(x), x.size // length, length, False, True, True, value=values.dtype.itemsize)
    results = (jax.ShapeDtypeStruct(y.shape, y.dtype) for y in (x, values))
    return tuple(_call(x, work, *results, values))


@_sorted_with.def_vmap
def _sorted_with_rows(size: int, batched: Any, x: Any, values: Any) -> tuple[Any, ...]:
    x, values = (
        y if is_batched else jnp.broadcast_to(y, (size, *y.shape))
        for y, is_batched in zip((x, values), batched, strict=True)
    )
    length = x.shape[-1]
    if moves(_KEYS[x.dtype.name], x.size // length, length, values.dtype.itemsize):
        return _sorted_with(x, values), (True, True)
    keys, order = _sorted(False, True, True)(x)
    return (keys, jnp.take_along_axis(values, order, axis=-1)), (True, True)


@lru_cache(maxsize=64)
def _selected(k: int) -> Callable[[Any], Any]:
    """Return a function that selects the k greatest elements of the last dimension by hsgen's kernels.

    Under vmap, the batch becomes further rows of the same custom call.
    """

    @jax.custom_batching.custom_vmap
    def ours(x: Any) -> tuple[Any, ...]:
        length = x.shape[-1]
        work = Work(_number(x), x.size // length, length, True, True, True, k)
        shape = (*x.shape[:-1], k)
        return tuple(_call(x, work, jax.ShapeDtypeStruct(shape, x.dtype), jax.ShapeDtypeStruct(shape, jnp.int32)))

    @ours.def_vmap
    def rows(size: int, batched: Any, x: Any) -> tuple[Any, ...]:
        return ours(x), (True, True)

    return ours


def _where(x: Any, ours: Callable[[Any], Any], theirs: Callable[[Any], Any]) -> Any:
    """Return the result of `ours` if the program runs on NVIDIA GPUs, else the result of `theirs`."""
    return jax.lax.platform_dependent(x, default=theirs, **{target.PLATFORM.lower(): ours})


def _keys(x: Any, descending: bool) -> Any:
    """Return the elements, sorted along the last dimension by hsgen or by JAX."""

    def theirs(y: Any) -> Any:
        return jnp.sort(y, descending=descending)

    if not _serves(x):
        return theirs(x)
    return _where(x, lambda y: _sorted(descending, True, False)(y)[0], theirs)


def _indices(x: Any, descending: bool) -> Any:
    """Return the indices that sort the last dimension, by hsgen or by JAX; no gradient flows back to `x`."""
    x = jax.lax.stop_gradient(x)

    def theirs(y: Any) -> Any:
        return jnp.argsort(y, descending=descending)

    if not _serves(x):
        return theirs(x)
    kind = jax.eval_shape(theirs, x).dtype
    return _where(x, lambda y: _sorted(descending, False, True)(y)[0].astype(kind), theirs)


def _pairs(x: Any) -> tuple[Any, Any]:
    """Return the elements, sorted along the last dimension by hsgen or by JAX, and their indices."""

    def theirs(y: Any) -> tuple[Any, Any]:
        iota = jax.lax.broadcasted_iota(jnp.int32, y.shape, y.ndim - 1)
        return tuple(jax.lax.sort((y, iota), num_keys=1))

    if not _serves(x):
        return theirs(x)
    return _where(x, _sorted(False, True, True), theirs)


@jax.custom_jvp
def _with_values(x: Any, values: Any) -> tuple[Any, Any]:
    """Return sorted integer keys and their values, by a sort of hsgen or JAX that moves both."""

    def theirs(y: Any, moving: Any) -> tuple[Any, Any]:
        return tuple(jax.lax.sort((y, moving), num_keys=1))

    return jax.lax.platform_dependent(x, values, default=theirs, **{target.PLATFORM.lower(): _sorted_with})


@_with_values.defjvp
def _with_values_tangents(primals: Any, tangents: Any) -> tuple[Any, Any]:
    keys, order = _pairs(primals[0])
    take = partial(jnp.take_along_axis, indices=order, axis=-1)
    zeros = np.zeros(keys.shape, jax.dtypes.float0)
    moved = take(tangents[1]) if tangents[1].dtype != jax.dtypes.float0 else zeros
    return (keys, take(primals[1])), (zeros, moved)


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _differentiable(x: Any, descending: bool) -> Any:
    return _keys(x, descending)


@_differentiable.defjvp
def _tangents(descending: bool, primals: Any, tangents: Any) -> tuple[Any, Any]:
    order = _indices(primals[0], descending)
    take = partial(jnp.take_along_axis, indices=order, axis=-1)
    return take(primals[0]), take(tangents[0])


@jax.custom_jvp
def _alike(x: Any, order: tuple[Any, Any]) -> Any:
    """Return the sorted elements of `x`, through which gradients flow back to `x`.

    order: the sorted elements, through which no gradient flows, and their indices.
    """
    return order[0]


@_alike.defjvp
def _alike_tangents(primals: Any, tangents: Any) -> tuple[Any, Any]:
    _, order = primals
    return order[0], jnp.take_along_axis(tangents[0], order[1], axis=-1)


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _greatest(x: Any, k: int) -> tuple[Any, Any]:
    return _top(x, k)


def _top(x: Any, k: int) -> tuple[Any, Any]:
    """Return the k greatest elements of the last dimension and their indices, by hsgen or by JAX."""

    def theirs(y: Any) -> tuple[Any, Any]:
        return tuple(jax.lax.top_k(y, k))

    if not (k > 0 and x.size <= TOGETHER and _serves(x)):
        return theirs(x)
    most = selector(_KEYS[x.dtype.name], 0, descending=True).sorted_up_to
    if x.shape[-1] > most < k:
        return theirs(x)
    return _where(x, _selected(k), theirs)


@_greatest.defjvp
def _greatest_tangents(k: int, primals: Any, tangents: Any) -> tuple[Any, Any]:
    values, indices = _top(primals[0], k)
    zeros = np.zeros(indices.shape, jax.dtypes.float0)
    return (values, indices), (jnp.take_along_axis(tangents[0], indices, axis=-1), zeros)


def _array(a: Any) -> Any:
    """Return an argument as an array of JAX."""
    return a if isinstance(a, jax.Array) else jnp.asarray(a)


def _axis(x: Any, axis: Any) -> int:
    """Return an axis, which may be negative, as a number from 0 up."""
    axis = integer("axis", axis, -MOST, MOST)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {x.ndim}")
    return int(axis % x.ndim)


def _flat(a: Any, axis: Any) -> tuple[Any, int]:
    """Return an array of JAX, flat if `axis` is None, and the axis as a number from 0 up."""
    x = _array(a)
    return (x.ravel(), 0) if axis is None else (x, _axis(x, axis))


@partial(jax.jit, static_argnums=(0, 2, 3))
def _along(function: Callable[..., Any], x: Any, axis: int, argument: Any) -> Any:
    """Apply `function`, which works on the last dimension, along the dimension `axis`; return its results."""
    return jax.tree.map(lambda y: jnp.moveaxis(y, -1, axis), function(jnp.moveaxis(x, axis, -1), argument))


def sort(a: Any, axis: int | None = -1, *, descending: bool = False) -> jax.Array:
    """Sort an array along an axis, as jax.numpy.sort does; None flattens the array.

    NaNs are equal and greater than all numbers, and all have the same bits in the result.  -0 comes before 0.
    """
    x, axis = _flat(a, axis)
    result: jax.Array = _along(_differentiable, x, axis, bool(descending))
    return result


def argsort(a: Any, axis: int | None = -1, *, descending: bool = False) -> jax.Array:
    """Return the indices that sort an array along an axis, as jax.numpy.argsort does; the sort is stable."""
    x, axis = _flat(a, axis)
    result: jax.Array = _along(_indices, x, axis, bool(descending))
    return result


def sort_key_val(keys: Any, values: Any, dimension: int = -1) -> tuple[jax.Array, jax.Array]:
    """Sort keys along a dimension, and values of the same shape with them, as jax.lax.sort_key_val does.

    The sort is stable.  -0 equals 0, and all keys keep their bits.
    """
    keys, values = _array(keys), _array(values)
    if keys.shape != values.shape:
        raise ValueError(f"keys have the shape {keys.shape}, values {values.shape}; give equal shapes")
    return _moved(keys, values, _axis(keys, dimension))


@partial(jax.jit, static_argnums=(2,))
def _moved(keys: Any, values: Any, axis: int) -> tuple[jax.Array, jax.Array]:
    """Return sorted keys, and values in the order of their keys."""
    x, moving = jnp.moveaxis(keys, axis, -1), jnp.moveaxis(values, axis, -1)
    length = x.shape[-1] if x.ndim else 1
    if _serves(x) and moves(_KEYS[x.dtype.name], x.size // length, length, moving.dtype.itemsize):
        results = _with_values(x, moving)
        return jnp.moveaxis(results[0], -1, axis), jnp.moveaxis(results[1], -1, axis)
    order = _pairs(jax.lax.stop_gradient(x))
    ordered = _alike(x, order) if jnp.issubdtype(x.dtype, jnp.floating) else order[0]
    moved = jnp.take_along_axis(moving, order[1], axis=-1)
    return jnp.moveaxis(ordered, -1, axis), jnp.moveaxis(moved, -1, axis)


def top_k(operand: Any, k: int, *, axis: int = -1) -> list[jax.Array]:
    """Return the k greatest elements along an axis, greatest first, and their indices, as jax.lax.top_k does.

    Of equal elements, the first are returned.  Floats are in the total order of IEEE 754.
    """
    x = _array(operand)
    axis = _axis(x, axis)
    return list(_along(_greatest, x, axis, integer("k", k, 0, x.shape[axis])))


def method(a: Any, axis: int = -1) -> str:
    """Return how `sort` sorts an array on GPUs, as text: "jax", or "hsgen: " and a method in `hsgen.cuda.choices`.

    ", launched from C" follows if the handler in C launches the kernels (`hsgen.jax.handler`).
    """
    x = _array(a)
    x = jnp.moveaxis(x, _axis(x, axis), -1)
    if not _serves(x):
        return "jax"
    handler = ", launched from C" if target.in_c() else ""
    return f"hsgen: {choice(_KEYS[x.dtype.name], x.size // x.shape[-1], x.shape[-1])}{handler}"
