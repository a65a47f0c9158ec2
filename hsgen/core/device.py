"""The facts about a device that choices are checked against."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Facts of a device family, as the table ``[device]`` of a target gives them; sizes in bytes.

    Nothing is checked against `threads` to `local`, which may be unknown; first shapes are suggested by them
    (`hsgen.tools.suggest`).  They are of a *core*, what a work-group runs on: an SM, a compute unit, a sub-slice.

    threads: subgroups that a core holds at once.  units: SIMD units that share them.  registers: 32-bit registers of
    a core, all lanes together.  cores: of the largest device.  local: "chip" if local memory is memory of its own,
    "memory" if it lies in ordinary memory.  cooperative: whether work-groups of a whole grid can wait for each other.
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
    threads: int | None = None
    units: int | None = None
    registers: int | None = None
    cores: int | None = None
    local: str = "chip"
    cooperative: bool = False

    @property
    def forward_progress(self) -> bool:
        """Whether work-groups that have begun go on while others wait for them: promised, or seen of all devices."""
        return self.progress != "none"

    @property
    def promised(self) -> bool:
        """Whether that is promised: then a wait needs no bound, and nothing is ever done again."""
        return self.progress == "guaranteed"
