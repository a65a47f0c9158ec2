"""Parameter records of radix sorts: few fields of their own, stages in records, and names of tables that match."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any

import pytest

from hsgen.algorithms.group_by import pair_partition
from hsgen.algorithms.radix import STRATEGIES, stages
from hsgen.algorithms.radix.tile import Request, Tile
from hsgen.core import records
from hsgen.core.keys import KEYS

MOST = 8
"""Fields that a record declares itself, at most."""


def lineage(of: type[Any]) -> list[type[Any]]:
    """Return a parameter class, its bases, and the classes of its records."""
    own = [f.metadata[records.RECORD] for f in fields(of) if records.RECORD in f.metadata]
    return [x for x in (*of.__mro__, *(base for x in own for base in x.__mro__)) if is_dataclass(x)]


EVERY = dict.fromkeys(x for module in STRATEGIES.values() for x in lineage(module.Params))


@pytest.mark.parametrize(
    "of",
    [*EVERY, pair_partition.Shape, pair_partition.Table, pair_partition.Digits, pair_partition.Sample],
    ids=lambda x: x.__name__,
)
def test_a_record_has_few_fields_of_its_own(of: type[Any]) -> None:
    inherited = {f.name for base in of.__mro__[1:] if is_dataclass(base) for f in fields(base)}
    assert len([f for f in fields(of) if f.name not in inherited]) <= MOST
    assert {Request, Tile, stages.PairBucket} <= set(EVERY)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_key_of_a_table_has_a_field(name: str) -> None:
    module = STRATEGIES[name]
    assert set(module.FIELDS) <= records.names(module.Params)


def test_a_table_becomes_records_and_back() -> None:
    of = STRATEGIES["hybrid"].Params
    table = {"key": KEYS["u32"], "bits": 8, "items": 4, "work_group": 32, "ranker": "bitmask"}
    bucket = {"bucket.work_group": 64, "bucket.items": 5, "bucket.bins": 256}
    p = records.built(of, {**table, **bucket})
    assert p.bucket == stages.Bucket(work_group=64, items=5, bins=256) and p.partition is p.pair_bucket is None
    found = records.flat(p)
    assert bucket.items() <= found.items() and not any(x.startswith("partition") for x in found)
    assert records.built(of, found) == p
    assert records.changed(p, {"bucket.items": 6}).bucket.items == 6
    assert records.changed(p, {"bucket": None}).bucket is None
    with pytest.raises(FrozenInstanceError):
        p.bucket.items = 7


def test_the_bounds_of_buckets_follow_from_their_sizes() -> None:
    """Those of nvidia-hopper: a mean of 13/16 of the size, and as many shared bits as number the slots."""
    bucket = stages.PairBucket(work_group=256, items=11, bins=2048)
    assert (bucket.size, bucket.limit, bucket.slot_bits) == (2816, 2288, 12)
    assert bucket.least == bucket.start == 2288 << 11 == 4685824
    full = stages.PairBucket(work_group=512, items=34, bins=4096, mean=16416)
    assert (full.limit, full.least) == (16416, 268959744)
    assert stages.PairBucket(work_group=256, items=11, bins=2048, above=5 << 20).start == 5 << 20
