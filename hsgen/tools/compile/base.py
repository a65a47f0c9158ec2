"""The interface of offline compilers: requests and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hsgen.core.kernels import Kernel
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The resources that one kernel takes on a device, as its compiler reports them; None: not reported.

    `registers` counts those of a lane (AMD: vector registers); None for Intel, whose hardware threads have a fixed
    number.  `spill_bytes` is the memory for spilled registers of a lane (Intel: of a hardware thread).  `occupancy` is
    the number of subgroups of this kernel that a compute unit can hold at once, as a share (0 to 1) of its maximum.
    """

    registers: int | None = None
    spill_bytes: int = 0
    local_bytes: int | None = None
    instructions: int | None = None
    occupancy: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Some kernels of a sort, in the dialect of the compiler's API, to be compiled for one device."""

    sort: Sort
    source: Source
    kernels: tuple[Kernel, ...]
    device: str

    @property
    def text(self) -> str:
        """The complete source of these kernels."""
        return self.source.only(*(k.name for k in self.kernels))


class Compiler(Protocol):
    """A kind of offline compiler, as the table ``[isa]`` of a target names it; `compilers` holds one of each.

    The check of SPIR-V, ``spirv``, is one, too, though no target names it; its devices are versions of Vulkan by
    spirv-val's names: ``vulkan1.1`` and so on.
    """

    @property
    def name(self) -> str:
        """Its key in ``[isa]`` (`hsgen.targets.isa.KINDS`)."""

    @property
    def api(self) -> str:
        """The API whose kernels it compiles."""

    @property
    def install(self) -> str:
        """How to install it, in one line."""

    def devices(self) -> Sequence[str]:
        """Return the devices that it can compile for, installed or not: those of `hsgen.targets.isa.KINDS`."""

    def identity(self, device: str) -> str | None:
        """Return the name and version of the installed compiler for `device`, or None.

        Called once for each device, from one thread.
        """

    def recipe(self, request: Request) -> str:
        """Return the other inputs of a result: options, headers, and the version of the parser of the results.

        The cache key is the hash of these with identity, device, text and work-group sizes.
        """

    def compile(self, request: Request, folder: Path, seconds: float) -> dict[str, Use]:
        """Compile and return every kernel's resources by its name.  `folder` is empty and removed afterwards.

        Runs in a thread of its own, for at most `seconds`; code that can crash or hang must run in another process.

        Raises:
            Wrong: the compiler refuses, crashes or omits a kernel; the first line says so, the others are its log.
            Unavailable: it is not installed, or does not support the device.
            subprocess.TimeoutExpired: it takes longer than `seconds`.
        """
