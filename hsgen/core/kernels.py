"""Kernels: entry points with their buffers, local arrays and parameters.  Plain values, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.buffers import Array, Buffer, held
from hsgen.core.keys import KeyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One entry point: what its template needs, and what a launch of it must know.

    `template` names a file under ``templates/`` (without suffix); `data` is the algorithm's own description of the
    body, `params` its parameters.  `subgroup` is the lanes that exchange values (1: none do), `ballot` whether they
    vote.  `wide` kernels take n as a 64-bit number.  `resident` is how many work-groups of it a core is to hold, 0 if
    that is left to compilers.  An `always` kernel runs whatever the count on the device is.  Work-groups of a
    `cooperative` one wait for each other: all of a launch must be resident at once.  One that `picks` finds out while
    it runs which of its buffers of some types, names in `PICKED`, it reads and writes.  Where the dialect has words for
    that, keys are taken by rows of `row` neighbours, a vector each (0: one by one), and a kernel with `marks` looks at
    many neighbours at a time for beginnings of runs.
    """

    name: str
    template: str
    summary: str
    work_group: int
    subgroup: int = 1
    ballot: bool = False
    index64: bool = False
    always: bool = False
    cooperative: bool = False
    picks: tuple[str, ...] = ()
    row: int = 0
    marks: bool = False
    resident: int = 0
    buffers: tuple[Buffer, ...]
    arrays: tuple[Array, ...] = ()
    algorithm: str
    params: object
    data: object = None

    def layout(self, key: KeyType) -> list[tuple[Array, int]]:
        """Return the arrays with the bytes at which they begin, large elements first so that none is misaligned."""
        placed, at = [], 0
        for array in sorted(self.arrays, key=lambda a: -held(a.type, key)):
            placed.append((array, at))
            at += array.count * held(array.type, key)
        return placed

    def local_bytes(self, key: KeyType) -> int:
        """Return the bytes of local memory of a work-group."""
        return sum(a.count * held(a.type, key) for a in self.arrays)
