"""Hybrid sorts of pairs on the embedded device: which keys end in buckets, and which are left to further passes.

Without its further passes a sort still sorts what buckets hold, and leaves other keys half sorted: so each way is seen
to be taken.  Values are distinct: only a stable sort is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bucketed import check_kinds, check_scratch, having, left_to_passes, problem
from every import direct, sort_of
from nightly import nightly, thinned
from sorts import radix_params as params

from hsgen.algorithms import radix
from hsgen.algorithms.radix.hybrid import pairs as finish
from hsgen.algorithms.radix.hybrid.pair_buckets import PairBuckets
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.engines.hosts import Host
from hsgen.tools.validate.cases import around
from hsgen.tools.validate.guarded import Frame

MOST = 20_000
SHAPES = [
    *(("pairs8", *shape) for shape in (("radix", "u32"), ("radix-few", "u32"), ("radix", "u64"))),
    *(("waitless8", *shape) for shape in (("radix", "u32"), ("radix-few", "u32"), ("radix", "u64"))),
]
"""Files, labels and keys; in the second file passes count, and none looks back."""
PASSES = ("onesweep", "count", "rows", "scatter")
CASES = [(value, *shape) for value in ("v4", "index") for shape in SHAPES]


def sort_by(file: str, label: str, key: str, signature: Signature, *, early: bool = False) -> Sort:
    """Return a sort of a test target; `early`: without the passes after the buckets."""
    sort = sort_of(f"{file}.toml", label, key, signature)
    low = finish.least(params(sort))
    return having(sort, lambda s: not early or s.kernel not in PASSES or s.guard.min_n >= low)


def even(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys whose two highest digits are evenly spread, two keys each, and whose other bits are random."""
    left = p.key.bits - finish.top_bits(p)
    tops = np.arange(n, dtype=f"u{p.key.bytes}") // 2 * (p.key.greatest // (n // 2))
    one = tops.dtype.type
    return rng.permutation(tops >> one(left) << one(left) | rng.integers(0, (1 << left) - 1, n, tops.dtype))


def alike(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys that are all equal within a bucket."""
    left = p.key.bits - finish.bits(p, n)
    keys = even(rng, n, p)
    return keys >> keys.dtype.type(left) << keys.dtype.type(left)


def crowded(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys with few distinct values in each bucket."""
    keys = even(rng, n, p)
    return keys & ~keys.dtype.type((1 << (p.key.bits - finish.bits(p, n))) - 1 - 0x155)


def once(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys, one of which occurs more often than a bucket holds."""
    keys = even(rng, n, p)
    keys[: finish.capacity(p) + 1] = keys[0]
    return rng.permutation(keys)


def halved(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys with few values of the highest digit."""
    return even(rng, n, p) >> np.dtype(f"u{p.key.bytes}").type(6)


def counts(p: radix.Params) -> list[int]:
    """Return counts around those at which the number of buckets doubles, and a large one."""
    return sorted({n for n in around(PairBuckets(p).test_counts(), MOST) if n > finish.least(p)} | {MOST})


@pytest.mark.device
@pytest.mark.parametrize(("value", "file", "label", "key"), thinned(CASES, 5, 0))
def test_even_keys_need_no_further_pass(embedded: Host, file: str, label: str, key: str, value: str) -> None:
    sort = sort_by(file, label, key, Signature(value=value), early=True)
    frame, rng, p = Frame(direct(embedded, sort), MOST), np.random.default_rng(1), params(sort)
    for n in counts(p):
        for make in (even, alike, crowded) if finish.bits(p, n) > p.digits[-1][1] else (even,):
            for in_place in (False, True):
                how = Options(discard=value == "index" and n % 2 == 0)
                assert problem(frame, sort, make(rng, n, p), rng, how, in_place=in_place) is None, (
                    n,
                    make.__name__,
                    in_place,
                )


@pytest.mark.device
@pytest.mark.parametrize(("value", "file", "label", "key"), thinned(CASES, 5, 1))
def test_uneven_keys_are_left_to_further_passes(embedded: Host, file: str, label: str, key: str, value: str) -> None:
    early, whole = (sort_by(file, label, key, Signature(value=value), early=x) for x in (True, False))
    frames = [Frame(direct(embedded, sort), MOST) for sort in (early, whole)]
    p, rng = params(whole), np.random.default_rng(2)
    for number, n in enumerate(counts(p)):
        for make in (once, halved):
            keys = make(rng, n, p)
            assert left_to_passes(frames, (early, whole), keys, rng, in_place=number % 2 == 0), (n, make.__name__)


@pytest.mark.device
@pytest.mark.parametrize(("value", "file", "label", "key"), thinned(CASES, 5, 1))
def test_every_kind_type_order_and_count(embedded: Host, file: str, label: str, key: str, value: str) -> None:
    sort = sort_by(file, label, key, Signature(value=value, key_transform=True, device_count=True, bit_range=True))
    check_kinds(Frame(direct(embedded, sort), MOST), sort, lambda number: MOST - number)


@pytest.mark.device
@pytest.mark.parametrize("file", [nightly("pairs8"), "waitless8"])
def test_earlier_content_of_scratch_does_not_matter(embedded: Host, file: str) -> None:
    """Neither an even sort before an uneven one, nor any content."""
    sort = sort_by(file, "radix", "u32", Signature(value="v4"))
    check_scratch(direct(embedded, sort), params(sort), (even, halved, once, crowded), (MOST, 150, 300, 5000), 5000)
