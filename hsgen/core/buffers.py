"""The memory that kernels use: buffers in global memory, and arrays in local memory."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.keys import KeyType

PICKED = {"key": ("source", "destination", "other"), "value": ("values_in", "values_out", "values_tmp")}
"""The three buffers of keys, and the three of values, among which a kernel selects at run time.

A kernel selects a buffer by its index in the tuple.  Buffer 0 is the input.  Radix passes store alternately to
buffers 1 and 2.
"""
COUNT_BUFFER = "device_n"
"""The name of the buffer that holds a device-side count, one 32-bit word."""

GROUP, DEVICE = "group", "device"
"""The values of `Buffer.coherent`: which stores to the buffer a lane may load later in the same launch.

`GROUP`: stores by lanes of its own work-group, after `hs_barrier_global`.
`DEVICE`: also stores by other work-groups, after `hs_await`, which spins on a word in global memory, or after a
barrier of the whole grid.
"""
BYTES = {"u16": 2, "u32": 4, "u64": 8}
"""The size in bytes of each element type that has the same size in every sort.

The sizes of keys, values and pairs depend on the sort.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A buffer parameter of a kernel.

    type: the element type in kernel text: "key", "value", "pair" (a key with its original index) or a name in `BYTES`.
    unit: the element type in which a call states the offset where the buffer begins, if it is not `type`; else "".  For
    example, a kernel reads 8-byte values as "u32" words, but the call states the offset as a number of values.
    coherent: `GROUP` or `DEVICE` if a lane loads elements that another lane has stored during the same launch, else "".
    The value is also "" if all such loads and stores are atomic.
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
    """An array in local memory: `count` elements of type "key", "pair", "value" or a name in `BYTES`.

    bytes: the size in bytes of an element of type "value", which depends on the sort.
    align: the alignment of the array in bytes, for kernels that access several adjacent elements at once.  0 means the
    size of an element.
    """

    name: str
    type: str
    count: int
    bytes: int = 0
    align: int = 0

    def element(self, key: KeyType) -> int:
        """Return the size in bytes of an element."""
        return self.bytes or element_bytes(self.type, key)


def element_bytes(type_: str, key: KeyType) -> int:
    """Return the size in bytes of one element of a local array whose element type is `type_`."""
    if type_ in BYTES:
        return BYTES[type_]
    return {"key": key.held, "pair": pair_bytes(key)}[type_]


def pair_bytes(key: KeyType) -> int:
    """Return the size in bytes of a pair, a key with its original index."""
    return 8 if key.bytes <= 4 else 16
