"""Sorted input without a device: the numpy model leaves sorted keys in place, and sorts all others.

- No pass moves sorted keys, except the one that copies them to the destination, or the two that generate indices.
- Keys with two swapped neighbours are sorted: within a tile, at its boundaries, at the end.
- Keys in reverse order, all equal ones, and those sorted by the bit range only.
- Strategies that cannot detect sorted input are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from models.radix import model
from models.radix.shapes import table
from nightly import nightly
from radix_shapes import shape
from sorts import ROOMY, sort_by

from hsgen.algorithms import radix
from hsgen.algorithms.radix.specialize import specialize
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, Signature
from hsgen.core.sort import Sort
from hsgen.operations import oracle

MSD: dict[str, Any] = {"partition.above": 100, "partition.work_group": 16, "partition.items": 3}
MSD |= {"bucket.work_group": 16, "bucket.items": 4, "bucket.bins": 32}
FINISH: dict[str, Any] = {
    "redo": False,
    "pair_bucket.above": 416,
    "pair_bucket.work_group": 8,
    "pair_bucket.items": 4,
    "pair_bucket.bins": 16,
}
WAYS: dict[str, dict[str, Any]] = {
    "scan": {},
    "alone": {"ranker": "serial", "work_group": 1, "items": 32},
    "walking": {"ranker": "serial", "work_group": 4, "items": 8},
    "lookback": {"coordination": "lookback"},
    "endless": {"coordination": "lookback", "redo": False},
    "odd": {"coordination": "lookback", "bits": 11},
    "buckets": {"coordination": "lookback", **MSD},
    "pairs": {"coordination": "lookback", **FINISH},
}
FORMS = (Signature(), Signature(value="v4"), Signature(value="index"), Signature(key_transform=True))


def inputs(ordered: Any, tile: int) -> Iterator[Any]:
    """Yield sorted keys, these with two neighbours swapped, reversed, and all equal."""
    yield ordered
    for at in {1, 2, tile - 1, tile, tile + 1, 2 * tile, len(ordered) // 2, len(ordered) - 1}:
        if 0 < at < len(ordered):
            keys = ordered.copy()
            keys[[at - 1, at]] = keys[[at, at - 1]]
            yield keys
    yield ordered[::-1].copy()
    yield np.full_like(ordered, ordered[0])


def checked(sort: Sort, keys: Any, how: Options, *, in_place: bool) -> None:
    p, order = sort.parts[0].params, oracle.permutation(keys, sort, how)
    values = np.arange(len(keys), dtype=np.uint32)[:, None] if p.signature.value == "v4" else None
    out = model.run(p, sort.plan, keys, values, in_place=in_place, how=how)
    assert np.array_equal(out.keys, keys[order])
    if out.values is not None:
        assert np.array_equal(out.values.reshape(-1), order.astype(np.uint32))


FAST = {way: "u32" if way in ("walking", "lookback", "endless", "odd") else "u64" for way in WAYS}
"""The keys that each strategy sorts in the fast run."""


@pytest.mark.parametrize(
    ("key", "way"), [(k, w) if FAST[w] == k else nightly(k, w) for k in ("u32", "u64") for w in WAYS]
)
def test_sorted_and_nearly_sorted_keys_are_sorted(way: str, key: str) -> None:
    rng = np.random.default_rng(1)
    for signature in FORMS:
        if (way == "buckets" and signature.value != "none") or (way == "pairs" and signature.value_bytes != 4):
            continue
        p = shape(key, sorted_exit=True, signature=signature, **WAYS[way])
        sort = sort_by("radix", p, p.signature)
        for n in (21, p.tile + 1, 5 * p.tile, 500, 1000):
            raw = rng.integers(0, p.key.greatest, n, f"u{p.key.bytes}", endpoint=True)
            for how in (Options(kind=2, descending=True), Options(kind=1)) if signature.key_transform else (Options(),):
                for keys in inputs(raw[oracle.permutation(raw, sort, how)], p.tile):
                    for in_place in (False, True):
                        checked(sort, keys, how, in_place=in_place)


@pytest.mark.parametrize(
    ("way", "signature"), [("lookback", Signature(bit_range=True)), ("scan", Signature(value="packed"))]
)
def test_only_the_bits_that_are_sorted_by_decide(way: str, signature: Signature) -> None:
    rng, begin = np.random.default_rng(2), 32 if signature.value == "packed" else 0
    p = shape("u64", sorted_exit=True, signature=signature, begin=begin, **WAYS[way])
    sort = sort_by("radix", p, p.signature)
    hows = [Options(begin=5, end=37), Options(begin=9, end=9), Options()] if signature.bit_range else [Options()]
    for how in hows:
        raw = rng.integers(0, p.key.greatest, 300, np.uint64, endpoint=True)
        for keys in inputs(raw[oracle.permutation(raw, sort, how)], p.tile):
            for in_place in (False, True):
                checked(sort, keys, how, in_place=in_place)


FITS = [
    (w, v)
    for w in WAYS
    for v in ("none", "v4", "index")
    if (w, v == "none") not in (("pairs", True), ("buckets", False))
]


@pytest.mark.parametrize(("way", "value"), FITS)
def test_sorted_keys_move_no_more_than_necessary(way: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes store nothing except to copy keys to the destination, or to generate indices."""
    p = shape("u32", sorted_exit=True, signature=Signature(value=value), **WAYS[way])
    sort, stored = sort_by("radix", p, p.signature), []
    store = model.Memory.store

    def noted(self: Any, to: int, place: Any, entries: Any, at: Any) -> None:
        stored.append(len(place))
        store(self, to, place, entries, at)

    monkeypatch.setattr(model.Memory, "store", noted)
    keys = np.sort(np.random.default_rng(3).integers(0, 1 << 32, 700, np.uint32))
    for in_place in (False, True):
        stored.clear()
        checked(sort, keys, Options(), in_place=in_place)
        device_count = not p.looks_back
        passes = 1 if device_count or not in_place else 0 if value != "index" else 2
        assert sum(stored) == passes * len(keys), in_place


def test_strategies_that_cannot_detect_sorted_input_are_named() -> None:
    for values in ({"coordination": "grid", "least": 1}, {"ranker": "serial", "work_group": 8, "subgroup": 8}):
        p = shape("u32", sorted_exit=True, **values)
        device = replace(ROOMY, progress="guaranteed", cooperative=True)
        found = [*radix.alone(table({"sorted_exit": True, **values}), device), *radix.problems(p, device)]
        assert "sorted_exit" in [key for key, _, _ in found], values


def test_sorted_input_is_not_detected_without_a_known_range() -> None:
    for coordination, looks in (("scan", False), ("lookback", True)):
        own = {"u32": shape("u32", sorted_exit=True, coordination=coordination)}
        made = specialize(own, KEYS["u32"], Signature(bit_range=True), ROOMY)
        assert made is not None and made.sorted_exit is looks
