"""Kernels: entry points with their buffers, local arrays and parameters, as plain values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from hsgen.core.buffers import DEVICE, Array, Buffer, held
from hsgen.core.keys import KeyType

VARIANT = re.compile(r"[\w/]+\.j2(:\w+)?")
"""The name of a template, or of a set of macros in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One entry point: what its template and its launches need.

    template: a file under ``templates/``, without suffix; in a file of several kernels, also the macro: ``file:macro``.
    data: the algorithm's description of the body; a field with the name of a template (``file.j2``, or ``file.j2:name``
    for a set of macros in it) is a variant of a phase, which the template calls by the name of the field.
    params: the algorithm's parameters.  subgroup: lanes that exchange values; 1: none.  ballot: whether lanes vote.
    wide: n is a 64-bit number.  resident: work-groups that a core is to hold; 0: left to the compiler.
    always: the kernel runs regardless of the device-side count.  cooperative: work-groups wait for each other, so all
    of a launch must be resident.  picks: the types, keys of `PICKED`, of the buffers that the kernel selects at run
    time.  row: keys of a vector in dialects with rows; 0: keys are handled one by one.  marks: in dialects with marks,
    the kernel examines many adjacent keys at a time for run boundaries.  vectors: in dialects with vectors, the kernel
    accesses four adjacent elements at a time.  key_vectors: likewise, it loads and stores keys by 16 bytes.
    common: the parameters on which its text depends, if shapes that differ in others can share it.
    scratch: the layout of the buffer ``words``, whose regions (`hsgen.core.regions`) the template names.
    gate: the name of a buffer whose first word, if it is not 0, says that the kernel has nothing to do.
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
        """Whether its work-groups load what others of the launch have stored, without barriers of all of them."""
        return not self.cooperative and any(b.coherent == DEVICE for b in self.buffers)

    def layout(self, key: KeyType) -> list[tuple[Array, int]]:
        """Return the arrays with their byte offsets, largest elements first so that every array is aligned."""
        placed, at = [], 0
        for array in sorted(self.arrays, key=lambda a: -held(a.type, key)):
            placed.append((array, at))
            at += array.count * held(array.type, key)
        return placed

    def local_bytes(self, key: KeyType) -> int:
        """Return the local memory of a work-group, in bytes."""
        return sum(a.count * held(a.type, key) for a in self.arrays)


def variants(data: object) -> Iterator[tuple[str, str]]:
    """Yield the variants of phases among the fields of a kernel's description: (field, template)."""
    for field in fields(data) if is_dataclass(data) else ():
        value = getattr(data, field.name)
        if isinstance(value, str) and VARIANT.fullmatch(value):
            yield field.name, value
