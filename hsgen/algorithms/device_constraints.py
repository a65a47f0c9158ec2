"""Checks of parameters against the limits and features of a device, for several algorithms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.core.device import Device

Problem = tuple[str, str, str]
"""The table key of the parameter, a description of the problem, and a remedy."""


def subgroup(values: Mapping[str, Any], device: Device, without: str) -> Iterator[Problem]:
    """Yield a problem if the device does not have the subgroup width in `values`, or has no shuffles for it.

    without: the remedy for a device without shuffles.
    """
    width = values.get("subgroup", 1)
    widths = [w for w in device.subgroups if w > 1]
    if width > 1 and not device.shuffle:
        yield "subgroup", "this device has no shuffle", without
    elif width > 1 and width not in widths:
        hint = f"give 1 or one of {', '.join(map(str, widths))}" if widths else "give 1"
        yield "subgroup", f"this device has no subgroups of {width}", hint


def grid(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield a problem if the number of work-groups in `values` exceeds the device's limit for a grid."""
    if values.get("groups", 1) > device.groups:
        problem = f"{values['groups']} work-groups exceed the limit of {device.groups} in one dimension"
        yield "groups", problem, f"give at most {device.groups}"


def tile(tile: int, usual: int, most: int, device: Device) -> Iterator[Problem]:
    """Yield a problem if tiles of `tile` items are so small that the device's largest grid cannot cover `most` items.

    usual: the default number of items in a tile, which is accepted on every device.
    """
    least = min(usual, -(-most // device.groups))
    if tile < least:
        problem = f"{device.groups} work-groups reach {tile * device.groups} items only"
        yield "tile", problem, f"give at least {least}"


def powers(values: Mapping[str, Any], *names: str) -> Iterator[Problem]:
    """Yield a problem for each value among `names` that is not a power of two."""
    for name in names:
        value = values.get(name, 1)
        if value & (value - 1):
            low = 1 << value.bit_length() - 1
            yield name, f"{value} is not a power of two", f"give {low} or {2 * low}"


def launch(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield a problem if work-groups have too many lanes, or if look-back is chosen without forward progress.

    Decoupled look-back requires that the device lets started work-groups progress while others wait for them.
    """
    if values.get("work_group", 1) > device.work_group:
        problem = f"{values['work_group']} lanes exceed the work-group limit of {device.work_group}"
        yield "work_group", problem, f"give at most {device.work_group}"
    if values.get("coordination") == "lookback" and not device.forward_progress:
        problem = 'decoupled look-back requires forward progress of started work-groups (device.progress = "started")'
        yield "coordination", problem, 'give "scan"'
