"""A stable pass by the highest digit, then buckets sorted on chip: few launches, for thousands to a few million keys.

In the first launch, each work-group counts the highest digit of its keys.  If there are many work-groups, a second
launch scans these counts.  The next launch partitions the keys: it moves them to one bucket for each value of the
highest digit.  In the launch after it, each work-group sorts one bucket on chip.

Keys are called *uneven* if a bucket would get more keys than a work-group holds.  The launches above do not move uneven
keys.  The last launch, the fallback, sorts uneven keys by passes with look-back over all digits.  All passes run in
this one launch: the work of all passes is numbered, and a work-group draws one number after another.  A work-group
waits only for work with lower numbers, which other work-groups have drawn before.  A device with guaranteed forward
progress finishes this work, so no work-group waits forever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bucket_shape, rankers, stages, tile
from hsgen.algorithms.radix.partition.kernels import kernels as kernels
from hsgen.algorithms.radix.partition.params import Partition, most, passing
from hsgen.algorithms.radix.partition.plan import moved as moved
from hsgen.algorithms.radix.partition.plan import plan as plan
from hsgen.algorithms.radix.partition.plan import test_counts as test_counts
from hsgen.algorithms.radix.stages import Bucket, Tiles
from hsgen.algorithms.search_space import Box
from hsgen.core.device import Device
from hsgen.core.keys import KeyType

FIELDS = {**rankers.FIELDS, "groups": tile.GROUPS, **tile.SINGLE, **stages.BUCKET, **stages.UNEVEN}
Params = Partition
T = TypeVar("T", bound=Tiles)


def problems(p: Partition, device: Device) -> Iterator[Problem]:
    """Yield the problems of the parameters on a device."""
    yield from rankers.problems(p)
    if not device.promised:
        problem = "its passes wait for work-groups that have begun, however long that takes"
        yield "", problem, 'choose another strategy, or describe a device with progress = "guaranteed"'
    if p.ranker not in ("match_ballot", "match_broadcast"):
        yield "ranker", f"buckets are not sorted by {p.ranker}", 'give "match_ballot" or "match_broadcast"'
    if p.bucket is None:
        yield "bucket", "keys are partitioned into buckets", "give bucket = { work_group, items, bins }"
        return
    yield from bucket_shape.problems(p.bucket, p.subgroup, device, "bucket", p.bucket.bins)
    if p.uneven:
        fields = {"work_group": "uneven.work_group", "items": "uneven.items"}
        lanes = device_constraints.launch({"work_group": p.uneven.work_group}, device)
        for key, problem, remedy in (*lanes, *rankers.problems(passing(p))):
            if key in fields:
                yield fields[key], problem, remedy


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield no search region: `hsgen tune` does not search the parameters of this strategy."""
    yield from ()


def fitted(p: Partition) -> Partition:
    """Return the parameters; for keys with values, lanes get fewer keys in the stages `bucket` and `uneven`."""
    if not p.valued:
        return p
    bucket, uneven = p.bucket and _fewer(p, p.bucket), p.uneven and _fewer(p, p.uneven)
    return replace(p, bucket=bucket, uneven=uneven)


def _fewer(p: Partition, tiles: T) -> T:
    """Return `tiles` with so many keys per lane that keys and 4 bytes per key fit the local memory of keys alone."""
    return replace(tiles, items=max(1, tiles.items * p.key.held // (p.key.held + 4)))


def notes(p: Partition) -> list[tuple[str, str]]:
    """Return (name, text) pairs for `hsgen show`: the ranker, and the sizes of buckets and of tiles of uneven keys."""
    return [
        *rankers.notes(p),
        *([("buckets", _tried(p, p.bucket))] if p.partitioned and p.bucket else []),
        *([("uneven keys", _passed(p, p.uneven))] if p.uneven else []),
    ]


def _tried(p: Partition, bucket: Bucket) -> str:
    size = f"{bucket.work_group} lanes x {bucket.items} = {bucket.size} keys at most"
    return f"up to {most(p)} keys; a bucket {size}, {bucket.bins} bins"


def _passed(p: Partition, uneven: Tiles) -> str:
    return f"tiles of {uneven.work_group} lanes x {uneven.items} = {passing(p).tile} keys"
