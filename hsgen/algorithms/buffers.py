"""Buffers that kernels of several algorithms have, with the names that the templates use."""

from __future__ import annotations

from hsgen.core.buffers import COUNT_BUFFER, PICKED, Array, Buffer

SOURCE = Buffer(name=PICKED["key"][0], read_only=True)
DESTINATION, OTHER = (Buffer(name=name) for name in PICKED["key"][1:])
VALUES_IN = Buffer(name=PICKED["value"][0], type="value", read_only=True)
VALUES_OUT, VALUES_TMP = (Buffer(name=name, type="value") for name in PICKED["value"][1:])
DEVICE_N = Buffer(name=COUNT_BUFFER, type="u32", read_only=True)


def word_array(name: str, count: int) -> Array:
    """Return an array of `count` words of 32 bits in local memory."""
    return Array(name=name, type="u32", count=count)
