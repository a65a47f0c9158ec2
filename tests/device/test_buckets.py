"""Hybrid sorts on the embedded device: which keys end in buckets, and which are left to look-back, or to passes
that count.

Without those rows a sort still sorts what buckets hold, and leaves other keys unchanged: so each way is seen
to be taken.  Crowded positions, digits of few values, and dirty scratch are covered too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bucketed import BYTES, check_scratch, having, left_to_passes, problem
from every import direct, sort_of
from models.radix import key_buckets as bucket_model
from nightly import NIGHTLY, nightly
from sorts import radix_params as params

from hsgen.algorithms import radix
from hsgen.algorithms.radix.hybrid import buckets as msd
from hsgen.algorithms.radix.hybrid.key_buckets import KeyBuckets
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.engines.hosts import Host
from hsgen.operations.inputs import KINDS
from hsgen.tools.validate.cases import around
from hsgen.tools.validate.guarded import Frame

MOST = 60_000
SHAPES = [
    nightly("buckets8", "radix", "u32"),
    nightly("buckets8", "radix-few", "u32"),
    ("buckets8", "radix", "u64"),
    ("waitless8", "radix", "u32"),
    ("waitless8", "radix-few", "u32"),
    nightly("waitless8", "radix", "u64"),
]
"""Files, labels and keys; in the second file passes that count take the place of look-back."""


def sort_by(file: str, label: str, key: str, signature: Signature = PLAIN, *, alone: bool = False) -> Sort:
    """Return the sort of a test target; `alone`: without the look-back rows."""
    sort = sort_of(f"{file}.toml", label, key, signature)
    return having(sort, lambda s: not alone or s.kernel in (*bucket_model.KERNELS, "single"))


def even(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return distinct keys, evenly spread and shuffled."""
    step = p.key.greatest // max(n - 1, 1)
    return rng.permutation(np.arange(n, dtype=f"u{p.key.bytes}") * np.dtype(f"u{p.key.bytes}").type(step))


def crowded(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys with few distinct values in each bucket."""
    keys = even(rng, n, p)
    return keys & ~keys.dtype.type((1 << (p.key.bits - sum(msd.widths(p, n)))) - 1 - 0x155)


def uneven(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys in one half of the values of the first digit, and keys in a quarter of them."""
    return even(rng, n, p) >> np.dtype(f"u{p.key.bytes}").type(3)


def counts(p: radix.Params) -> list[int]:
    """Return counts around those at which the number of buckets doubles, and a large one."""
    return sorted({n for n in around(KeyBuckets(p).test_counts(), MOST) if n > msd.least(p)} | {MOST})


@pytest.mark.device
@pytest.mark.parametrize(("file", "label", "key"), SHAPES)
@pytest.mark.parametrize("make", [even, crowded])
def test_even_keys_need_no_look_back(embedded: Host, file: str, label: str, key: str, make: Callable[..., Any]) -> None:
    sort = sort_by(file, label, key, alone=True)
    frame, rng = Frame(direct(embedded, sort), MOST), np.random.default_rng(1)
    for n in counts(params(sort)):
        for in_place in (False, True):
            keys = make(rng, n, params(sort))
            assert problem(frame, sort, keys, rng, in_place=in_place) is None, (n, in_place)


@pytest.mark.device
@pytest.mark.parametrize(("file", "label", "key"), SHAPES)
def test_uneven_keys_are_left_to_look_back(embedded: Host, file: str, label: str, key: str) -> None:
    alone, whole = sort_by(file, label, key, alone=True), sort_by(file, label, key)
    frames = [Frame(direct(embedded, sort), MOST) for sort in (alone, whole)]
    p, rng = params(whole), np.random.default_rng(2)
    for n in [n for n in counts(p) if n > 8 * msd.capacity(p)]:
        keys = uneven(rng, n, p)
        assert left_to_passes(frames, (alone, whole), keys, rng, in_place=True), n


@pytest.mark.device
@pytest.mark.parametrize(
    ("file", "label", "key"),
    [
        nightly("buckets8", "radix", "u32"),
        nightly("buckets8", "radix-few", "u32"),
        nightly("buckets8", "radix", "u64"),
        *SHAPES[3:],
    ],
)
def test_every_kind_of_keys_in_many_buckets(embedded: Host, file: str, label: str, key: str) -> None:
    sort = sort_by(file, label, key, Signature(key_transform=True))
    frame, rng = Frame(direct(embedded, sort), MOST), np.random.default_rng(3)
    for number, kind in enumerate(KINDS):
        keys = KINDS[kind](rng, MOST - number, np.dtype(f"u{sort.key.bytes}"))
        for in_place in (False, True):
            how = Options(kind=(number + in_place) % 3, descending=number % 2 == 1)
            assert problem(frame, sort, keys, rng, how, in_place=in_place) is None, (kind, how)


@pytest.mark.device
@pytest.mark.parametrize("file", [nightly("buckets8"), "waitless8"])
def test_earlier_content_of_scratch_does_not_matter(embedded: Host, file: str) -> None:
    """Neither an even sort before an uneven one, nor any content."""
    sort = sort_by(file, "radix", "u32", Signature(bit_range=True))
    contents = BYTES if NIGHTLY else (None, 0x01, 0xFF)
    calls = (Options(), Options(begin=1), Options(), Options(end=31))
    made, makes = direct(embedded, sort), (even, uneven, crowded)
    check_scratch(made, params(sort), makes, (MOST, 150, 5000), 5000, contents, calls)
