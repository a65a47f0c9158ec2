"""The work of custom calls of JAX, through a driver without a GPU: results, recorded launches, and the handler in C."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every import LANES
from fake_cuda import CONTEXT, Array, Fake
from jax_frames import Caller, Work, handler, work
from tools import C, need

from hsgen.core.keys import TYPES
from hsgen.engines.hosts import Host
from hsgen.system import compilers
from hsgen.targets.target import find

pytestmark = pytest.mark.device
RNG = np.random.default_rng(52)
MASK = (1 << 64) - 1


@pytest.fixture
def fake(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> Fake:
    target = find(str(LANES / "pieces8.toml"))
    monkeypatch.setattr("hsgen.runners.arguments.hosts.target_for", lambda host, every: target)
    monkeypatch.setattr(work, "_known", {})
    work.selector.cache_clear()
    return Fake(embedded).install(monkeypatch)


def task(key: str, rows: int, length: int, *, descending: bool = False, keys: bool = True, **more: Any) -> Any:
    return Work(work.NAMES.index(key), rows, length, descending, keys, **({"indices": True} | more))


CASES = [
    task("i32", 1, 3001),
    task("u16", 1, 5000, keys=False, descending=True),
    task("f32", 1, 3001, keys=False),
    task("f32", 1, 3001),
    task("i64", 1, 451, indices=False),
    task("u32", 1, 3001, value=4),
    task("i64", 1, 5003, value=8, descending=True),
    task("u8", 2, 4500, value=8),
    task("i32", 5, 4200, value=4),
    task("f32", 3, 4200, keys=False),
    task("f32", 2, 1200, take=7, descending=True),
]


def arrays(fake: Fake, one: Any) -> tuple[list[Array | None], list[Any]]:
    """Return the arrays of a custom call without scratch memory, and the expected bytes of each; None for any."""
    kind = TYPES[work.NAMES[one.key]]
    data = RNG.integers(-99 if kind.kind else 0, 99, (one.rows, one.length)).astype(kind.numpy)
    ranks = np.unique(data, return_inverse=True)[1].reshape(data.shape)
    order = np.argsort(-ranks if one.descending else ranks, axis=1, kind="stable")
    order = order[:, : one.take] if one.take else order
    first, expected = [data], [data]
    if one.value:
        first += [RNG.integers(0, 1 << 30, data.shape).astype(f"u{one.value}")]
        expected += first[1:]
    if one.keys:
        expected.append(np.take_along_axis(data, order, 1))
    if one.value:
        expected.append(np.take_along_axis(first[1], order, 1))
    elif one.indices:
        expected.append(order.astype(np.int32 if one.narrow or one.take else np.int64))
    return [Array(fake, x) for x in (*first, *(np.zeros_like(y) for y in expected[len(first) :]))], expected


@pytest.mark.parametrize("one", CASES, ids=str)
def test_work_sorts_and_its_launches_are_recorded(one: Any, fake: Fake) -> None:
    ready, (memory, expected) = work.launches(one, 0), arrays(fake, one)
    buffers = [*(x.address for x in memory if x), fake.allocate(ready.scratch)]
    assert len(buffers) == one.buffers
    ready.run(*one.addresses(buffers), 0)
    for x, y in zip(memory, expected, strict=True):
        assert x is not None and x.get().tobytes() == y.tobytes()
    recorded = ready.recorded(*one.addresses(buffers))
    assert [x.launch.name.removeprefix("hs_") for x in recorded] == [
        x.kernel.removeprefix("hs_") for x in fake.launched
    ]
    for ours, launched in zip(recorded, fake.launched, strict=True):
        numbers = [*launched.pointers, *launched.scalars]
        assert [x & MASK for x in ours.arguments] == [x & MASK for x in numbers]
        wide, high, deep, threads, *_, shared = ours.launch.where[1:]
        if launched.kernel != "hs_finish":
            assert (wide, high, deep, threads, shared) == (*launched.grid, 1, launched.threads, launched.shared)
            assert ours.launch.cooperative == launched.cooperative


@pytest.mark.parametrize("one", CASES, ids=str)
def test_the_handler_launches_as_python_does(
    one: Any, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(C)
    caller = Caller(compilers.shared_c99(), tmp_path, monkeypatch)
    fake.runs = False
    context, count, recorded = handler.recipe(one, 1)
    assert (context, count) == (CONTEXT + 1, one.buffers)
    numbered = []  # functions as fake_libcuda.c counts their arguments
    for i, x in enumerate(recorded):
        where = (i + 1 << 8 | len(x.arguments), *x.launch.where[1:])
        numbered.append(replace(x, launch=replace(x.launch, where=where)))
    handler.add(caller.library, one, context, count, numbered)
    buffers = [fake.allocate(16) for _ in range(count)]
    work.launches(one, 1).run(*one.addresses(buffers), 1)
    assert caller.call(one, buffers, context << 8) == ""
    records = caller.records()
    assert len(records) == len(fake.launched) > 0
    for i, (record, launched) in enumerate(zip(records, fake.launched, strict=True)):
        numbers = [*launched.pointers, *launched.scalars]
        assert record.function == (i + 1 << 8 | len(numbers)) and record.context == context
        assert list(record.arguments[: len(numbers)]) == [x & MASK for x in numbers]
        if launched.kernel != "hs_finish":
            assert list(record.grid) == [*launched.grid, 1] and record.block[0] == launched.threads
            assert record.shared == launched.shared
        assert (record.attribute, record.set) == (2 if launched.cooperative else 6, 1)
