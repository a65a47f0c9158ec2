"""What every offline compiler answers, and what it is asked."""

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
    """What one kernel takes of a device, as its compiler says; None where it does not say.

    `registers` are those of a lane (NVIDIA, AMD: vector registers); Intel's hardware threads have a fixed number, so
    there it is None.  `spill_bytes` is the memory that registers were put into, of a lane (Intel: of a hardware
    thread).  `occupancy` is the share, 0 to 1, of the subgroups that a compute unit can hold which this kernel lets it
    hold at once.
    """

    registers: int | None = None
    spill_bytes: int = 0
    local_bytes: int | None = None
    instructions: int | None = None
    occupancy: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Some kernels of a sort, in the dialect of the compiler's API, to be compiled for one device.

    `text` is complete: ``source.only(*names)`` or all of it.
    """

    sort: Sort
    source: Source
    kernels: tuple[Kernel, ...]
    device: str

    @property
    def text(self) -> str:
        """What the compiler gets."""
        return self.source.only(*(k.name for k in self.kernels))


class Compiler(Protocol):
    """A kind of offline compiler, as the table ``[isa]`` of a target names it; `compilers` holds one of each.

    The check of SPIR-V, ``spirv``, is one, too, though no target names it; its devices are the versions of Vulkan as
    spirv-val has them: ``vulkan1.1`` and so on.
    """

    @property
    def name(self) -> str:
        """Its key in ``[isa]`` (`hsgen.targets.isa.KINDS`)."""

    @property
    def api(self) -> str:
        """The API whose kernels it compiles."""

    @property
    def install(self) -> str:
        """How to get it, in one line."""

    def devices(self) -> Sequence[str]:
        """Return the devices that it can compile for, whether it is here or not: those of `hsgen.targets.isa.KINDS`."""

    def identity(self, device: str) -> str | None:
        """Return the name and version of what would compile for `device` here, or None if nothing here does.

        Asked once for each device, from one thread.
        """

    def recipe(self, request: Request) -> str:
        """Return what the answer depends on besides the identity, the device, the text and the kernels' shapes.

        Options, headers and the version of how numbers are read: results are kept by the hash of all this.
        """

    def compile(self, request: Request, folder: Path, seconds: float) -> dict[str, Use]:
        """Compile and return every kernel's needs by its name.  `folder` is empty and thrown away afterwards.

        Blocks in a thread of its own, and must not outlive `seconds`: what can crash or hang runs in another process.

        Raises:
            Wrong: the compiler refuses, crashes or leaves a kernel out; the first line says what, more lines its log.
            Unavailable: it is not here, or does not know the device.
            subprocess.TimeoutExpired: it takes longer than `seconds`.
        """
