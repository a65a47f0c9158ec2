"""Makes keys for hybrid sorts, runs the sorts on the model and compares them with the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from models.radix import model
from sorts import radix_params as params

from hsgen.algorithms import radix
from hsgen.algorithms.radix.hybrid import buckets as msd
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS
from hsgen.core.plan import Plan
from hsgen.core.sort import Sort
from hsgen.operations import oracle

SMALL: dict[str, Any] = {
    "coordination": "lookback",
    "partition.above": 100,
    "partition.work_group": 16,
    "partition.items": 3,
    "bucket.work_group": 16,
    "bucket.items": 4,
    "bucket.bins": 32,
}
"""Buckets of at most 64 keys, of 52 on average, distributed from tiles of 48."""


def even(rng: np.random.Generator, n: int, key: str) -> Any:
    """Return distinct keys, evenly spread and shuffled: no bucket exceeds the average by more than one key."""
    top = KEYS[key].greatest
    return rng.permutation(np.array([top * i // max(n - 1, 1) for i in range(n)], f"u{KEYS[key].bytes}"))


def kinds(rng: np.random.Generator, p: radix.Params, n: int) -> Iterator[tuple[str, Any]]:
    """Yield keys, each kind uneven in a different way."""
    key, bits = p.key.name, p.key.bits
    keys = even(rng, n, key)
    one = keys.dtype.type
    first, second = msd.widths(p, n) if n > msd.limit(p) else (1, 1)
    yield "even", keys
    yield "sorted", np.sort(keys)
    yield "all equal", np.full(n, p.key.greatest, keys.dtype)
    yield "first digit", keys >> one(first)
    yield "second digit", keys & ~one(((1 << second) - 1) << (bits - first - second))
    yield "crowded places", keys & ~one((1 << (bits - first - second)) - 1)
    yield "crowded places, some bits", keys & ~one((1 << (bits - first - second)) - 1 - 0x155)
    yield "random", rng.integers(0, p.key.greatest, n, keys.dtype, endpoint=True)


def play(sort: Sort, plan: Plan, keys: Any, *, in_place: bool, how: Options | None = None, count: Any = None) -> None:
    """Run one call and compare with the oracle."""
    how = how or Options()
    live = len(keys) if count is None else min(count, len(keys))
    out = model.run(params(sort), plan, keys, in_place=in_place, how=how, count=count)
    order = oracle.permutation(keys[:live], sort, how)
    assert np.array_equal(out.keys[:live], keys[:live][order]), (len(keys), how, live, in_place)
