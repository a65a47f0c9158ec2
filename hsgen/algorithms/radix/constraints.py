"""What cannot work: the choices of a radix sort against the device's facts and its own arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import finish_plan, grid, msd_plan
from hsgen.algorithms.radix.kernels import kernels
from hsgen.algorithms.radix.params import Params
from hsgen.core.device import Device


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield what is wrong with single values, whatever the others are."""
    yield from device_constraints.subgroup(values, device, 'give 1, and the ranker "flags", "split" or "serial"')
    yield from device_constraints.launch(values, device)


def problems(p: Params, device: Device) -> list[Problem]:
    """Return what is wrong with a shape as a whole, all of it at once."""
    values = {"subgroup": p.subgroup, "work_group": p.work_group, "coordination": p.coordination}
    found = [*alone(values, device), *(_serial(p) if p.serial else _tiled(p)), *grid.problems(p, device)]
    found += _exit(p)
    found += [*msd_plan.problems(p, device), *finish_plan.problems(p, device)] if not found else ()
    if not found:
        found += _device(p, device)
    return found


def _serial(p: Params) -> Iterator[Problem]:
    if p.subgroup > 1 and p.work_group != p.subgroup:
        what = f"a subgroup that walks a chunk is a work-group, {p.work_group} lanes are not {p.subgroup}"
        yield "work_group", what, f"give {p.subgroup}, or a subgroup of 1: every lane then walks its own chunk"
    if p.coordination == "lookback":
        yield "coordination", "chunks of the serial ranker are counted first", 'give "scan"'
    if p.folded and p.groups > 256:
        yield "groups", f"each of {p.groups} lanes would sum {p.groups} columns of counts", "give at most 256"
    if p.large:
        yield "large", "the serial ranker counts in 32 bits", "leave it out, or choose another ranker"
    if p.stream_from and p.work_group > 1:
        yield "stream_from", "only work-groups of one lane collect keys", "leave it out, or give a work_group of 1"


def _exit(p: Params) -> Iterator[Problem]:
    if p.sorted_exit and (p.coordination == "grid" or (p.serial and p.subgroup > 1)):
        what = "work-groups that wait for each other" if p.coordination == "grid" else "subgroups that walk chunks"
        yield "sorted_exit", f"{what} do not look whether keys are in order", "leave it out"


def _tiled(p: Params) -> Iterator[Problem]:
    matching = p.ranker in ("ballot", "broadcast")
    if matching and p.subgroup == 1:
        yield "subgroup", f"the ranker {p.ranker} needs subgroups", "give their width, or another ranker"
    elif not matching and p.subgroup > 1:
        yield "subgroup", f"the ranker {p.ranker} uses no subgroup operations", "give 1"
    elif p.work_group % p.subgroup:
        yield "work_group", f"{p.work_group} lanes are no whole subgroups", f"give a multiple of {p.subgroup}"
    if p.ranker == "broadcast" and p.subgroup > 32:
        yield "ranker", f"comparing with {p.subgroup} lanes one by one does not pay", 'give "ballot"'
    if p.items > 64:
        yield "items", f"{p.items} keys do not fit the registers of a lane", "give at most 64"
    if p.single is not None and p.single > p.tile:
        yield "single", f"one work-group holds {p.tile} keys", f"give at most {p.tile}"
    if p.stream_from:
        yield "stream_from", "only the serial ranker collects keys", 'leave it out, or choose the ranker "serial"'
    if p.sets & (p.sets - 1):
        yield "sets", f"{p.sets} is not a power of two", "give one, up to 32"
    if p.tile > 65535:
        yield "items", f"a tile of {p.tile} keys is too large", f"give at most {65535 // p.work_group}"


def _device(p: Params, device: Device) -> Iterator[Problem]:
    for kernel in kernels(p):
        need = kernel.local_bytes(p.key)
        if need > device.local_bytes:
            what = f"{kernel.name} needs {need} bytes of local memory, the device has {device.local_bytes}"
            own = {"histogram": "bits", "bucket": "bucket_items", "bucket_rest": "bucket_items"}
            key = own.get(kernel.name, "msd_items" if kernel.name.startswith("msd_") else "items")
            yield key, what, "give fewer bits, items or lanes"
            return
