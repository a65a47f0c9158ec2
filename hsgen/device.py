"""The facts about a device that choices are checked against."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Facts of a device family, as the table ``[device]`` of a target gives them; sizes in bytes."""

    subgroups: tuple[int, ...]
    shuffle: bool
    work_group: int
    groups: int
    local_bytes: int
    int64: bool
    storage8: bool
    storage16: bool
    binding_bytes: int
    progress: str
    vulkan: str = "1.1"
