"""One stable pass by the highest digit, then buckets on chip: few launches for thousands of keys up to a few millions.

A launch counts the highest digit of the keys of each work-group; another one scans these counts where they are many;
the next one moves the keys by that digit, and the last one sorts each bucket on chip.  Uneven keys, of which a bucket
would get more than a work-group holds, are not moved, but sorted by passes with look-back over all digits in one
launch: its work-groups draw what is to be done in order, and wait only for what others have begun, which a device with
guaranteed forward progress finishes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bucket_shape, rankers, tile
from hsgen.algorithms.radix.hybrid.params import KEYS
from hsgen.algorithms.radix.partition.kernels import kernels as kernels
from hsgen.algorithms.radix.partition.params import Partition, capacity, most
from hsgen.algorithms.radix.partition.plan import moved as moved
from hsgen.algorithms.radix.partition.plan import plan as plan
from hsgen.algorithms.radix.partition.plan import test_counts as test_counts
from hsgen.algorithms.search_space import Box
from hsgen.core.device import Device
from hsgen.core.keys import KeyType

_BUCKET = ("bucket_group", "bucket_items", "bucket_places")
FIELDS = {**rankers.FIELDS, "groups": tile.GROUPS, **tile.SINGLE, **{name: KEYS[name] for name in _BUCKET}}
Params = Partition


def problems(p: Partition, device: Device) -> Iterator[Problem]:
    """Yield what cannot work."""
    yield from rankers.problems(p)
    if not device.promised:
        what = "its passes wait for work-groups that have begun, however long that takes"
        yield "", what, 'choose another strategy, or describe a device with progress = "guaranteed"'
    if p.ranker not in ("match_ballot", "match_broadcast"):
        yield "ranker", f"buckets are not sorted by {p.ranker}", 'give "match_ballot" or "match_broadcast"'
    lacking = [name for name in _BUCKET if not getattr(p, name)]
    if lacking:
        yield lacking[0], "keys are partitioned into buckets", f"give {', '.join(_BUCKET)}"
        return
    yield from bucket_shape.problems(p, device, "bucket", places=True)


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield nothing: shapes of buckets are chosen by hand."""
    yield from ()


def fitted(p: Partition) -> Partition:
    """Return the shape for its key and form: with values a bucket has room for fewer keys."""
    if not p.valued:
        return p
    return replace(p, bucket_items=max(1, p.bucket_items * p.key.held // (p.key.held + 4)))


def notes(p: Partition) -> list[tuple[str, str]]:
    """Return derived values for people."""
    held = f"{p.bucket_group} lanes x {p.bucket_items} = {capacity(p)} keys at most"
    tried = f"up to {most(p)} keys; a bucket {held}, {p.bucket_places} places"
    return [*rankers.notes(p), *([("buckets", tried)] if p.dealt else [])]
