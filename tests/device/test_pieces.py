"""Hybrid sorts that compare a sample of the keys first, on the embedded device: how many digits are passed, which
buckets are cut, and what is sorted in memory.

Values are distinct: only a stable sort is right.  Each way is seen to be taken: without its kernel some keys stay
unsorted.  What a sample decides costs time alone, so faults are planted in what follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from bucketed import check_kinds, problem, without
from every import direct, faulty, sort_of
from models.radix.sample import positions
from nightly import thinned
from planted import Planted, all_caught
from sorts import radix_params as params

from hsgen.algorithms import radix
from hsgen.algorithms.radix.hybrid.key_buckets import KeyBuckets
from hsgen.algorithms.radix.hybrid.pair_buckets import PairBuckets
from hsgen.algorithms.radix.hybrid.pieces import Pieces
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct
from hsgen.tools.validate.cases import around
from hsgen.tools.validate.guarded import Frame

MOST = 20_000
FILE = "pieces8.toml"
CASES = [(value, key) for value in ("v4", "index", "none") for key in ("u32", "u64")]
Make = Callable[[np.random.Generator, int, radix.Params], Any]


def bits_of(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return random keys."""
    return rng.integers(0, p.key.greatest, n, f"u{p.key.bytes}", endpoint=True)


def shifted(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys whose highest digit is constant."""
    keys = bits_of(rng, n, p)
    return keys >> keys.dtype.type(9)


def narrow(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys with few values in the two highest digits, and any in the others."""
    keys = bits_of(rng, n, p)
    return keys & ~keys.dtype.type(0xF8F8 << p.key.bits - 16)


def few(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys of few values, each of which fills several buckets."""
    return bits_of(rng, max(2, n // 1000), p)[rng.integers(0, max(2, n // 1000), n)]


def alike(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys of which hundreds agree in all but the lowest digit, and others do not."""
    keys = bits_of(rng, n, p)
    some = rng.choice(n, n // 50, replace=False)
    keys[some] = keys[0] >> keys.dtype.type(8) << keys.dtype.type(8) | keys[some] & keys.dtype.type(255)
    return keys


def pairs_of(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys each of which occurs several times: places are crowded."""
    return bits_of(rng, n, p)[rng.integers(0, n // 12, n)]


def repeated(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys each of which occurs often, half of them next to one that differs in the lowest digit alone: buckets
    are in order already, or not."""
    keys = bits_of(rng, n // 20, p)
    half = len(keys) // 2
    keys[:half] = keys[-half:] ^ keys.dtype.type(129)
    return keys[rng.integers(0, len(keys), n)]


def across(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys of a narrow range around the middle of all keys."""
    keys = shifted(rng, n, p)
    return keys + keys.dtype.type((1 << p.key.bits - 1) - (1 << p.key.bits - 11))


def missed(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return even keys of a narrow range, and one greater key, which the sample of this count does not have."""
    one = np.dtype(f"u{p.key.bytes}").type
    keys = rng.permutation(np.arange(n, dtype=one) * one((p.key.greatest >> 9) // n))
    keys[np.setdiff1d(np.arange(n), positions(n, p.sampled))[0]] = p.key.greatest // 3
    return keys


MAKES: tuple[Make, ...] = (bits_of, shifted, narrow, few, alike, pairs_of, repeated, across, missed)


def counts(p: radix.Params) -> list[int]:
    """Return counts around those at which the number of buckets doubles, and a large one."""
    found = PairBuckets(p).test_counts() if p.has_pair_buckets else KeyBuckets(p).test_counts()
    return sorted({n for n in around(found, MOST) if n > Pieces(p).span[0]} | {MOST})


@pytest.mark.device
@pytest.mark.parametrize(("value", "key"), thinned(CASES, 4, 0))
def test_all_keys_are_sorted(embedded: Host, key: str, value: str) -> None:
    sort = sort_of(FILE, "radix", key, Signature(value=value))
    frame, rng, p = Frame(direct(embedded, sort), MOST), np.random.default_rng(1), params(sort)
    for n in counts(p):
        for make in MAKES:
            for in_place in (False, True):
                how = Options(discard=value == "index" and n % 2 == 0)
                assert problem(frame, sort, make(rng, n, p), rng, how, in_place=in_place) is None, (
                    n,
                    make.__name__,
                    in_place,
                )


@pytest.mark.device
@pytest.mark.parametrize(
    ("value", "key", "kernels", "make"),
    [
        ("v4", "u32", ("pair_bucket", "range_sort"), bits_of),
        ("v4", "u64", ("pair_bucket", "range_sort"), shifted),
        ("v4", "u64", ("range_sort",), alike),
        ("v4", "u64", ("range_sort",), pairs_of),
        ("none", "u32", ("bucket",), shifted),
        ("none", "u64", ("bucket",), across),
        ("none", "u32", ("onesweep",), missed),
        ("none", "u64", ("onesweep",), missed),
        ("none", "u64", ("range_sort",), alike),
    ],
)
def test_kernels_are_needed(embedded: Host, value: str, key: str, kernels: tuple[str, ...], make: Make) -> None:
    whole = sort_of(FILE, "radix", key, Signature(value=value))
    rng, p = np.random.default_rng(3), params(whole)
    keys = make(rng, MOST, p)
    for sort, right in ((whole, True), (without(whole, kernels), False)):
        frame = Frame(direct(embedded, sort), MOST)
        assert (problem(frame, sort, keys, rng, in_place=False) is None) == right, kernels


@pytest.mark.device
@pytest.mark.parametrize("begin", [0, 1 / 3, 1 / 2 - 1 / 300, 0.99])
@pytest.mark.parametrize("key", ["u32", "u64"])
def test_keys_of_a_narrow_range_need_no_passes(embedded: Host, key: str, begin: float) -> None:
    """Even keys of a hundredth of all keys, from several keys on."""
    sort = without(sort_of(FILE, "radix", key, Signature(key_transform=True)), ("onesweep", "ahead_starts"))
    rng, frame, p = np.random.default_rng(6), Frame(direct(embedded, sort), MOST), params(sort)
    for number, n in enumerate((MOST, 3_000, 700)):
        one = np.dtype(f"u{p.key.bytes}").type
        keys = rng.permutation(
            np.arange(n, dtype=one) * one(p.key.greatest // 101 // n) + one(int(begin * p.key.greatest))
        )
        how = Options(descending=number == 1)
        assert problem(frame, sort, keys, rng, how, in_place=number == 2) is None, (n, how)


@pytest.mark.device
@pytest.mark.parametrize(("value", "key"), CASES)
def test_every_kind_type_order_and_count(embedded: Host, key: str, value: str) -> None:
    sort = sort_of(FILE, "radix", key, Signature(value=value, key_transform=True, device_count=True, bit_range=True))
    check_kinds(Frame(direct(embedded, sort), MOST), sort, lambda number: MOST - number)


FAULTS: dict[str, tuple[str, str]] = {
    "the last pieces are left out": ("turn < 3 &&", "turn < 2 &&"),
    "no further pieces": ("turn < 3 &&", "turn < 1 &&"),
    "cuts are not moved back": ("from = mid + 1", "from = end"),
    "low is a digit too high": ("lowest = top - 1 - r;", "lowest = top - r;"),
    "the highest digit is not sorted in memory": ("pass <= 8; pass++", "pass < 1; pass++"),
    "starts of the next buckets": (">= bucket;", "> bucket;"),
    "buckets that are not in order are skipped": ("bool in_order = unordered[0] == 0u;", "bool in_order = true;"),
    "nothing is copied back": ("bool copies = pass == 8;", "bool copies = false;"),
}
"""Faults planted in the text of the kernels of u64 pairs: a text and its replacement."""


KEY_FAULTS: dict[str, tuple[str, str]] = {
    "keys that the sample has missed are partitioned": ("beyond >> (low_bit + bits) != HS_LEAST", "false"),
    "the base is not added": ("(key + base)", "(key)"),
    "the base is added after passes": ("base = HS_LEAST; // passes", "// passes"),
    "work-groups sort one bucket": ("number += step", "number += ranges"),
}
"""The same of u64 keys without values."""


def planted(host: Host) -> Iterator[Planted]:
    """Yield every fault."""
    for signature, faults in ((Signature(value="v4"), FAULTS), (Signature(), KEY_FAULTS)):
        for name, fault in faults.items():
            yield name, partial(faulty, host, sort_of(FILE, "radix", "u64", signature), fault)


def check(made: Direct) -> None:
    """Assert that sorts of every kind of keys are right."""
    frame, rng, p = Frame(made, MOST), np.random.default_rng(4), params(made.sort)
    for make in MAKES:
        for n in (MOST, 3_000):
            wrong = problem(frame, made.sort, make(rng, n, p), rng, in_place=False)
            assert wrong is None, wrong


@pytest.mark.device
def test_planted_faults_are_caught(embedded: Host) -> None:
    for signature in (Signature(value="v4"), Signature()):
        check(direct(embedded, sort_of(FILE, "radix", "u64", signature)))
    all_caught(__name__, embedded, len(FAULTS) + len(KEY_FAULTS))
