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
    """The resources of a kernel on a device, as the compiler reports them; None: not reported.

    `registers` is the number of registers of a lane (AMD: vector registers).  It is None for Intel, whose hardware
    threads have a fixed number.  `spill_bytes` is the memory for spilled registers of a lane (Intel: of a hardware
    thread).  `occupancy` is the number of subgroups of the kernel that a compute unit can hold at once, as a share (0
    to 1) of its maximum.
    """

    registers: int | None = None
    spill_bytes: int = 0
    local_bytes: int | None = None
    instructions: int | None = None
    occupancy: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Kernels of a sort, in the dialect of the compiler's API, to be compiled for one device."""

    sort: Sort
    source: Source
    kernels: tuple[Kernel, ...]
    device: str

    @property
    def text(self) -> str:
        """The complete source of the kernels."""
        return self.source.only(*(k.name for k in self.kernels))


class Compiler(Protocol):
    """A kind of offline compiler with a name in the table ``[isa]`` of targets; `compilers` has an object per kind.

    The check of SPIR-V, ``spirv``, is such a compiler too, although no target names it.  Its devices are versions of
    Vulkan by spirv-val's names, such as ``vulkan1.1``.
    """

    @property
    def name(self) -> str:
        """The compiler's key in ``[isa]`` (`hsgen.targets.isa.KINDS`)."""

    @property
    def api(self) -> str:
        """The API whose kernels the compiler compiles."""

    @property
    def install(self) -> str:
        """A line about the installation."""

    def devices(self) -> Sequence[str]:
        """Return the devices of `hsgen.targets.isa.KINDS`, whether or not the compiler is installed."""

    def identity(self, device: str) -> str | None:
        """Return the name and version of the installed compiler for `device`, or None.

        This method is called once for each device, from one thread.
        """

    def recipe(self, request: Request) -> str:
        """Return the other inputs of a result: options, headers, and the version of the parser of the results.

        The cache key is a hash of the recipe, the identity, the device, the text and the work-group sizes.
        """

    def compile(self, request: Request, folder: Path, seconds: float) -> dict[str, Use]:
        """Compile the kernels; return the resources of every kernel by name.

        `folder` is empty at first, and is removed afterwards.  This method runs in a separate thread, for at most
        `seconds`.  Code that can crash or hang must run in another process.

        Raises:
            Wrong: the compiler refuses a kernel, crashes or omits a kernel; the further lines are its log.
            Unavailable: the compiler is not installed, or does not support the device.
            subprocess.TimeoutExpired: the compilation takes longer than `seconds`.
        """
