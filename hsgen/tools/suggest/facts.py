"""Facts from which first shapes are suggested: those of a device, and quantities per lane and per core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from hsgen.apis import APIS
from hsgen.core.device import Device
from hsgen.targets.target import Target

NVIDIA = 0x10DE
_THREADS = 32  # of a core with an unknown number of threads: few enough for every GPU of the last ten years
_VECTOR = 64  # bytes of the widest registers of a CPU


class Choice(NamedTuple):
    """A value for a key of a target's table, and why, in plain ASCII text ("": it goes without saying)."""

    value: Any
    why: str


Table = dict[str, Choice]
"""A table of a target by its keys."""


def lessened(table: Table, name: str, value: Any) -> Choice:
    """Return a choice that needs less local memory than the one that a table has, or the same with its reason."""
    less = "less than the rule says, since local memory does not suffice"
    return Choice(value, table[name].why if table[name].value == value else less)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The known facts of a device or of a family of devices.

    cpu: it runs kernels on a CPU.  vendor: its number, 0 if it is not known.  ballot: lanes can vote, where they can
    exchange values.
    """

    device: Device
    apis: tuple[str, ...]
    cpu: bool = False
    vendor: int = 0
    ballot: bool = True

    @property
    def lone_lanes(self) -> bool:
        """Whether an API's CPU runtimes run a work-group of one lane as a plain loop."""
        return any(APIS[name].lone_lanes for name in self.apis)

    @property
    def key_pairs(self) -> bool:
        """Whether 64-bit keys are sorted without 64-bit integers."""
        return bool(self.apis) and all(APIS[name].key_pairs for name in self.apis)

    @property
    def widths(self) -> tuple[int, ...]:
        """Widths of subgroups that can exchange values, ascending."""
        found = [w for w in self.device.subgroups if 1 < w <= self.device.work_group and w & (w - 1) == 0]
        return tuple(sorted(set(found))) if self.device.shuffle else ()

    @property
    def narrow(self) -> bool:
        """Whether the lanes of a hardware thread share its registers: a compiler then chooses among narrow widths."""
        return not self.cpu and len(self.widths) > 1 and self.widths[0] <= 16

    @property
    def threads(self) -> int:
        """Subgroups that a core holds at once; a cautious number where it is not known."""
        return self.device.threads or _THREADS

    def width(self, size: int) -> Choice:
        """Return the subgroup's width for keys of `size` bytes; 1 without shuffles."""
        if not self.widths:
            return Choice(1, "lanes cannot exchange values: all goes through local memory")
        if self.cpu:
            return Choice(self._nearest(_VECTOR // size), f"a register of {8 * _VECTOR} bits, or the widest there is")
        if self.narrow:
            why = "lanes share the registers of a thread: half as many lanes for keys of twice the size"
            return Choice(self._nearest(64 // size), why)
        return Choice(self.widths[0], "the only width" if len(self.widths) == 1 else "the least width")

    def _nearest(self, wanted: int) -> int:
        """The greatest width up to `wanted`, or the least one."""
        return max((w for w in self.widths if w <= wanted), default=self.widths[0])

    def lane_registers(self, width: int) -> float | None:
        """Return the 32-bit registers of a lane of subgroups of `width` where a core is full; None: not known."""
        if self.device.registers is None or self.device.threads is None or width == 1:
            return None
        return self.device.registers / (self.device.threads * width)

    def resident(self, subgroups: int) -> int | None:
        """Return the work-groups of `subgroups` subgroups that the largest device holds at once; None: not known."""
        if self.device.cores is None:
            return None
        return self.device.cores * max(1, self.threads // max(1, subgroups))


def facts(target: Target) -> Facts:
    """Return what a target says of its devices."""
    vendors = target.match.vendors
    return Facts(
        device=target.device,
        apis=target.apis,
        cpu=target.match.types == ("cpu",),
        vendor=vendors[0] if len(vendors) == 1 else 0,
    )
