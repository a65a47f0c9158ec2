"""What cannot work, as far as it is the same in every algorithm: single choices, and kernels, against the device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.core.device import Device

Problem = tuple[str, str, str]
"""(key, what is wrong, what would be right)"""


def subgroup(values: Mapping[str, Any], device: Device, without: str) -> Iterator[Problem]:
    """Yield what is wrong with the subgroup's width; `without` is what to give where there is no shuffle."""
    width = values.get("subgroup", 1)
    widths = [w for w in device.subgroups if w > 1]
    if width > 1 and not device.shuffle:
        yield "subgroup", "this device has no shuffle", without
    elif width > 1 and width not in widths:
        hint = f"give 1 or one of {', '.join(map(str, widths))}" if widths else "give 1"
        yield "subgroup", f"this device has no subgroups of {width}", hint


def launch(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Yield what is wrong with the work-group, and with a coordination that needs forward progress."""
    if values.get("work_group", 1) > device.work_group:
        what = f"{values['work_group']} lanes exceed the work-group limit of {device.work_group}"
        yield "work_group", what, f"give at most {device.work_group}"
    if values.get("coordination") == "lookback" and not device.forward_progress:
        what = 'looking back needs a device that goes on with what it began (device.progress = "started")'
        yield "coordination", what, 'give "scan"'
