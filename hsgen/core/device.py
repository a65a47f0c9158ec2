"""The facts about a device that limit the parameters of algorithms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Facts about a device family: the table ``[device]`` of a target file.  Sizes are in bytes.

    A *core* is the unit that runs a work-group: an SM, a compute unit or a sub-slice.  The fields `threads`, `units`,
    `registers`, `cores` and `local` set no limits.  From these five, `hsgen suggest` derives initial parameters of the
    algorithms.  The first four are None if they are unknown.

    progress: whether a started work-group makes progress while others wait for it: "guaranteed" by a specification,
    "started" if all tests have only observed it, or "none".
    unroll: "text" if the device's compiler unrolls a loop, but still keeps an array that the loop indexes in memory
    instead of registers.  hsgen then writes the statements of each iteration instead of a loop.  "compiler" otherwise.
    threads: the number of subgroups that are resident on a core at once.
    units: the number of SIMD units of a core.
    registers: the number of 32-bit registers of a core, over all lanes.
    cores: the number of cores of the family's largest device.
    local: "chip" if local memory is dedicated memory on the chip, "memory" if it lies in ordinary global memory.
    cooperative: whether all work-groups of a grid can wait for each other.
    """

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
    unroll: str = "compiler"
    threads: int | None = None
    units: int | None = None
    registers: int | None = None
    cores: int | None = None
    local: str = "chip"
    cooperative: bool = False

    @property
    def forward_progress(self) -> bool:
        """Whether a started work-group makes progress while others wait for it, as look-backs do.

        Either a specification guarantees the progress, or all tests have observed it.
        """
        return self.progress != "none"

    @property
    def promised(self) -> bool:
        """Whether a specification guarantees forward progress.

        A look-back then polls the state of an earlier tile until the state is no longer empty.  Without the guarantee,
        a look-back gives up after a limited number of polls, and its pass runs again by reduce-scan, as a *retry*.
        """
        return self.progress == "guaranteed"
