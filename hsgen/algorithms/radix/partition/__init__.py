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

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bucket_shape, rankers, tile
from hsgen.algorithms.radix.hybrid.fields import KEYS
from hsgen.algorithms.radix.partition.kernels import kernels as kernels
from hsgen.algorithms.radix.partition.params import PASSES, Partition, capacity, most, passing
from hsgen.algorithms.radix.partition.plan import moved as moved
from hsgen.algorithms.radix.partition.plan import plan as plan
from hsgen.algorithms.radix.partition.plan import test_counts as test_counts
from hsgen.algorithms.search_space import Box
from hsgen.core.device import Device
from hsgen.core.keys import KeyType

_BUCKET = ("bucket_group", "bucket_items", "bucket_places")
FIELDS = {**rankers.FIELDS, "groups": tile.GROUPS, **tile.SINGLE, **{name: KEYS[name] for name in _BUCKET}, **PASSES}
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
    yield from _passing(p, device)


def _passing(p: Partition, device: Device) -> Iterator[Problem]:
    """Yield what cannot work with the tiles of passes over uneven keys."""
    lacking = [name for name in PASSES if not getattr(p, name)]
    if len(lacking) == 1:
        yield lacking[0], "tiles of passes have lanes and keys of each", f"give {', '.join(PASSES)}, or neither"
    elif not lacking:
        own = {"work_group": "pass_group", "items": "pass_items"}
        lanes = device_constraints.launch({"work_group": p.pass_group}, device)
        for key, what, remedy in (*lanes, *rankers.problems(passing(p))):
            if key in own:
                yield own[key], what, remedy


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield nothing: shapes of buckets are chosen by hand."""
    yield from ()


def fitted(p: Partition) -> Partition:
    """Return the shape for its key and form: with values a bucket, and a tile of passes, has room for fewer keys."""
    if not p.valued:
        return p
    bucket, tile = (x * p.key.held // (p.key.held + 4) for x in (p.bucket_items, p.pass_items))
    return replace(p, bucket_items=max(1, bucket), pass_items=max(1, tile) if p.pass_items else 0)


def notes(p: Partition) -> list[tuple[str, str]]:
    """Return derived values for people."""
    held = f"{p.bucket_group} lanes x {p.bucket_items} = {capacity(p)} keys at most"
    tried = f"up to {most(p)} keys; a bucket {held}, {p.bucket_places} places"
    passed = f"tiles of {p.pass_group} lanes x {p.pass_items} = {passing(p).tile} keys"
    return [
        *rankers.notes(p),
        *([("buckets", tried)] if p.dealt else []),
        *([("uneven keys", passed)] if p.pass_group else []),
    ]
