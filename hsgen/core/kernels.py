"""Kernels as plain values: entry points with their buffers, local arrays and parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from hsgen.core.buffers import DEVICE, Array, Buffer, element_bytes
from hsgen.core.keys import KeyType

VARIANT = re.compile(r"[\w/]+\.j2(:\w+)?")
"""The name of a template, or of a set of macros in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One entry point: the input of its template and of its launches.

    template: a file under ``templates/``, without suffix; ``file:macro`` in a file of several kernels.
    index64: n is a 64-bit number.
    subgroup: the number of lanes that exchange values; 1: lanes exchange none.
    ballot: lanes vote.
    always: the kernel runs regardless of the device-side count.
    cooperative: work-groups wait for each other, so all work-groups of a launch must be resident.
    picks: the types, as keys of `PICKED`, of the buffers that the kernel selects at run time.
    row: the number of keys in a vector, for dialects with rows; 0: the kernel handles keys singly.
    by_rows: the kernel has no text for dialects without rows.
    marks: the kernel examines many adjacent keys at a time for run boundaries, in dialects with marks.
    vectors: the kernel accesses four adjacent elements at a time, in dialects with vectors.
    key_vectors: the kernel loads and stores keys 16 bytes at a time, in dialects with vectors.
    resident: the number of work-groups that must fit on a core; 0: the compiler decides.
    gate: the name of a buffer; the kernel returns at once if the buffer's first word is not 0.
    params: the algorithm's parameters.
    common: the parameters on which the text depends; kernels that differ only in other parameters share the text.
    data: the algorithm's description of the body.  A field that names a template is a variant of a phase; the kernel's
    template calls the variant by the name of the field.  The field is ``file.j2``, or ``file.j2:name`` for a set of
    macros in the file.
    scratch: the layout of the buffer ``words``, whose regions the template addresses by name (`hsgen.core.regions`).
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
        """Whether a work-group loads stores of other work-groups of the launch without a barrier of the grid."""
        return not self.cooperative and any(b.coherent == DEVICE for b in self.buffers)

    def layout(self, key: KeyType) -> list[tuple[Array, int]]:
        """Return the arrays with their byte offsets.  Larger elements come first, so every array is aligned."""
        placed, at = [], 0
        for array in sorted(self.arrays, key=lambda a: -element_bytes(a.type, key)):
            placed.append((array, at))
            at += array.count * element_bytes(array.type, key)
        return placed

    def local_bytes(self, key: KeyType) -> int:
        """Return the size of a work-group's local memory in bytes."""
        return sum(a.count * element_bytes(a.type, key) for a in self.arrays)


def variants(data: object) -> Iterator[tuple[str, str]]:
    """Yield (field, template) for each field of a kernel's description that names a variant of a phase."""
    for field in fields(data) if is_dataclass(data) else ():
        value = getattr(data, field.name)
        if isinstance(value, str) and VARIANT.fullmatch(value):
            yield field.name, value
