"""Hybrid sorts whose buckets are counted, not sorted, on the embedded device: those with 64-bit indices.

Rows of buckets alone sort what buckets hold, so that no pass hides a fault of theirs: even keys, few distinct ones, and
long runs of equal keys.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from every import direct, sort_of
from models.radix import key_buckets as bucket_model
from nightly import nightly
from sorts import sort_by

from hsgen.algorithms.radix import hybrid
from hsgen.algorithms.radix.hybrid import Hybrid, buckets
from hsgen.algorithms.radix.stages import Counting
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.engines.hosts import Host
from hsgen.operations.inputs import KINDS
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

BITS = 16
"""The bits that are counted: 2^16 buckets."""
N = 2_300_000
"""Enough keys that scratch has room for the table of buckets."""


def counted(signature: Signature = PLAIN, *, alone: bool = False) -> tuple[Hybrid, Sort]:
    """Return a sort whose buckets are counted; `alone`: without the rows of passes."""
    shape = sort_of("buckets8.toml", "radix", "u32", signature).parts[-1].params
    assert isinstance(shape, Hybrid)
    p = hybrid.large(replace(shape, counting=Counting(work_group=128, items=2, bits=BITS), large=True))
    assert 3 * (N // buckets.limit(p)) > 1 << 32 - BITS
    sort = sort_by("radix", p, signature)
    steps = tuple(s for s in sort.plan.steps if not alone or s.kernel.removesuffix("_wide") in bucket_model.KERNELS)
    return p, replace(sort, plan=replace(sort.plan, steps=steps))


def runs(rng: np.random.Generator, n: int) -> Any:
    """Return keys of which every bucket has some thousand: alike, or of a few values."""
    high = rng.integers(0, 400, n, np.uint32) << np.uint32(BITS)
    return high | np.where(high % 3 == 0, np.uint32(7), rng.integers(0, 5, n, np.uint32) * np.uint32(4000))


@pytest.mark.device
@pytest.mark.parametrize("in_place", [nightly(False), True])
def test_what_buckets_hold_is_counted_without_passes(embedded: Host, *, in_place: bool) -> None:
    _, sort = counted(alone=True)
    assert {"bucket_count_wide", "bucket_wide"} & {k.name for k in sort.kernels} == {"bucket_count_wide"}
    frame, rng = Frame(direct(embedded, sort), N), np.random.default_rng(1)
    n = N - 12_345 * in_place
    even = rng.integers(0, 1 << 32, n, np.uint64).astype(np.uint32)
    few = rng.integers(0, 1 << 32 - BITS, n, np.uint32) << np.uint32(BITS)
    for keys in (even, few, runs(rng, n)):
        made = validation.call(sort, keys, Options(), in_place=in_place, count=None, rng=rng)
        assert frame.run(made) is None


@pytest.mark.device
@pytest.mark.parametrize("part", [nightly(i) if i else i for i in range(6)])
def test_every_kind_of_keys_and_range(embedded: Host, part: int) -> None:
    _, sort = counted(Signature(key_transform=True, bit_range=True))
    frame, rng = Frame(direct(embedded, sort), N), np.random.default_rng(2)
    for number, kind in list(enumerate(KINDS))[part::6]:
        keys = KINDS[kind](rng, N - number, np.dtype("u4"))
        how = Options(kind=number % 3, descending=number % 2 == 1, begin=3 * (number % 5 == 4))
        made = validation.call(sort, keys, how, in_place=number % 12 > 5, count=None, rng=rng)
        assert frame.run(made) is None, (kind, how)
