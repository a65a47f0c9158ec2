"""Checks of the parameters of a prefix sum, their search space, and parameters for sums without a target table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import gcd
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.scan.kernels import kernels
from hsgen.algorithms.scan.params import VECTOR, Params
from hsgen.algorithms.scan.rule import rows
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature

FOLDED = 1024  # the most sums of earlier lanes that a sequential lane adds up
LEAST = 16  # the least rows of a tile that looks back: smaller tiles would need too many states in scratch


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Check each value of a target table by itself, and yield the problems."""
    yield from device_constraints.launch(values, device)
    yield from device_constraints.subgroup(values, device, 'give another coordination than "sections"')
    if values.get("coordination") == "sections" and not device.promised:
        problem = 'sections require forward progress of work-groups (device.progress = "guaranteed")'
        yield "coordination", problem, 'give "lookback" or "scan"'


def problems(p: Params, device: Device) -> list[Problem]:
    """Check complete parameters; return all problems.  Local memory is checked only if there is no other problem."""
    values = {"work_group": p.work_group, "coordination": p.coordination, "subgroup": p.subgroup}
    faults = [*alone(values, device), *(_sections(p) if p.sections else ())]
    if p.local and not p.sections:
        faults.append(
            ("local", f'"{p.coordination}" has its tiles in local memory', 'leave it out, or give "sections"')
        )
    if p.ahead and not p.local:
        faults.append(("ahead", "only tiles in local memory are prefetched", "leave it out, or give local = true"))
    if p.serial and not p.looks and p.groups > FOLDED:
        problem = f"each of {p.groups} lanes would add up the sums of all preceding lanes"
        faults.append(("groups", problem, f"give at most {FOLDED}, or a larger work_group"))
    if not p.serial and p.work_group < p.columns:
        faults.append(
            ("work_group", f"{p.work_group} lanes are fewer than the columns", f"give 1, or {p.columns} or more")
        )
    if p.states and p.tile < LEAST:
        faults.append(("items", f"a tile of {p.tile} rows is too small to look back", f"give {LEAST} rows or more"))
    return faults or _device(p, device)


def _sections(p: Params) -> Iterator[Problem]:
    """Yield the problems that only parameters with the coordination "sections" have."""
    if p.columns > VECTOR:
        yield "columns", f"sections have rows of at most {VECTOR} elements", 'give another coordination than "sections"'
    if p.subgroup == 1 or p.work_group % p.subgroup:
        problem = f"{p.work_group} lanes are no subgroups of {p.subgroup}"
        yield "subgroup", problem, "give a width of the device, and a multiple of it as work_group"
    if p.items * p.columns % VECTOR:
        problem = f"{p.items} rows of {p.columns} elements are no vectors of {VECTOR}"
        yield "items", problem, f"give a multiple of {VECTOR // gcd(VECTOR, p.columns)}"
    if p.section > p.work_group:
        yield "section", f"{p.section} tiles exceed the {p.work_group} lanes that read states", "give fewer tiles"


def _device(p: Params, device: Device) -> list[Problem]:
    for kernel in kernels(p):
        need = kernel.local_bytes(p.key)
        if need > device.local_bytes:
            problem = f"{kernel.name} needs {need} bytes of local memory, the device has {device.local_bytes}"
            return [("items", problem, "give fewer items or lanes")]
        if kernel.work_group > device.work_group:
            problem = f"{kernel.name} has {kernel.work_group} lanes, the device allows {device.work_group}"
            return [("work_group", problem, f"give a device of at least {kernel.work_group}")]
    return []


LEAST_SUBGROUP = 4
"""The least subgroup width for which a search tries "sections"."""

LEAST_WORK_GROUP = 64
"""The least number of lanes of a work-group for which a search tries "sections"."""


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return the search regions.

    There is one region for work-groups of several lanes, and one for sequential lanes.  For the coordination
    "sections", there are two regions for each subgroup width: tiles in registers, and tiles in local memory.
    """
    coordinations = ("scan", "lookback") if device.forward_progress else ("scan",)
    together = {
        "work_group": steps(16, min(1024, device.work_group)),
        "items": steps(1, 64, thirds=True),
        "groups": steps(16, min(device.groups, 32768)),
        "coordination": coordinations,
    }
    alone = {
        "work_group": (1,),
        "items": steps(64, 65536),
        "groups": steps(1, 1024),
        "coordination": coordinations,
    }
    return together, alone, *_registers(device), *_local(device)


def _registers(device: Device) -> list[dict[str, tuple[Any, ...]]]:
    """Return the search regions for the coordination "sections" with tiles in registers."""
    fits = device.promised and device.shuffle and device.work_group >= LEAST_WORK_GROUP
    widths = [w for w in device.subgroups if w >= LEAST_SUBGROUP] if fits else []
    return [
        {
            "work_group": steps(max(LEAST_WORK_GROUP, width), min(1024, device.work_group)),
            "items": steps(VECTOR, 64, thirds=True),
            "groups": (min(device.groups, 1024),),
            "coordination": ("sections",),
            "subgroup": (width,),
            "resident": (0, 1, 2, 3, 4),
        }
        for width in widths
    ]


def _local(device: Device) -> list[dict[str, tuple[Any, ...]]]:
    """Return the search regions for the coordination "sections" with tiles in local memory."""
    return [
        {
            **box,
            "work_group": steps(box["work_group"][0], box["work_group"][-1], thirds=True),
            "items": (9, 12, 18, 36),
            "section": (64, 128),
            "local": (True,),
            "ahead": (0, 64, 128),
            "resident": (0, 2, 3, 4, 6),
        }
        for box in _registers(device)
    ]


FLOATS = replace(PLAIN, floats=True)
"""The signature of a prefix sum of 32-bit floats."""

DERIVED = {f"scan-x{columns}{'ex' * ex}": (columns, bool(ex)) for columns in (1, 2, 3, 4) for ex in (0, 1)}
"""The prefix sums that need no target table, by label: (number of columns, whether sums are exclusive)."""

_SHARE = {"chip": (256, 64, 512), "memory": (64, 256, 64)}
"""The sizes for sums without a target table, by `Device.local`: "chip" on GPUs, "memory" on CPUs.

They are the number of lanes, the bytes of rows per lane, and the greatest number of work-groups.
"""


def specialize(p: Mapping[str, Params], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for an element width and a signature; None if the target has no table for the width.

    The plain signature is supported, and `FLOATS` for elements of 32 bits; for other signatures, the result is None.
    Sums of floats never use the coordination "lookback", which adds the sums of tiles in an order that depends on
    timing: "scan" replaces it.
    p: the parameters in the target's tables for prefix sums, by element width.
    """
    chosen = p.get(key.name)
    if chosen is None or signature not in (PLAIN, FLOATS) or (signature == FLOATS and key.bytes != 4):
        return None
    shape = replace(chosen, redo=not device.promised)
    if signature == PLAIN:
        return shape
    if shape.sections:  # sections add in the same order in every call
        return replace(shape, floats=True)
    groups = min(shape.groups, FOLDED) if shape.serial else shape.groups
    return replace(shape, floats=True, coordination="scan", groups=groups)


def derive(label: str, p: Mapping[str, Any], key: KeyType, device: Device) -> Params | None:
    """Return the parameters for a label of `DERIVED`; None if the device cannot add elements of this width.

    The parameters are those of the target's sum of one column, with the same number of elements per lane.  If the
    target has no such sum, the limits of the device determine them.  Rows per lane, and then lanes, are halved until
    the parameters have no problems.
    p: the parameters of the target for this width, by label.
    """
    if key.bytes < 4 or (key.bytes == 8 and not device.int64):
        return None
    columns, exclusive = DERIVED[label]
    chosen = p.get("scan-x1ex" if exclusive else "scan-x1")
    if isinstance(chosen, Params):
        first = replace(chosen, columns=columns, items=rows(chosen.items, columns, chosen.coordination))
    else:
        lanes, share, groups = _SHARE[device.local]
        first = Params(
            key=key,
            columns=columns,
            exclusive=exclusive,
            items=max(1, share // (columns * key.bytes)),
            work_group=1 << min(lanes, device.work_group).bit_length() - 1,
            groups=min(groups, device.groups),
            coordination="scan",
        )
    return next((shape for shape in _smaller(first) if not problems(shape, device)), None)


def _smaller(p: Params) -> Iterator[Params]:
    """Yield `p`, then `p` with its rows per lane halved again and again, down to 1, and then its lanes."""
    yield p
    while p.items > 1 or p.work_group > 1:
        p = replace(p, items=p.items // 2) if p.items > 1 else replace(p, work_group=p.work_group // 2)
        yield p
