"""Kernels of hybrid sorts for 2^30 keys and more on the embedded device, at counts that it can hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from every import direct, sort_of
from models.radix import key_buckets as bucket_model
from nightly import nightly
from sorts import sort_by

from hsgen.algorithms.radix import hybrid
from hsgen.algorithms.radix.hybrid import Hybrid, buckets
from hsgen.algorithms.radix.hybrid.key_buckets import KeyBuckets
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.engines.hosts import Host
from hsgen.operations.inputs import KINDS
from hsgen.tools.validate import validation
from hsgen.tools.validate.cases import around
from hsgen.tools.validate.guarded import Frame

MOST = 40_000
SHAPES = [nightly("radix", "u32"), ("radix-few", "u32"), ("radix", "u64")]


def wide(label: str, key: str, signature: Signature = PLAIN, *, alone: bool = False) -> tuple[Hybrid, Sort]:
    """Return the sort with 64-bit indices for every count; `alone`: without the rows of passes."""
    shape = sort_of("buckets8.toml", label, key, signature).parts[-1].params
    assert isinstance(shape, Hybrid)
    p = hybrid.large(replace(shape, large=True))
    sort = sort_by("radix", p, signature)
    assert all(k.index64 for k in sort.kernels)
    steps = tuple(s for s in sort.plan.steps if not alone or s.kernel.removesuffix("_wide") in bucket_model.KERNELS)
    return p, replace(sort, plan=replace(sort.plan, steps=steps))


def counts(p: Hybrid) -> list[int]:
    """Return counts around those at which the number of buckets doubles, and a large one."""
    return sorted({n for n in around(KeyBuckets(p).test_counts(), MOST) if n > buckets.least(p)} | {MOST})


@pytest.mark.device
@pytest.mark.parametrize(("label", "key"), SHAPES)
def test_buckets_sort_even_keys_without_passes(embedded: Host, label: str, key: str) -> None:
    p, sort = wide(label, key, alone=True)
    frame, rng = Frame(direct(embedded, sort), MOST), np.random.default_rng(1)
    for n in counts(p):
        step = p.key.greatest // max(n - 1, 1)
        keys = rng.permutation(np.arange(n, dtype=f"u{p.key.bytes}") * np.dtype(f"u{p.key.bytes}").type(step))
        made = validation.call(sort, keys, Options(), in_place=bool(n % 2), count=None, rng=rng)
        assert frame.run(made) is None, n


@pytest.mark.device
@pytest.mark.parametrize(("label", "key"), SHAPES)
def test_every_kind_of_keys_and_range(embedded: Host, label: str, key: str) -> None:
    p, sort = wide(label, key, Signature(key_transform=True, bit_range=True))
    frame, rng = Frame(direct(embedded, sort), MOST), np.random.default_rng(2)
    for number, kind in enumerate(KINDS):
        for turn, (n, begin) in enumerate([(MOST - number, 0), (MOST - number, 3), (1, 0), (buckets.least(p) + 1, 0)]):
            keys = KINDS[kind](rng, n, np.dtype(f"u{p.key.bytes}"))
            how = Options(kind=(number + turn) % 3, descending=number % 2 == 1, begin=begin)
            made = validation.call(sort, keys, how, in_place=turn % 2 == 1, count=None, rng=rng)
            assert frame.run(made) is None, (kind, how, n)
