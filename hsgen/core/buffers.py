"""The memory of kernels: global buffers and arrays in local memory."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.keys import KeyType

PICKED = {"key": ("source", "destination", "other"), "value": ("values_in", "values_out", "values_tmp")}
"""The buffers among which a kernel selects at run time, in the order of their numbers: the input, and the two between
which passes alternate."""
COUNT_BUFFER = "device_n"
"""The buffer of a device-side count, one 32-bit word."""

GROUP, DEVICE = "group", "device"
"""Whose stores a lane loads during a launch: those of lanes of its work-group, after `hs_barrier_global`; also those of
other work-groups, after `hs_await` or a barrier of the grid."""
BYTES = {"u32": 4, "u64": 8}
"""Element types of fixed size, in bytes; the sizes of keys, values and pairs depend on the sort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A buffer parameter of a kernel, with elements of type "key", "value", "pair" or a name in `BYTES`.

    coherent: `GROUP` or `DEVICE` if lanes load what other lanes have stored there during the same launch, other than by
    atomic access; "" if not.
    unit: the type in whose elements a call gives the buffer's offset, if kernels read it as elements of another type.
    times: the elements for each key.
    shared: calls may bind the same memory to several of these buffers, which are only read.
    """

    name: str
    type: str = "key"
    unit: str = ""
    read_only: bool = False
    coherent: str = ""
    times: int = 1
    shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An array in local memory: `count` elements of type "key", "pair" or a name in `BYTES`.

    align: alignment in bytes in dialects that store whole lines from the array; 0: the size of an element.
    """

    name: str
    type: str
    count: int
    align: int = 0


def held(type_: str, key: KeyType) -> int:
    """Return the size in bytes of an element of a local array; a pair is a key with its original index."""
    return {"key": key.held, "pair": pair_bytes(key), **BYTES}[type_]


def pair_bytes(key: KeyType) -> int:
    """Return the size in bytes of a key with its original index."""
    return 8 if key.bytes <= 4 else 16
