"""Selections next to each bound of a plan: lengths of rows and k at the bound and one beside, on runtimes for CPUs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from every import direct
from nightly import NIGHTLY, nightly

from hsgen.core.errors import OutOfRange
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.engines.hosts import Host
from hsgen.operations import oracle, top_k
from hsgen.operations.calls import Call
from hsgen.targets.target import find
from hsgen.tools.validate.guarded import Frame

pytestmark = pytest.mark.device
MOST = 300_000 if NIGHTLY else 5_000
"""The greatest number of keys of a call."""
CASES = [
    pytest.param("embedded", "cpu", "u32", "index"),
    nightly("embedded", "cpu", "u64", "v8"),
    nightly("embedded", "cpu", "u8", "none"),
    nightly("embedded", "generic", "u32", "index64"),
    nightly("embedded", "generic", "u16", "v4"),
    nightly("pocl", "generic", "u32", "index"),
    nightly("pocl", "generic", "u64", "v16"),
]


def shapes(sort: Sort) -> list[tuple[int, int, int]]:
    """Return rows, lengths and k: each bound of the plan's guards, and its neighbours."""
    lengths, takes = {1, 2}, {1, 2}
    for guard in (step.guard for step in sort.plan.steps):
        lengths |= {x + d for x in (guard.min_n, guard.max_n) for d in (-1, 0, 1)}
        takes |= {x + d for x in (guard.min_take, guard.max_take) for d in (-1, 0, 1)}
    return [
        (rows, length, k)
        for length in sorted(lengths)
        for k in sorted(takes | {length - 1, length})
        for rows in (1, 5 if length < 2000 else 2)
        if 1 <= k <= length and rows * length <= MOST
    ]


def selection_call(sort: Sort, rng: np.random.Generator, shape: tuple[int, int, int]) -> Call:
    """Return a call for rows of keys, of which many are equal."""
    rows, length, k = shape
    keys = rng.integers(0, 1 << 62, rows * length).astype(f"u{sort.key.bytes}")
    keys %= np.array(max(2, min(200, length // 2)), keys.dtype)
    options = Options(segment_count=rows, take=k, descending=bool(rng.integers(2)))
    values = oracle.values_for(rng, len(keys), sort)
    expected, after = top_k.selected(sort, keys, values, options)
    return Call(
        n=len(keys), keys=keys, expected=expected, in_place=False, values=values, values_expected=after, how=options
    )


def selection(target: str, key: str, value: str) -> Sort:
    return find(target).sort("radix_select", key, Signature(value=value, key_transform=True, rows=True))


@pytest.mark.parametrize(("device", "target", "key", "value"), CASES)
def test_shapes_next_to_each_bound(
    device: str, target: str, key: str, value: str, request: pytest.FixtureRequest
) -> None:
    host: Host = request.getfixturevalue(device)
    sort = selection(target, key, value)
    engine, rng = direct(host, sort), np.random.default_rng(49)
    every = shapes(sort)
    assert len(every) > 50
    frame = Frame(engine, max(rows * length for rows, length, _ in every))
    for number, shape in enumerate(every):
        problem = frame.run(selection_call(sort, rng, shape), (number % 3, number % 2))
        assert problem is None, (shape, problem)


def test_numbers_that_no_call_has() -> None:
    """No row, k beyond a row, and k = 0 are refused; no keys are a call that selects nothing."""
    sort = selection("cpu", "u32", "index")
    completed: Any = top_k.OPERATION.settled
    for rows, k, argument in ((0, 1, "segment_count"), (3, 1, "segment_count"), (2, 0, "take"), (2, 51, "take")):
        with pytest.raises(OutOfRange, match=rf"^{argument} "):
            completed(100, Options(segment_count=rows, take=k), ())
    for rows, k in ((0, 0), (1, 0), (0, 5)):
        assert completed(0, Options(segment_count=rows, take=k), ()).take == k
    assert sort.plan.max_n >= 1 << 20
