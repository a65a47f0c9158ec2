"""A device of this machine, as a value; the module imports little, because every program with an array library does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A device of this machine.

    `handle` is pyopencl's object, or the device's number if hsgen's C runtime drives the device.  `widths` are the
    widths of subgroups that a kernel can require; None if only a compilation shows them.  `number` counts equal devices
    in the order in which the API lists them.  `more` are further properties that the C runtime's harness reports
    (`query.properties`).
    """

    api: str = "opencl"
    platform: str
    name: str
    driver: str
    version: str
    type: str
    vendor: int
    work_group: int
    local_bytes: int
    shuffle: bool
    ballot: bool = False
    handle: Any
    compute: int = 0
    int64: bool = True
    widths: tuple[int, ...] | None = None
    number: int = 1
    more: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def label(self) -> str:
        """The name of the device for users; the devices of an API have different labels."""
        which = f" #{self.number}" if self.number > 1 else ""
        return f"{self.name} ({self.platform}, {self.driver}){which}"


def numbered(devices: Sequence[Host]) -> list[Host]:
    """Return devices with their numbers among devices of equal name, platform and driver."""
    count: Counter[str] = Counter()
    out = []
    for host in devices:
        plain = replace(host, number=1)
        count[plain.label] += 1
        out.append(replace(plain, number=count[plain.label]))
    return out
