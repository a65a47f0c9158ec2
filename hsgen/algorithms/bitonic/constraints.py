"""Constraints of bitonic sorts: parameters against the device's facts and each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.bitonic.kernels import block_sort, clean
from hsgen.algorithms.bitonic.params import Params
from hsgen.algorithms.device_constraints import Problem
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.networks import pow2_ceil, pow2_floor


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield the problems of single values, independent of the others."""
    if (height := values.get("height", 2)) % 2:
        yield "height", f"{height} is odd", f"give an even number, {height - 1 or 2} or {height + 1}"
    yield from device_constraints.subgroup(values, device, "give 1, which uses local memory instead")


def problems(p: Params, device: Device) -> list[Problem]:
    """Return all problems of the parameters as a whole."""
    faults = [*alone({"height": p.height, "subgroup": p.subgroup}, device), *_shape(p), *_device(p, device)]
    if not faults:
        faults += _local(p, device)
    return faults


def _power(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def _shape(p: Params) -> Iterator[Problem]:
    if not _power(p.clean_slabs) or p.clean_slabs > pow2_ceil(p.slabs):
        yield (
            "clean_slabs",
            f"{p.clean_slabs} is not a power of two up to {pow2_ceil(p.slabs)}",
            f"give {pow2_floor(p.slabs)}",
        )
    elif not _power(p.stream_group) or p.stream_group % p.subgroup or p.stream_group > p.chunk:
        yield (
            "stream_group",
            f"{p.stream_group} is not a power of two between the subgroup ({p.subgroup}) and the "
            f"keys of a clean ({p.chunk})",
            f"give {min(256, p.chunk)}",
        )


def _device(p: Params, device: Device) -> Iterator[Problem]:
    for key, lanes in (
        ("slabs", p.slabs * p.subgroup),
        ("clean_slabs", p.clean_slabs * p.subgroup),
        ("stream_group", p.stream_group),
    ):
        if lanes > device.work_group:
            yield (
                key,
                f"{lanes} lanes exceed the work-group limit of {device.work_group}",
                f"give at most {device.work_group // (1 if key == 'stream_group' else p.subgroup)}",
            )


def _local(p: Params, device: Device) -> Iterator[Problem]:
    for key, need in (("slabs", block_sort(p, p.slabs)), ("clean_slabs", clean(p))):
        if need.local_bytes(p.key) > device.local_bytes:
            problem = f"{need.name} needs {need.local_bytes(p.key)} bytes of local memory, the device has"
            fit = _greatest_fit(p, key, device.local_bytes)
            hint = f"give at most {fit}" if fit else "give a smaller height, or remove the table"
            yield key, f"{problem} {device.local_bytes}", hint


def _greatest_fit(p: Params, key: str, room: int) -> int:
    """The greatest value of slabs or clean_slabs, below that of p, whose kernel fits `room` bytes; 0 if no value fits.

    The search is by bisection, because tuning calls it for thousands of shapes that do not fit.
    """

    def fits(value: int) -> bool:
        return _need(p, key, value).local_bytes(p.key) <= room

    high: int = getattr(p, key)
    if key == "clean_slabs":
        while high > 1 and not fits(high // 2):
            high //= 2
        return high // 2
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _need(p: Params, key: str, value: int) -> Kernel:
    """The kernel whose local memory slabs or clean_slabs determine."""
    return block_sort(replace(p, slabs=value), value) if key == "slabs" else clean(replace(p, clean_slabs=value))
