"""Checks of the parameters of a bitonic sort, their search space, and their adaptation to a key width and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.bitonic.kernels import block_sort, clean, kernels, row_block
from hsgen.algorithms.bitonic.params import Params
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType, Signature
from hsgen.core.networks import pow2_ceil, pow2_floor

LEAST_BLOCK = 256  # the keys of a run that a sequential lane sorts in registers


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Check each value of a target table by itself, and yield the problems."""
    if (height := values.get("height", 2)) % 2:
        yield "height", f"{height} is odd", f"give an even number, {height - 1 or 2} or {height + 1}"
    yield from device_constraints.subgroup(values, device, "give 1, which uses local memory instead")


def problems(p: Params, device: Device) -> list[Problem]:
    """Check complete parameters; return all problems.  Local memory is checked only if there is no other problem."""
    faults = [
        *alone({"height": p.height, "subgroup": p.subgroup}, device),
        *_shape(p),
        *_device(p, device),
        *_row_block(p, device),
    ]
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


def _row_block(p: Params, device: Device) -> Iterator[Problem]:
    if p.row_block is None:
        return
    if p.path_from is None or p.path_from > p.block:
        yield "row_block", f"needs path_from of at most a block, {p.block}", f"give path_from = {p.block}"
    elif not _power(p.block) or not _power(p.row_block) or p.row_block < p.block or p.block < LEAST_BLOCK:
        yield (
            "row_block",
            f"{p.row_block} is not a power of two from a block ({p.block}) on, of at least {LEAST_BLOCK} keys",
            f"give {pow2_ceil(max(p.block, LEAST_BLOCK))}",
        )
    else:
        need = row_block(replace(p, path_walks=True)).local_bytes(p.key)
        if need > device.local_bytes:
            problem = f"row_block needs {need} bytes of local memory, the device has {device.local_bytes}"
            yield "row_block", problem, f"give at most {p.row_block // 2}"


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
    """Return the greatest `slabs` or `clean_slabs` with which the kernel fits local memory; 0 if there is none.

    Only values below that of `p` are tried.  The search is a bisection, because `hsgen tune` calls the function for
    thousands of parameters that do not fit.
    key: "slabs", for the block sort, or "clean_slabs", for the clean.
    room: the local memory of the device in bytes.
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
    """Return the block sort with `slabs` = `value` if `key` is "slabs", else the clean with `clean_slabs` = `value`."""
    return block_sort(replace(p, slabs=value), value) if key == "slabs" else clean(replace(p, clean_slabs=value))


# With more than 32 rows, compilers take minutes for the kernels, which have no loops, and lanes have too few registers.
_HEIGHTS = (2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32)
_SCALES = (1, 2, 3, 4, 5)
_PADS = (0, 1, 2, 4, 8, 16, 17)


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return a search region for each subgroup width, and one without subgroup operations."""
    widths = [1, *(w for w in device.subgroups if w > 1)] if device.shuffle else [1]
    return tuple(_box(width, device) for width in widths)


def _box(width: int, device: Device) -> Box:
    most = max(1, device.work_group // width)
    return {
        "subgroup": (width,),
        "height": _HEIGHTS,
        "slabs": steps(1, min(most, 8192), thirds=True),
        "clean_slabs": steps(1, min(most, 8192)),
        "local_scale": _SCALES,
        "flip_scale": _SCALES,
        "half_scale": _SCALES,
        "stream_group": steps(max(16, width), min(1024, device.work_group)),
        "bank_pad": _PADS,
        "exchange": ("minmax", "select"),
    }


def specialize(p: Mapping[str, Params], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature; None if such a sort is not supported.

    Keys must have at least 32 bits, and the target must have a table for the key width.  The kernels must fit local
    memory.

    Packed elements are compared as a whole, the key and its value, so their sort is not stable.  With values, kernels
    merge pairs of a key and its original index, which are twice as large as a key.  Pairs with 32-bit keys therefore
    use the target's table for u64, if it exists and has the same subgroup width.  All other pairs use the table for the
    key width, but with half as many rows.
    p: the parameters in the target's tables for bitonic sorts, by key width.
    """
    if key.bytes < 4:
        return None
    table = p.get(key.name)
    if signature.value_bytes:
        twice = p.get("u64") if key.bytes == 4 else None
        if table is not None:  # all algorithms of a sort have one subgroup width
            table = twice if twice is not None and twice.subgroup == table.subgroup else _halved(table)
    if table is None:
        return None
    walks = table.path_from is not None and device.local == "memory"
    shape = replace(table, key=key, signature=signature, path_walks=walks)
    while shape.lane_block > LEAST_BLOCK and _exceeds(shape, device):
        shape = replace(shape, row_block=shape.lane_block // 2)
    while _exceeds(shape, device) and shape.slabs > 1:
        shape = replace(shape, slabs=shape.slabs // 2, clean_slabs=max(1, shape.clean_slabs // 2))
        shape = replace(shape, stream_group=min(shape.stream_group, shape.chunk))
    if _exceeds(shape, device):
        shape = replace(shape, bank_pad=0)
    return None if _exceeds(shape, device) else shape


def _exceeds(p: Params, device: Device) -> bool:
    """Whether a kernel needs more local memory than the device has."""
    return any(k.local_bytes(p.key) > device.local_bytes for k in kernels(p))


def _halved(p: Params) -> Params:
    """Return the parameters with half as many rows per lane."""
    shape = replace(
        p,
        height=max(2, p.height // 4 * 2),
        local_scale=max(1, p.local_scale - 1),
        flip_scale=max(1, p.flip_scale - 1),
        half_scale=max(1, p.half_scale - 1),
        exchange="select",
        row_block=p.row_block and max(p.row_block // 2, LEAST_BLOCK),
    )
    return replace(shape, stream_group=max(p.subgroup, min(shape.stream_group, pow2_floor(shape.chunk))))
