"""The class `Host`, which describes a device of this machine, such as a GPU.

The module imports little, because every program with an array library imports the module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A device of this machine.

    handle: pyopencl's object for the device, or the index of the device in the list of hsgen's C runtime.
    widths: the subgroup widths that a kernel can require; None if only a trial compilation can determine them.
    number: the position, from 1, among the devices of the same name, platform and driver, in the order of the API's
    list.
    more: further properties by name, such as "cores", which the harness of the C runtime reports
    (`hsgen.engines.query`).
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
        """The text by which messages name the device.  No two devices of an API have the same label."""
        which = f" #{self.number}" if self.number > 1 else ""
        return f"{self.name} ({self.platform}, {self.driver}){which}"


def numbered(devices: Sequence[Host]) -> list[Host]:
    """Return the devices, each with its `Host.number`."""
    count: Counter[str] = Counter()
    out = []
    for host in devices:
        plain = replace(host, number=1)
        count[plain.label] += 1
        out.append(replace(plain, number=count[plain.label]))
    return out
