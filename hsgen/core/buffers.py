"""The memory that kernels use: buffers in global memory, and arrays in local memory."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.keys import KeyType

PICKED = {"key": ("source", "destination", "other"), "value": ("values_in", "values_out", "values_tmp")}
"""The buffers among which a kernel selects at run time, for keys and for values.

The index of a buffer in its tuple is the number by which kernels select the buffer.  The first buffer is the input.
Passes alternate between the second and the third buffer.
"""
COUNT_BUFFER = "device_n"
"""The name of the buffer that holds a device-side count, one 32-bit word."""

GROUP, DEVICE = "group", "device"
"""The values of `Buffer.coherent`, which state whose stores to the buffer a lane may load during the same launch.

`GROUP`: stores by the lane's own work-group, after `hs_barrier_global`.
`DEVICE`: also stores by other work-groups, after `hs_await` or a barrier of the grid.
"""
BYTES = {"u32": 4, "u64": 8}
"""The size in bytes of each element type that has the same size in every sort.

The sizes of keys, values and pairs depend on the sort.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A buffer parameter of a kernel.

    type: the element type: "key", "value", "pair" or a name in `BYTES`.
    unit: the element type in which a call counts the offset of the buffer, if it differs from `type`; else "".  For
    example, a kernel reads values as "u32" words, but the offset counts whole values.
    coherent: `GROUP` or `DEVICE` if a lane loads elements that another lane has stored during the same launch, else "".
    A buffer whose only such accesses are atomic has "".
    times: the number of elements per key.
    shared: whether a call may bind the same memory to this buffer and to other shared buffers; kernels only read it.
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

    align: the alignment of the array in bytes, for kernels that access several adjacent elements at once.  0 means the
    size of an element.
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
