"""The facts of a device from which shapes are suggested, and quantities of a lane and of a core derived from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from hsgen.apis import APIS
from hsgen.core.device import Device
from hsgen.targets.target import Target

NVIDIA = 0x10DE
_THREADS = 32  # subgroups that a core holds at once, if unknown; each GPU of the last ten years holds at least 32
_VECTOR = 64  # bytes of the widest vector registers of a CPU


class Choice(NamedTuple):
    """A value in a target's table, and the reason for it, in ASCII ("" if the value needs no reason)."""

    value: Any
    why: str


Table = dict[str, Choice]
"""A suggested table of a target: choices by the table's keys."""


def lessened(table: Table, name: str, value: Any) -> Choice:
    """Return a choice with a reduced `value` for the key `name`; the reason says that local memory does not suffice.

    If the value is that of the table, the table's reason is kept.
    """
    less = "less than the rule says, since local memory does not suffice"
    return Choice(value, table[name].why if table[name].value == value else less)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The known facts of a device or of a family of devices.

    cpu: the device is a CPU.  vendor: the vendor's number; 0 if unknown.  ballot: lanes can vote; this applies only if
    lanes can exchange values at all.
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
        """Whether, in all APIs, kernels can sort 64-bit keys as pairs of words, without 64-bit integers."""
        return bool(self.apis) and all(APIS[name].key_pairs for name in self.apis)

    @property
    def widths(self) -> tuple[int, ...]:
        """The subgroup widths with which lanes can exchange values, ascending; only powers of two above 1."""
        widths = [w for w in self.device.subgroups if 1 < w <= self.device.work_group and w & (w - 1) == 0]
        return tuple(sorted(set(widths))) if self.device.shuffle else ()

    @property
    def narrow(self) -> bool:
        """Whether the lanes of a subgroup share the registers of a hardware thread, as on Intel's GPUs.

        The device then has several subgroup widths, of which the least is at most 16.
        """
        return not self.cpu and len(self.widths) > 1 and self.widths[0] <= 16

    @property
    def threads(self) -> int:
        """The number of subgroups that a core holds at once; a cautious number if unknown."""
        return self.device.threads or _THREADS

    def width(self, size: int) -> Choice:
        """Return the suggested subgroup width for keys of `size` bytes; 1 if lanes cannot exchange values."""
        if not self.widths:
            return Choice(1, "lanes cannot exchange values: all goes through local memory")
        if self.cpu:
            return Choice(self._nearest(_VECTOR // size), f"a register of {8 * _VECTOR} bits, or the widest there is")
        if self.narrow:
            why = "lanes share the registers of a thread: half as many lanes for keys of twice the size"
            return Choice(self._nearest(64 // size), why)
        return Choice(self.widths[0], "the only width" if len(self.widths) == 1 else "the least width")

    def _nearest(self, most: int) -> int:
        """Return the greatest subgroup width up to `most`; if there is none, the least width."""
        return max((w for w in self.widths if w <= most), default=self.widths[0])

    def lane_registers(self, width: int) -> float | None:
        """Return the number of 32-bit registers that each lane gets if the core is full; None if unknown.

        `width` is the subgroup width.
        """
        if self.device.registers is None or self.device.threads is None or width == 1:
            return None
        return self.device.registers / (self.device.threads * width)

    def resident(self, subgroups: int) -> int | None:
        """Return the number of work-groups of `subgroups` subgroups that the largest device holds at once.

        The result is None if unknown.
        """
        if self.device.cores is None:
            return None
        return self.device.cores * max(1, self.threads // max(1, subgroups))


def facts(target: Target) -> Facts:
    """Return the facts of a target's devices."""
    vendors = target.match.vendors
    return Facts(
        device=target.device,
        apis=target.apis,
        cpu=target.match.types == ("cpu",),
        vendor=vendors[0] if len(vendors) == 1 else 0,
    )
