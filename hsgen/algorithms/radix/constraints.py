"""Checks whether the parameters of a radix sort suit each other and the device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import strategies
from hsgen.algorithms.radix.hybrid.partition import Partitioning
from hsgen.algorithms.radix.tile import Tile
from hsgen.core import records
from hsgen.core.device import Device

_OWN = {
    "histogram": "bits",
    "bucket": "bucket.items",
    "bucket_rest": "bucket.items",
    "partition_bucket": "bucket.items",
    "partition_rest": "uneven.items",
}


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Check each value of a target table by itself, and yield the problems."""
    yield from _lanes(values, device)
    yield from strategies.misplaced(values)


def _lanes(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    yield from device_constraints.subgroup(values, device, 'give 1, and the ranker "bitmask" or "radix_split"')
    yield from device_constraints.launch(values, device)


def problems(p: Tile, device: Device) -> list[Problem]:
    """Return the problems of complete parameters.  The key "" means that the device cannot run the strategy at all.

    Local memory is checked only if there is no other problem.
    """
    values = {"subgroup": p.subgroup, "work_group": p.work_group}
    first = [*_lanes(values, device), *strategies.of(p).problems(p, device)]
    return first or list(_memory(p, device))


def _memory(p: Tile, device: Device) -> Iterator[Problem]:
    for kernel in strategies.of(p).kernels(p):
        need = kernel.local_bytes(p.key)
        if need > device.local_bytes:
            message = f"{kernel.name} needs {need} bytes of local memory, the device has {device.local_bytes}"
            partitions = isinstance(kernel.data, Partitioning)
            key = _OWN.get(kernel.name, "partition.items" if partitions else "items")
            yield key if key in records.flat(p) else "items", message, "give fewer bits, items or lanes"
            return
