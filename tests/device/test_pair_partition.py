"""Few pairs, partitioned into buckets by one launch, on the embedded device: which keys are left to passes.

Without the passes a sort still sorts what buckets hold, and does not touch other keys: so each way is seen to be taken.
Values are distinct: only a stable sort is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bucketed import BYTES, check_kinds, check_scratch, left_to_passes, problem, without
from changed_templates import Change, templates
from every import direct, sort_of
from sorts import radix_params as params

from hsgen.algorithms import radix
from hsgen.algorithms.radix.hybrid import pair_partition, pairs
from hsgen.algorithms.radix.hybrid.pair_partition import PairPartition
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.engines.hosts import Host
from hsgen.tools.validate.cases import around
from hsgen.tools.validate.guarded import Frame

__all__ = ["templates"]  # a fixture

PASSES = ("count", "rows", "scatter", "copy")
CASES = [(label, value) for label in ("radix", "radix-few") for value in ("v4", "index")]
"""The second label has no subgroups, and more buckets than a work-group that deals has lanes."""


def sort_by(signature: Signature, label: str = "radix", *, early: bool = False) -> Sort:
    """Return a sort of a test target; `early`: without the passes."""
    sort = sort_of("waitless8.toml", label, "u32", signature)
    return without(sort, PASSES if early else ())


def even(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys whose buckets are as even as can be, and whose other bits are random."""
    left = p.key.bits - pairs.bits(p, n)
    tops = np.arange(n, dtype=f"u{p.key.bytes}") % (1 << pairs.bits(p, n))
    one = tops.dtype.type
    return rng.permutation(tops << one(left) | rng.integers(0, (1 << left) - 1, n, tops.dtype))


def alike(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys that are all equal within a bucket, more than lanes compare one by one."""
    one, left = np.dtype(f"u{p.key.bytes}").type, p.key.bits - pairs.bits(p, n)
    return even(rng, n, p) >> one(left) << one(left)


def crowded(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys with two values in each bucket, one of them rare."""
    keys = alike(rng, n, p)
    return np.where(rng.random(n) < 0.1, keys + keys.dtype.type(1), keys)


def once(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys of which one bucket has one more than it holds."""
    keys = even(rng, n, p)
    one, left = keys.dtype.type, p.key.bits - pairs.bits(p, n)
    others, own = keys[keys >> one(left) != one(1)], one(1) << one(left) | keys & one((1 << left) - 1)
    return rng.permutation(np.concatenate([others[: n - pairs.capacity(p) - 1], own[: pairs.capacity(p) + 1]]))


def filled(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return keys of which one bucket has as many as it holds."""
    keys = once(rng, n, p)
    one, left = keys.dtype.type, p.key.bits - pairs.bits(p, n)
    keys[np.flatnonzero(keys >> one(left) == one(1))[0]] = 0
    return keys


def counts(p: radix.Params) -> list[int]:
    """Return counts around those at which the number of buckets doubles, and at tiles."""
    return [
        n
        for n in around(PairPartition(p).test_counts(), pair_partition.most(p))
        if pair_partition.least(p) < n <= pair_partition.most(p)
    ]


@pytest.mark.device
@pytest.mark.parametrize(("label", "value"), CASES)
def test_even_keys_need_no_pass(embedded: Host, label: str, value: str) -> None:
    sort = sort_by(Signature(value=value), label, early=True)
    p, rng = params(sort), np.random.default_rng(1)
    frame = Frame(direct(embedded, sort), pair_partition.most(p))
    assert len(counts(p)) > 5 and pairs.limit(p) // 2 > pairs.capacity(p) // 8
    for n in counts(p):
        for make in (even, alike, crowded, filled):
            how = Options(discard=value == "index" and n % 2 == 0)
            assert problem(frame, sort, make(rng, n, p), rng, how, in_place=False) is None, (n, make.__name__)


@pytest.mark.device
@pytest.mark.parametrize(("label", "value"), CASES)
def test_uneven_keys_and_calls_in_place_are_left_to_passes(embedded: Host, label: str, value: str) -> None:
    early, whole = (sort_by(Signature(value=value), label, early=x) for x in (True, False))
    p, rng = params(whole), np.random.default_rng(2)
    frames = [Frame(direct(embedded, sort), pair_partition.most(p)) for sort in (early, whole)]
    for n in counts(p):
        for make, in_place in ((once, False), (even, True)):
            keys = make(rng, n, p)
            assert left_to_passes(frames, (early, whole), keys, rng, in_place=in_place), (n, make.__name__)


@pytest.mark.device
@pytest.mark.parametrize(("label", "value"), CASES)
def test_every_kind_type_order_and_count(embedded: Host, label: str, value: str) -> None:
    sort = sort_by(Signature(value=value, key_transform=True, device_count=True, bit_range=True), label)
    p = params(sort)
    most = (
        pair_partition.most(p) + 200
    )  # capacities above take the passes ahead, also where the count is that of partitioned pairs
    frame = Frame(direct(embedded, sort), most)
    check_kinds(frame, sort, lambda number: (most if number % 2 else pair_partition.most(p)) - number)


@pytest.mark.device
def test_earlier_content_of_scratch_does_not_matter(embedded: Host) -> None:
    """Neither an even sort before an uneven one, nor any content."""
    sort = sort_by(Signature(value="v4"))
    p = params(sort)
    sizes = (pair_partition.most(p), 150, 300)
    check_scratch(direct(embedded, sort), p, (even, once, crowded), sizes, 150, (*BYTES, 0x04))


def test_bytes_moved() -> None:
    """Keys are read three times and written twice, values read and written once; passes then move nothing."""
    sort = sort_by(Signature(value="v4"))
    p = params(sort)
    n = pair_partition.most(p)
    moved = {s.kernel: radix.moved(p, s, n) for s in sort.plan.steps if s.guard.min_n < n <= s.guard.max_n}
    assert (
        moved["pair_partition_histogram"] >= 4 * n
        and moved["pair_partition"] >= 12 * n
        and moved["pair_partition_bucket"] >= 20 * n
    )
    assert {moved[name] for name in PASSES} == {0}
    assert "partitioned at once" in dict(radix.notes(p))["buckets of pairs"]


# Faults that access nothing out of bounds: others are in test_webgpu_native.py.
FAULTS: dict[str, tuple[str, str, str, Any]] = {
    "one index for all": ("hybrid/pair_partition_bucket", "hs_to_u32(hs_pair_index(pair))", "0u", even),
    "equal keys by their slots": (
        "hybrid/pair_partition_bucket",
        "order[to] = indices[{{ i }}]",
        "order[to] = hs_to_u32(begin + to)",
        even,
    ),
    "a network that does not keep the order": ("pair_network", "second < first", "first < second", alike),
    "a network too small": ("pair_network", "width < {{ steps }}", "width < {{ steps - 1 }}", crowded),
    "a bucket too few": ("hybrid/pair_partition_bucket", "bucket >= 1 << bits", "bucket >= (1 << bits) - 1", even),
}


@pytest.mark.device
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_noticed(embedded: Host, templates: Change, fault: str) -> None:
    file, old, new, make = FAULTS[fault]
    templates(f"radix/{file}.j2", old, new)
    sort = sort_by(Signature(value="v4"))
    p, rng = params(sort), np.random.default_rng(5)
    n = pair_partition.most(p)
    assert problem(Frame(direct(embedded, sort), n), sort, make(rng, n, p), rng, in_place=False) is not None


@pytest.mark.device
@pytest.mark.parametrize("name", ["pair_partition", "pair_partition_bucket"])
def test_rows_that_lack_are_noticed(embedded: Host, name: str) -> None:
    """Without the passes, which would sort the keys as well."""
    whole = sort_by(Signature(value="v4"), early=True)
    sort = without(whole, [name])
    p, rng = params(sort), np.random.default_rng(6)
    n, frame = pair_partition.most(p), Frame(direct(embedded, sort), pair_partition.most(p))
    assert len(sort.plan.steps) < len(whole.plan.steps)
    assert problem(frame, sort, even(rng, n, p), rng, in_place=False) is not None
