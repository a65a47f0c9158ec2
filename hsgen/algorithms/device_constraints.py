"""Constraints that all algorithms share: single parameters against the facts of the device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.core.device import Device

Problem = tuple[str, str, str]
"""(key, problem, remedy)"""


def subgroup(values: Mapping[str, Any], device: Device, without: str) -> Iterator[Problem]:
    """Yield the problems of the subgroup width; `without` is the remedy on devices without shuffles."""
    width = values.get("subgroup", 1)
    widths = [w for w in device.subgroups if w > 1]
    if width > 1 and not device.shuffle:
        yield "subgroup", "this device has no shuffle", without
    elif width > 1 and width not in widths:
        hint = f"give 1 or one of {', '.join(map(str, widths))}" if widths else "give 1"
        yield "subgroup", f"this device has no subgroups of {width}", hint


def launch(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield the problems of the work-group, and of a coordination that requires forward progress."""
    if values.get("work_group", 1) > device.work_group:
        what = f"{values['work_group']} lanes exceed the work-group limit of {device.work_group}"
        yield "work_group", what, f"give at most {device.work_group}"
    if values.get("coordination") == "lookback" and not device.forward_progress:
        what = 'decoupled look-back requires forward progress of started work-groups (device.progress = "started")'
        yield "coordination", what, 'give "scan"'
