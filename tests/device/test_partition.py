"""Sorts by one partition and buckets on the embedded device: which keys end in buckets, and which are left to passes.

Without the launch of the passes a sort still sorts what buckets hold, and does not touch other keys: so each way is
seen to be taken.  Values are distinct: only a stable sort is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bucketed import check_kinds, check_scratch, left_to_passes, problem, without
from every import direct, sort_of
from nightly import thinned
from sorts import radix_params as params

from hsgen.algorithms.radix import partition
from hsgen.algorithms.radix.partition import params as choices
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.engines.hosts import Host
from hsgen.tools.validate.cases import around
from hsgen.tools.validate.guarded import Frame

MOST = 20_000
SHAPES = [("radix", "u32"), ("radix-few", "u32"), ("radix", "u64")]
CASES = [(value, *shape) for value in ("none", "v4", "index", "v8") for shape in SHAPES]


def sort_by(label: str, key: str, signature: Signature, *, early: bool = False) -> Sort:
    """Return a sort of a test target; `early`: without the launch of the passes."""
    sort = sort_of("partition8.toml", label, key, signature)
    return without(sort, ["partition_rest"] * early)


def even(rng: np.random.Generator, n: int, p: partition.Params) -> Any:
    """Return keys whose highest digit is evenly spread, and whose other bits are random."""
    left = p.key.bits - p.first
    tops = np.arange(n, dtype=f"u{p.key.bytes}") % (1 << p.first)
    one = tops.dtype.type
    return rng.permutation(tops << one(left) | rng.integers(0, (1 << left) - 1, n, tops.dtype))


def alike(rng: np.random.Generator, n: int, p: partition.Params) -> Any:
    """Return keys that are all equal within a bucket."""
    left = p.key.bits - p.first
    keys = even(rng, n, p)
    return keys >> keys.dtype.type(left) << keys.dtype.type(left)


def crowded(rng: np.random.Generator, n: int, p: partition.Params) -> Any:
    """Return keys with few distinct values in each bucket."""
    keys = even(rng, n, p)
    return keys & ~keys.dtype.type((1 << (p.key.bits - p.first)) - 1 - 0x155)


def once(rng: np.random.Generator, n: int, p: partition.Params) -> Any:
    """Return keys, one of which occurs more often than a bucket holds."""
    keys = even(rng, n, p)
    keys[: choices.capacity(p) + 1] = keys[0]
    return rng.permutation(keys)


def halved(rng: np.random.Generator, n: int, p: partition.Params) -> Any:
    """Return keys with one value of the highest digit."""
    return even(rng, n, p) >> np.dtype(f"u{p.key.bytes}").type(p.first)


def counts(p: partition.Params) -> list[int]:
    """Return counts up to those that buckets hold, around all at which the sort changes its way."""
    top = choices.limit(p) << p.first
    near = around(partition.test_counts(p, MOST), min(MOST, top))
    return sorted({n for n in near if n > p.alone} | {p.alone + 100, min(MOST, top)})


@pytest.mark.device
@pytest.mark.parametrize(("value", "label", "key"), thinned(CASES, 5, 1))
def test_even_keys_need_no_passes(embedded: Host, label: str, key: str, value: str) -> None:
    sort = sort_by(label, key, Signature(value=value), early=True)
    frame, rng, p = Frame(direct(embedded, sort), MOST), np.random.default_rng(1), params(sort)
    for n in counts(p)[:: max(1, len(counts(p)) // 12)]:
        if -(-n // (1 << p.first)) > choices.capacity(p):
            continue
        for make in (even, alike, crowded):
            for in_place in (False, True):
                how = Options(discard=value == "index" and n % 2 == 0)
                assert problem(frame, sort, make(rng, n, p), rng, how, in_place=in_place) is None, (
                    n,
                    make.__name__,
                    in_place,
                )


@pytest.mark.device
@pytest.mark.parametrize(("value", "label", "key"), thinned(CASES, 5, 2))
def test_uneven_keys_are_left_to_passes(embedded: Host, label: str, key: str, value: str) -> None:
    early, whole = (sort_by(label, key, Signature(value=value), early=x) for x in (True, False))
    frames = [Frame(direct(embedded, sort), MOST) for sort in (early, whole)]
    p, rng = params(whole), np.random.default_rng(2)
    tile = choices.passing(p).tile
    ends = ((p.alone + choices.capacity(p)) // tile + 2) * tile
    for number, n in enumerate((choices.capacity(p) + 150, 1000, 4099, ends - 1, ends, ends + 1, MOST)):
        for make in (once, halved):
            keys = make(rng, n, p)
            assert left_to_passes(frames, (early, whole), keys, rng, in_place=number % 2 == 0), (n, make.__name__)


@pytest.mark.device
@pytest.mark.parametrize(("value", "label", "key"), thinned(CASES, 5, 3))
def test_every_kind_type_order_and_count(embedded: Host, label: str, key: str, value: str) -> None:
    sort = sort_by(label, key, Signature(value=value, key_transform=True, device_count=True, bit_range=True))
    frame = Frame(direct(embedded, sort), MOST)
    check_kinds(frame, sort, lambda number: MOST - number, lambda number: 3 + 8 * (number % 3))


@pytest.mark.device
def test_earlier_content_of_scratch_does_not_matter(embedded: Host) -> None:
    """Neither an even sort before an uneven one, nor any content."""
    sort = sort_by("radix", "u32", Signature(value="v4"))
    check_scratch(direct(embedded, sort), params(sort), (even, halved, once, crowded), (MOST, 150, 300, 5000), 5000)
