"""Sorts by one partition without a device: tables with mistakes are rejected, and passes over uneven keys have tiles of
their own.

- Every mistake in the tiles of passes is named by its key, once.
- These tiles decide the grid of the launch, the scratch memory and the counts of tests; the other launches do not
  change.
- With values a lane has as many pairs as take the room of its keys.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sorts import ROOMY, sort_by

from hsgen.algorithms import radix
from hsgen.algorithms.radix import partition
from hsgen.algorithms.radix.partition.params import passing, words
from hsgen.algorithms.radix.specialize import specialize
from hsgen.core.interpreter import launches
from hsgen.core.keys import KEYS, VALUES, Signature
from hsgen.core.records import built, changed

PROMISED = replace(ROOMY, progress="guaranteed")
OWN: dict[str, Any] = {"uneven.work_group": 16, "uneven.items": 24}


def shape(key: str = "u32", **values: Any) -> partition.Params:
    """Return a shape of tiles of 128 keys; `values` are other choices."""
    small: dict[str, Any] = {"bits": 8, "items": 4, "work_group": 32, "subgroup": 8, "groups": 96, "single": 0}
    small |= {"ranker": "match_ballot", "bucket.work_group": 8, "bucket.items": 8, "bucket.bins": 16}
    found: partition.Params = built(partition.Params, {"key": KEYS[key], "redo": False, **small, **values})
    return found


BAD: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"uneven.work_group": 12}, "uneven.work_group", {"uneven.work_group": 16}),
    ({"uneven.work_group": 16384, "uneven.items": 3}, "uneven.work_group", {"uneven.work_group": 16}),
    ({"uneven.items": 65}, "uneven.items", {"uneven.items": 64}),
    ({"uneven.work_group": 2048, "uneven.items": 32}, "uneven.items", {"uneven.items": 31}),
]


@pytest.mark.parametrize(("wrong", "key", "right"), BAD)
def test_every_mistake_is_named_once(wrong: dict[str, Any], key: str, right: dict[str, Any]) -> None:
    p = shape(**{**OWN, **wrong})
    assert [where for where, _, _ in radix.problems(p, PROMISED)] == [key]
    assert radix.problems(changed(p, right), PROMISED) == []


@pytest.mark.parametrize(("wrong", "key"), [({}, "items"), (OWN, "uneven.items")])
def test_local_memory_must_hold_a_tile_of_passes(wrong: dict[str, Any], key: str) -> None:
    p = shape(**wrong)
    need = {k.name: k.local_bytes(p.key) for k in radix.kernels(p)}
    tight = replace(PROMISED, local_bytes=need["partition_rest"] - 1)
    assert need["partition_rest"] == max(need.values())
    assert [where for where, _, _ in radix.problems(p, tight)] == [key]


def test_local_memory_must_hold_a_bucket() -> None:
    p = shape(**{"bucket.bins": 8192})
    assert [where for where, _, _ in radix.problems(p, replace(PROMISED, local_bytes=30000))] == ["bucket.items"]


@pytest.mark.parametrize("own", [{"uneven.work_group": 16, "uneven.items": 2}, {}, OWN])
@pytest.mark.parametrize("value", ["none", "v4"])
def test_tiles_of_passes_decide_the_grid_and_the_scratch(own: dict[str, Any], value: str) -> None:
    plain, p = (replace(shape(**more), signature=Signature(value=value)) for more in ({}, own))
    sort, usual = sort_by("radix", p, p.signature), sort_by("radix", plain, p.signature)
    tile = own["uneven.work_group"] * own["uneven.items"] if own else plain.tile
    assert passing(p).tile == tile
    for n in (1, tile - 1, tile, tile + 1, 10 * tile + 1, 1_000_000):
        made, others = (list(launches(x.plan, n, in_place=False)) for x in (sort, usual))
        assert [x.groups for x in made[:-1]] == [x.groups for x in others[:-1]]
        assert made[-1].step.kernel == "partition_rest" and made[-1].groups == min(-(-n // tile), p.groups)
        rows = max(-(-n // tile), min(-(-n // p.tile), p.groups))
        size = n * (4 + p.signature.value_bytes) + 4 * words(p).tile_states.start + 4 * p.radix * rows
        assert sort.plan.scratch.bytes(n) >= size


def test_tests_cover_the_ends_of_both_tiles() -> None:
    found = radix.test_counts(shape(**OWN), 20_000)
    assert {128, 256, 384, 768} <= set(found)
    assert dict(radix.notes(shape(**OWN)))["uneven keys"] == "tiles of 16 lanes x 24 = 384 keys"
    assert "uneven keys" not in dict(radix.notes(shape()))


def test_values_take_the_room_of_keys() -> None:
    for value in VALUES:
        if value == "packed":
            continue
        p = specialize({"u32": shape(**OWN)}, KEYS["u32"], Signature(value=value), PROMISED)
        assert isinstance(p, partition.Params)
        valued = value != "none"
        assert p.bucket and p.uneven
        assert (p.bucket.items, p.uneven.items) == ((4, 12) if valued else (8, 24)), value
    usual = specialize({"u32": shape()}, KEYS["u32"], Signature(value="v4"), PROMISED)
    assert isinstance(usual, partition.Params) and usual.uneven is None
