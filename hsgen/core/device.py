"""The facts of a device, which limit the parameters of algorithms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Facts of a device family: the table ``[device]`` of a target.  Sizes are in bytes.

    The fields `threads` to `local` may be unknown.  These fields limit no parameter; `hsgen.tools.suggest` derives
    initial parameters from them.  A *core* is the unit that runs a work-group: an SM, a compute unit, a sub-slice.

    unroll: "text" if the compiler leaves an array in memory when an unrolled loop indexes the array; kernel text then
    contains the statements of each iteration.  threads: subgroups resident on a core.  units: SIMD units of a core.
    registers: 32-bit registers of a core, over all lanes.  cores: cores of the largest device.  local: "chip" for
    dedicated local memory, "memory" for ordinary memory.  cooperative: all work-groups of a grid can wait for each
    other.
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
        """Whether a started work-group makes progress while others wait for it, by guarantee or by observation."""
        return self.progress != "none"

    @property
    def promised(self) -> bool:
        """Whether forward progress is guaranteed: look-back then spins without a limit, and no pass needs a retry."""
        return self.progress == "guaranteed"
