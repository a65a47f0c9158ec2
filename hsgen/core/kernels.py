"""Kernels as plain values: each is an entry point with its buffers, local arrays and parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from hsgen.core.buffers import DEVICE, Array, Buffer
from hsgen.core.keys import KeyType

VARIANT = re.compile(r"[\w/]+\.j2(:\w+)?")
"""Matches the name of a template, ``file.j2``, or of a set of macros in the template, ``file.j2:name``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """An entry point, with all that its template and its launches need.

    template: a file under ``templates/``, without suffix.  If the file has several kernels, ``file:macro`` names one.
    index64: whether n is a 64-bit number.
    subgroup: the width of the subgroups in which lanes exchange values; 1 if lanes exchange no values.
    ballot: whether the kernel uses subgroup votes (ballots).
    always: whether the kernel works for every count in device memory.  A kernel without this flag loads the count, and
    returns at once if the count lies outside the bounds of its step's guard.
    cooperative: whether work-groups wait for each other, so that all work-groups of a launch must be resident.
    picks: "key" if the kernel selects at run time from which of three buffers it loads keys; "value" likewise for
    values.  `hsgen.core.buffers.PICKED` lists the buffers.
    row: the number of adjacent keys that the kernel handles as one vector; 0 if the kernel handles keys one by one.
    A *dialect* is a kernel language, such as GLSL.  The next four fields, and `int16`, state which of a dialect's
    optional capabilities the kernel uses (``templates/dialects/contract.toml``).
    by_rows: the kernel uses "rows", vectors of `row` keys.  Dialects without "rows" cannot express the kernel.
    marks: the kernel uses "marks", which tests 32 adjacent keys at once for run boundaries.
    vectors: the kernel uses "vectors", loads and stores of four adjacent elements at once.
    key_vectors: the kernel uses "key_vectors", loads and stores of 16 bytes of adjacent keys at once.
    resident: the number of work-groups that must fit on a core at once; 0 if the compiler decides.
    gate: the name of a buffer, or "".  The kernel returns at once if the first word of this buffer is not 0.
    params: the algorithm's parameters.
    common: those parameters on which the kernel text depends.  Kernels that differ only in `params` share one text.
    data: a dataclass that the template reads.  If the value of a field `load` names a template (see `VARIANT`), the
    kernel's template calls the macros of that template as `load`.  A kernel thus selects a variant of one phase.
    scratch: a dataclass of regions of the buffer ``words``; the template addresses a region by the field's name.
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
    by_rows: bool = False
    marks: bool = False
    vectors: bool = False
    key_vectors: bool = False
    resident: int = 0
    buffers: tuple[Buffer, ...]
    arrays: tuple[Array, ...] = ()
    gate: str = ""
    algorithm: str
    params: object
    common: object = None
    data: object = None
    scratch: object = None

    @property
    def handover(self) -> bool:
        """Whether work-groups load what other work-groups stored in the same launch, without a barrier of the grid."""
        return not self.cooperative and any(b.coherent == DEVICE for b in self.buffers)

    def layout(self, key: KeyType) -> list[tuple[Array, int]]:
        """Return pairs (local array, its byte offset in local memory).

        Arrays of larger elements come first, so each offset is a multiple of the size of an element.
        """
        placed, at = [], 0
        for array in sorted(self.arrays, key=lambda a: -a.element(key)):
            placed.append((array, at))
            at += array.count * array.element(key)
        return placed

    @property
    def int16(self) -> bool:
        """Whether a local array has elements of 16 bits.  Dialects without "int16" cannot express the kernel."""
        return any(a.type == "u16" for a in self.arrays)

    def local_bytes(self, key: KeyType) -> int:
        """Return the size of a work-group's local memory in bytes."""
        return sum(a.count * a.element(key) for a in self.arrays)


def variants(data: object) -> Iterator[tuple[str, str]]:
    """Yield (name, value) for each field of the dataclass `data` whose value names a template (`Kernel.data`)."""
    for field in fields(data) if is_dataclass(data) else ():
        value = getattr(data, field.name)
        if isinstance(value, str) and VARIANT.fullmatch(value):
            yield field.name, value
