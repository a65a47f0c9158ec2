"""The memory of kernels: global buffers and arrays in local memory."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.keys import KeyType

PICKED = {"key": ("source", "destination", "other"), "value": ("values_in", "values_out", "values_tmp")}
"""The buffers among which a kernel selects at run time, in the order of their numbers.

The first buffer is the input; passes alternate between the second and the third.
"""
COUNT_BUFFER = "device_n"
"""The buffer of a device-side count, one 32-bit word."""

GROUP, DEVICE = "group", "device"
"""The lanes whose stores a lane may load during a launch.

`GROUP`: lanes of its work-group, after `hs_barrier_global`.  `DEVICE`: also lanes of other work-groups, after
`hs_await` or a barrier of the grid.
"""
BYTES = {"u32": 4, "u64": 8}
"""The size in bytes of each element type of fixed size; the sizes of keys, values and pairs depend on the sort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A buffer parameter of a kernel, with elements of type "key", "value", "pair" or a name in `BYTES`.

    coherent: `GROUP` or `DEVICE` if a lane loads elements that another lane has stored during the same launch, else "".
    Atomic accesses do not count.
    unit: the element type in which a call states the buffer's offset; "" if that is `type`.
    times: the number of elements per key.
    shared: a call may bind the same memory to several such buffers, because kernels only read them.
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

    align: the alignment in bytes, for dialects that store whole lines from the array; 0: the size of an element.
    """

    name: str
    type: str
    count: int
    align: int = 0


def element_bytes(type_: str, key: KeyType) -> int:
    """Return the size in bytes of an element of a local array; a pair is a key with its original index."""
    if type_ in BYTES:
        return BYTES[type_]
    return {"key": key.held, "pair": pair_bytes(key)}[type_]


def pair_bytes(key: KeyType) -> int:
    """Return the size in bytes of a key with its original index."""
    return 8 if key.bytes <= 4 else 16
