"""Merge sorts with signatures other than plain keys, without a device: the numpy model executes the kernels' data.

- With values of each kind, pairs of key and index are merged, and the sort is stable; values and keys equal those of
  `hsgen.operations.oracle`, in and out of place, and an argsort may discard its keys.
- Types and orders; key-high u64, compared as a whole; device-side counts.
- The model can fail: each row is dropped in turn, and values are gathered from memory that is being overwritten.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bitonic_shapes import RAGGED, boundary, shape
from models.bitonic.memory import Fault, Pairs, Typed
from models.bitonic.model import run, run_valued
from nightly import nightly, thinned
from sorts import sort_by
from steps import changed

from hsgen.algorithms import bitonic
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, VALUES, Signature
from hsgen.core.plan import Binding
from hsgen.core.sort import Sort
from hsgen.operations import oracle

SIMPLE = Options()
SHAPES = [RAGGED[1], RAGGED[3], shape(2, 4, 4, 2, clean_slabs=4, stream_group=8)]


def sort_of(p: bitonic.Params, signature: Signature, key: str = "u32") -> Sort:
    """Return the sort of a shape with a signature, assembled as for targets."""
    p = replace(p, key=KEYS["u64" if signature.value == "packed" else key], signature=signature)
    return sort_by("bitonic", p, signature)


def keys_of(n: int, sort: Sort, number: int = 0) -> Any:
    """Return keys: random, few distinct ones, zeros and greatest, greatest only, floats and their negatives."""
    rng, dtype = np.random.default_rng(n), np.dtype(f"u{sort.key.bytes}")
    top = sort.key.greatest
    keys = rng.integers(0, top, n, dtype, endpoint=True)
    less = keys % dtype.type(3)
    kinds = (keys, less, less % 2 * dtype.type(top), np.full(n, top, dtype), keys | dtype.type(top >> 4))
    return kinds[number % 5]


def check(sort: Sort, keys: Any, how: Options = SIMPLE, count: int | None = None, *, in_place: bool = False) -> None:
    """Run one call and compare keys and values with those of the oracle; nothing beyond the count is written."""
    n = len(keys)
    live = n if count is None else min(count, n)
    order = oracle.permutation(keys[:live], sort, how)
    values = oracle.values_for(np.random.default_rng(n), n, sort)
    if sort.signature.value_bytes:
        out, moved = run_valued(sort, keys, values, in_place=in_place, how=how, count=count)
        given = values if in_place and values is not None else np.full((n, sort.signature.value_bytes // 4), 0xA5A5A5A5)
        expected = oracle.values_expected(None if values is None else values[:live], order, sort)
        assert expected is not None and (moved[:live] == expected).all()
        assert (moved[live:] == given[live:]).all()
    else:
        out = run(sort, keys.copy(), in_place=in_place, how=how, count=count)
    before = keys if in_place else np.full_like(keys, 0xA5)
    assert (out[live:] == before[live:]).all()
    assert (out == before).all() if how.discard else (out[:live] == keys[:live][order]).all()


def ways(sort: Sort, number: int) -> Options:
    """Return options in turn: kinds and orders, if a sort supports them."""
    return Options(kind=number % 3, descending=bool(number & 1)) if sort.signature.key_transform else SIMPLE


def named(p: bitonic.Params, value: str, key_transform: bool) -> Any:
    """Return a case with its id."""
    return pytest.param(
        p,
        value,
        key_transform,
        id=f"{p.subgroup}x{p.height}x{p.slabs}-{value}-{'typed' if key_transform else 'unsigned'}",
    )


@pytest.mark.parametrize(
    ("p", "value", "key_transform"), thinned([named(p, v, t) for t in (False, True) for v in VALUES for p in SHAPES], 4)
)
def test_every_form_is_sorted(p: bitonic.Params, value: str, key_transform: bool) -> None:
    for key in ("u32", "u64")[: 1 if value == "packed" else 2]:
        sort = sort_of(p, Signature(value=value, key_transform=key_transform), key)
        for number, n in enumerate(boundary(p)[int(key_transform) :: 2]):
            for in_place in (False, True):
                check(sort, keys_of(n, sort, number), ways(sort, number + in_place), in_place=in_place)
            if sort.signature.index:
                check(sort, keys_of(n, sort, number), replace(ways(sort, number), discard=True))


@pytest.mark.parametrize("value", ["none", "v4", "v16", "index", "index64"])
def test_every_count_on_the_device_is_sorted(value: str) -> None:
    p = SHAPES[-1]
    sort = sort_of(p, Signature(value=value, device_count=True, key_transform=True))
    for capacity in (1, p.block - 1, p.block + 1, 5 * p.block + 3):
        for number, count in enumerate({*range(0, capacity + 1, 11), *boundary(p), capacity, capacity + 1, 2**32 - 1}):
            how = replace(ways(sort, number), device_count=True)
            check(sort, keys_of(capacity, sort, number), how, count, in_place=bool(number & 1))


def noticed(sort: Sort, counts: list[int]) -> bool:
    """Whether some call of a sort fails."""
    for n in counts:
        for number in range(5):
            for in_place in (False, True):
                try:
                    check(sort, keys_of(n, sort, number), in_place=in_place)
                except (AssertionError, IndexError):
                    return True
    return False


@pytest.mark.parametrize("value", ["none", nightly("v8"), "index"])
def test_no_row_can_be_dropped_or_wait_for_its_place(value: str) -> None:
    p = SHAPES[-1]
    sort = sort_of(p, Signature(value=value))
    counts = [*boundary(p), 13 * p.block]
    assert not noticed(sort, counts)
    tried = 0
    for i, step in enumerate(sort.plan.steps):
        if step.guard.min_n >= counts[-1]:
            continue
        others = ["in", "out"] if step.guard.place == "any" else ["out" if step.guard.place == "in" else "in"]
        for row in (None, *(changed(step, place=place) for place in others)):
            steps = (*sort.plan.steps[:i], *([row] if row else []), *sort.plan.steps[i + 1 :])
            assert noticed(replace(sort, plan=replace(sort.plan, steps=steps)), counts[::-1]), (step, row)
            tried += 1
    assert tried > 20


@pytest.mark.parametrize("value", ["v4", "v8", "v16"])
def test_values_gathered_from_what_is_overwritten_are_noticed(value: str) -> None:
    """In place, values must be copied first; otherwise lanes read what others have written."""
    sort = sort_of(SHAPES[-1], Signature(value=value))
    keys = keys_of(100, sort)
    steps = [s for s in sort.plan.steps if s.kernel not in ("keep", "gather")]
    (last,) = [s for s in sort.plan.steps if s.kernel == "gather" and s.guard.place == "out"]
    broken = replace(sort, plan=replace(sort.plan, steps=(*steps, changed(last, place="any"))))
    check(broken, keys)
    with pytest.raises(Fault, match="two lanes access a slot"):
        check(broken, keys, in_place=True)


def test_a_copy_of_values_that_lies_on_the_pairs_is_noticed() -> None:
    sort = sort_of(SHAPES[-1], Signature(value="v8"))
    at = Binding(role="scratch", per_n=8)
    steps = tuple(
        replace(s, bindings=tuple(replace(b, per_n=0) if b == at else b for b in s.bindings)) for s in sort.plan.steps
    )
    assert at in {b for s in sort.plan.steps for b in s.bindings}
    with pytest.raises(Fault, match="two buffers have one offset"):
        check(replace(sort, plan=replace(sort.plan, steps=steps)), keys_of(100, sort), in_place=True)


def test_types_that_kernels_were_not_made_for_are_noticed() -> None:
    for value in ("none", "v4"):
        sort = sort_of(SHAPES[0], Signature(value=value))
        for how in (Options(kind=1), Options(kind=2), Options(descending=True)):
            with pytest.raises(Fault, match="another type or order"):
                check(sort, keys_of(50, sort), how)
    sort = sort_of(SHAPES[0], Signature(value="v4"))
    with pytest.raises(Fault, match="discarded without an argsort"):
        check(sort, keys_of(50, sort), Options(discard=True))


@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize("descending", [False, True])
def test_what_registers_hold_is_in_order_and_comes_back(kind: int, descending: bool) -> None:
    """Pairs of equal keys are in index order, and all are less than the padding."""
    how = Options(kind=kind, descending=descending)
    for key in ("u32", "u64"):
        sort = sort_of(SHAPES[0], Signature(), key)
        keys = np.concatenate([keys_of(50, sort, number) for number in range(5)])
        at = np.arange(len(keys))
        key_transform, pairs = Typed(how), Pairs(keys, how)
        assert (key_transform.leave(key_transform.enter(keys, at)) == keys).all()
        made = pairs.enter(keys, at)
        assert (pairs.leave(made) == keys).all()
        assert (np.argsort(made) == np.argsort(key_transform.enter(keys, at), kind="stable")).all()
        assert len(set(made.tolist())) == len(keys) and made.max() < 2**64 - 1
