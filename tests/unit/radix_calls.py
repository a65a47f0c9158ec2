"""Draws calls of radix sorts of any signature, runs them on the model and compares them with the oracle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from models.radix import model
from radix_shapes import WAYS, shape
from sorts import radix_params as params
from sorts import sort_by

from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.operations import oracle

SIMPLE = Options()
RICH = Signature(key_transform=True, bit_range=True, device_count=True)


def sort_of(signature: Signature, key: str = "u32", way: str = "scan", **values: Any) -> Sort:
    """Return the sort of a shape with a signature, assembled as for targets."""
    begin = {"begin": 32} if signature.value == "packed" else {}
    p = shape("u64" if begin else key, **{**WAYS[way], **begin, **values}, signature=signature)
    return sort_by("radix", p, signature)


def drawn(rng: np.random.Generator, sort: Sort, n: int) -> tuple[Options, int | None]:
    """Draw options of a sort of up to n keys that its signature allows, and the device-side count."""
    signature, how = sort.signature, Options()
    if signature.key_transform:
        kind = int(rng.integers(0, 3 if sort.key.bytes > 1 else 2))
        how = replace(how, kind=kind, descending=bool(rng.integers(2)))
    if signature.bit_range and rng.random() < 0.8:
        begin, end = sorted(rng.integers(0, sort.plan.bits, 2, endpoint=True).tolist())
        how = replace(how, begin=begin, end=end)
    if signature.device_count and rng.random() < 0.7:
        return replace(how, device_count=True), int(rng.integers(0, n + 3))
    return how, None


def check(sort: Sort, keys: Any, how: Options, count: int | None, *, in_place: bool, failing: tuple[int, ...]) -> None:
    """Run one call and compare keys and values with those of the oracle; nothing beyond the count is written."""
    values = oracle.values_for(np.random.default_rng(len(keys)), len(keys), sort)
    live = len(keys) if count is None else min(count, len(keys))
    call = {"in_place": in_place, "how": how, "count": count, "failing": failing}
    out = model.run(params(sort), sort.plan, keys, values, **call)
    order = oracle.permutation(keys[:live], sort, how)
    expected = oracle.values_expected(None if values is None else values[:live], order, sort)
    if how.discard:
        assert not in_place
    else:
        assert np.array_equal(out.keys[:live], keys[:live][order]), (how, live)
        rest = keys[live:] if in_place else np.full(len(keys) - live, 0xA5, keys.dtype)
        assert np.array_equal(out.keys[live:], rest)
    assert (expected is None) == (out.values is None)
    if expected is not None and out.values is not None:
        assert np.array_equal(out.values[:live], expected), (how, live)
