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
    """The resources of a kernel on a device, as the compiler reports them; None if the compiler does not report one.

    `registers` is the number of registers of a lane (AMD: vector registers).  It is None for Intel, because Intel's
    hardware threads have a fixed number of registers.  `spill_bytes` is the memory for a lane's spilled registers
    (Intel: for those of a hardware thread).  `occupancy` is the number of the kernel's subgroups that a compute unit
    can hold at once, divided by the greatest number of subgroups that it can hold of any kernel.
    """

    registers: int | None = None
    spill_bytes: int = 0
    local_bytes: int | None = None
    instructions: int | None = None
    occupancy: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to compile kernels of a sort for one device; `source` is in the language of the compiler's API."""

    sort: Sort
    source: Source
    kernels: tuple[Kernel, ...]
    device: str

    @property
    def text(self) -> str:
        """The complete source of the kernels."""
        return self.source.only(*(k.name for k in self.kernels))


class Compiler(Protocol):
    """A kind of offline compiler.  The table ``[isa]`` of a target names its devices; `compilers` lists all kinds.

    The SPIR-V validator, ``spirv``, has this interface too, although ``[isa]`` does not name it.  Its devices are
    versions of Vulkan, by spirv-val's names, such as ``vulkan1.1``.
    """

    @property
    def name(self) -> str:
        """The compiler's key in ``[isa]`` (`hsgen.targets.isa.KINDS`)."""

    @property
    def api(self) -> str:
        """The API whose kernels the compiler compiles."""

    @property
    def install(self) -> str:
        """A line that says how to install the compiler, for messages."""

    def devices(self) -> Sequence[str]:
        """Return the names of all known devices, whether or not the compiler is installed."""

    def identity(self, device: str) -> str | None:
        """Return the name and version of the installed compiler that supports `device`; None without one.

        The method is called once for each device, always from the same thread.
        """

    def recipe(self, request: Request) -> str:
        """Return the part of the cache key that only this class knows, as a text.

        The text contains, for example, compiler options, hashes of headers, and the version of the code that parses the
        compiler's output.  The cache key is a hash of this text, the identity, the device, the kernels' text and their
        work-group sizes.
        """

    def compile(self, request: Request, folder: Path, seconds: float) -> dict[str, Use]:
        """Compile the kernels; return the resources of each kernel by name.

        `folder` is an empty folder for files; the caller removes it afterwards.  The method is called from several
        threads and must return within `seconds`.  Code that can crash or hang must run in another process.

        Raises:
            Wrong: the compiler refuses a kernel, crashes, or omits a kernel.  The error's first line says why; further
                lines are the compiler's log.
            Unavailable: the compiler is not installed, or does not support the device.
            subprocess.TimeoutExpired: the compilation takes longer than `seconds`.
        """
