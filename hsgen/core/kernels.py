"""Kernels as plain values: each is an entry point with its buffers, local arrays and parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from hsgen.core.buffers import DEVICE, Array, Buffer, element_bytes
from hsgen.core.keys import KeyType

VARIANT = re.compile(r"[\w/]+\.j2(:\w+)?")
"""Matches the name of a template, ``file.j2``, or of a set of macros in the template, ``file.j2:name``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """An entry point, with all that its template and its launches need.

    template: a file under ``templates/``, without suffix.  If the file has several kernels, ``file:macro`` names one.
    index64: whether n is a 64-bit number.
    subgroup: the width of the subgroups in which lanes exchange values; 1 if lanes exchange no values.
    ballot: whether the lanes of a subgroup vote.
    always: whether the kernel runs for every device-side count.  Other kernels return at once if that count lies
    outside the bounds of the step's guard.
    cooperative: whether work-groups wait for each other, so that all work-groups of a launch must be resident.
    picks: the types of the buffers that the kernel selects at run time, as keys of `hsgen.core.buffers.PICKED`.
    row: the number of adjacent keys that the kernel handles as one vector; 0 if the kernel handles keys one by one.
    The next four fields state which capabilities of a dialect (``templates/dialects/contract.toml``) the kernel uses.
    by_rows: "rows", vectors of `row` keys.  Other dialects cannot run the kernel.
    marks: "marks", which tests 32 adjacent keys at once for run boundaries.
    vectors: "vectors", accesses to four adjacent elements at once.
    key_vectors: "key_vectors", accesses to 16 bytes of adjacent keys at once.
    resident: the number of work-groups that must fit on a core at once; 0 if the compiler decides.
    gate: the name of a buffer, or "".  The kernel returns at once if the first word of this buffer is not 0.
    params: the algorithm's parameters.
    common: the parameters on which the kernel text depends.  Kernels that differ only in other parameters share a text.
    data: a record that the template reads.  A field whose value names a template (see `VARIANT`) selects the variant of
    a phase.  The kernel's template calls the variant by the name of the field.
    scratch: the layout of the buffer ``words``, a record of regions.  The template addresses the regions by name.
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
        """Whether work-groups load what other work-groups stored in the same launch, without a grid barrier."""
        return not self.cooperative and any(b.coherent == DEVICE for b in self.buffers)

    def layout(self, key: KeyType) -> list[tuple[Array, int]]:
        """Return each local array with its byte offset in local memory.

        Arrays of larger elements come first, so each offset is a multiple of the size of an element.
        """
        placed, at = [], 0
        for array in sorted(self.arrays, key=lambda a: -element_bytes(a.type, key)):
            placed.append((array, at))
            at += array.count * element_bytes(array.type, key)
        return placed

    def local_bytes(self, key: KeyType) -> int:
        """Return the size of a work-group's local memory in bytes."""
        return sum(a.count * element_bytes(a.type, key) for a in self.arrays)


def variants(data: object) -> Iterator[tuple[str, str]]:
    """Yield (field, template) for each field of `data` (see `Kernel.data`) that names a variant of a phase."""
    for field in fields(data) if is_dataclass(data) else ():
        value = getattr(data, field.name)
        if isinstance(value, str) and VARIANT.fullmatch(value):
            yield field.name, value
