"""Kernels: entry points with their buffers, local arrays and parameters.  Plain values, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.keys import KeyType

BYTES = {"word": 4, "wide": 8}
"""The element types of buffers and local arrays of one size, besides keys, values and pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A parameter of a kernel: memory of elements of a type, "key", "value", "pair" or a name in `BYTES`.

    Work-groups see what lanes of others write to a `coherent` one during a launch.
    """

    name: str
    type: str = "key"
    read_only: bool = False
    coherent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An array in the local memory of a work-group: `count` elements of a type, "key", "pair" or a name in `BYTES`."""

    name: str
    type: str
    count: int


def held(type_: str, key: KeyType) -> int:
    """Return the bytes of an element of a local array; a pair is a key with the place that it had."""
    return {"key": key.held, "pair": pair_bytes(key), **BYTES}[type_]


def pair_bytes(key: KeyType) -> int:
    """Return the bytes of a key with the place that it had."""
    return 8 if key.bytes <= 4 else 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One entry point: what its template needs, and what a launch of it must know.

    `template` names a file under ``templates/`` (without suffix); `data` is the algorithm's own description of the
    body, `params` its parameters.  `subgroup` is the lanes that exchange values (1: none do), `ballot` whether they
    vote.  `wide` kernels take n as a 64-bit number.  `resident` is how many work-groups of it a core is to hold, 0 if
    that is left to compilers.  An `always` kernel runs whatever the count on the device is.  Work-groups of a
    `cooperative` one wait for each other: all of a launch must be resident at once.
    """

    name: str
    template: str
    summary: str
    work_group: int
    subgroup: int = 1
    ballot: bool = False
    wide: bool = False
    always: bool = False
    cooperative: bool = False
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
