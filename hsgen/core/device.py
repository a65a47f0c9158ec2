"""The facts of a device, which constrain the parameters of algorithms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Facts of a device family: the table ``[device]`` of a target.  Sizes are in bytes.

    `threads` to `local` may be unknown and constrain nothing; `hsgen.tools.suggest` derives initial parameters from
    them.  They describe a *core*, the unit that runs a work-group: an SM, a compute unit, a sub-slice.

    unroll: "text" where a compiler keeps an array in memory that an unrolled loop indexes: kernel text then has the
    statements of each iteration.  threads: subgroups resident on a core.  units: SIMD units of a core.  registers:
    32-bit registers of a core, over all lanes.  cores: cores of the largest device.  local: "chip" for dedicated local
    memory, "memory" if local memory is ordinary memory.  cooperative: whether all work-groups of a grid can wait for
    each other.
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
        """Whether started work-groups make progress while others wait for them: guaranteed, or always observed."""
        return self.progress != "none"

    @property
    def promised(self) -> bool:
        """Whether that progress is guaranteed: waits then need no bound, and no work needs to be redone."""
        return self.progress == "guaranteed"
