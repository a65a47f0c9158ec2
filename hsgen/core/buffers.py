"""The memory of kernels: their buffers, and the arrays of their work-groups."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.keys import KeyType

PICKED = {"key": ("source", "destination", "other"), "value": ("values_in", "values_out", "values_tmp")}
"""The buffers of kernels that pick one while they run, by the numbers that they pick by: what is given, and the two
between which passes alternate."""
COUNT_BUFFER = "device_n"
"""The buffer of the count, one word, where that lies on the device."""

BYTES = {"u32": 4, "u64": 8}
"""The element types of buffers and local arrays of one size, besides keys, values and pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A parameter of a kernel: memory of elements of a type, "key", "value", "pair" or a name in `BYTES`.

    Work-groups see what lanes of others write to a `coherent` one during a launch.  `unit` is the type whose elements
    begin where a call says, if kernels read them as elements of another type.
    """

    name: str
    type: str = "key"
    unit: str = ""
    read_only: bool = False
    coherent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An array in the local memory of a work-group: `count` elements of a type, "key", "pair" or a name in `BYTES`.

    It begins at a multiple of `align` bytes where a dialect stores whole lines from it; 0: of an element's own size.
    """

    name: str
    type: str
    count: int
    align: int = 0


def held(type_: str, key: KeyType) -> int:
    """Return the bytes of an element of a local array; a pair is a key with the place that it had."""
    return {"key": key.held, "pair": pair_bytes(key), **BYTES}[type_]


def pair_bytes(key: KeyType) -> int:
    """Return the bytes of a key with the place that it had."""
    return 8 if key.bytes <= 4 else 16
