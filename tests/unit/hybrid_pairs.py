"""Makes keys and counts for hybrid sorts of pairs, runs the sorts on the model and compares them with the oracle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from models.radix import model
from sorts import ROOMY
from sorts import radix_params as params

from hsgen.algorithms import radix
from hsgen.algorithms.radix.hybrid.pair_buckets import PairBuckets
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS
from hsgen.core.plan import Plan
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.tools.validate.cases import around

DEVICE = replace(ROOMY, progress="guaranteed")


def even(rng: np.random.Generator, n: int, key: str) -> Any:
    """Return keys whose two highest digits are evenly spread, two keys each, and whose other bits are random."""
    tops = np.arange(n, dtype=f"u{KEYS[key].bytes}") // 2 * (KEYS[key].greatest // max(n // 2, 1))
    one, left = tops.dtype.type, KEYS[key].bits - 16
    return rng.permutation(tops >> one(left) << one(left) | rng.integers(0, (1 << left) - 1, n, tops.dtype))


def play(sort: Sort, plan: Plan, keys: Any, *, in_place: bool, how: Options | None = None, count: Any = None) -> None:
    """Run one call and compare with the oracle; values are distinct, so that only a stable sort is right."""
    how = how or Options()
    live = len(keys) if count is None else min(count, len(keys))
    index = sort.signature.index
    values = None if index else np.arange(len(keys), dtype=np.uint32)[::-1].reshape(-1, 1).copy()
    out = model.run(params(sort), plan, keys, values, in_place=in_place, how=how, count=count)
    order = oracle.permutation(keys[:live], sort, how)
    assert out.values is not None
    if not how.discard:
        assert np.array_equal(out.keys[:live], keys[:live][order]), (len(keys), how, live, in_place)
    right = order if values is None else values[:live, 0][order]
    assert np.array_equal(out.values[:live, 0], right), (len(keys), how, live, in_place)


def counts(p: radix.Params, most: int = 2000) -> list[int]:
    """Return counts around those at which the sort changes its way."""
    return sorted({*around(PairBuckets(p).test_counts(), most), 1, p.alone + 1, 555})
