"""The log of ``ptxas -v``: registers, spills and shared memory of CUDA kernels."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The resources of a kernel on a multiprocessor.

    `shared` excludes shared memory that a launch adds.  `instructions` is the number of instructions
    (`hsgen.tools.compile.cubin`), None if the code cannot be read.
    """

    registers: int
    spill_stores: int
    spill_loads: int
    shared: int
    instructions: int | None = None

    @property
    def spills(self) -> bool:
        """Whether the kernel spills registers to memory."""
        return self.spill_stores > 0 or self.spill_loads > 0


def uses(log: str) -> dict[str, Use]:
    """Return the resources of each kernel in a log of ``ptxas -v``."""
    by_kernel: dict[str, Use] = {}
    for part in re.split(r"(?=Compiling entry function)", log):
        entry, registers = _ENTRY.search(part), _REGISTERS.search(part)
        if entry and registers:
            spills, shared = _SPILLS.search(part), _SHARED.search(part)
            by_kernel[entry[1]] = Use(
                registers=int(registers[1]),
                spill_stores=int(spills[1]) if spills else 0,
                spill_loads=int(spills[2]) if spills else 0,
                shared=int(shared[1]) if shared else 0,
            )
    return by_kernel
