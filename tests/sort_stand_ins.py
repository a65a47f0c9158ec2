"""Stand-ins for prepared sorts, on memory of the host, by numpy."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np

from hsgen.core.keys import TYPES

_FRACTIONS = {"f16": (10, 16), "bf16": (7, 16), "f32": (23, 32), "f64": (52, 64)}


def ranks(bits: Any, key: str) -> Any:
    """Return unsigned numbers in the numeric order of keys, which are given by their bits."""
    kind, word = TYPES[key].kind, bits.dtype.type
    width = bits.dtype.itemsize * 8
    sign = word(1 << (width - 1))
    if kind == 1:
        return bits ^ sign
    if kind == 2:
        fraction, _ = _FRACTIONS[key]
        magnitude = bits & word((1 << (width - 1)) - 1)
        infinity = word((1 << (width - 1)) - 1 >> fraction << fraction)
        bits = np.where(magnitude == 0, word(0), np.where(magnitude > infinity, infinity | word(1), bits))
        return np.where(bits & sign, ~bits, bits ^ sign)
    return bits


def memory(address: int, count: int, width: int) -> Any:
    """Return an array of unsigned numbers at an address."""
    room = (ctypes.c_uint8 * (count * width)).from_address(address)
    return np.frombuffer(room, f"u{width}")


class Sorting:
    """The prepared sort of rows, as `hsgen.cuda.order.Order`; `calls` counts the calls."""

    scratch, method = 16, "stand-in"
    calls = 0

    def __init__(self, shape: tuple[int, int], key: str, *, descending: bool, index_bytes: int = 8) -> None:
        self.index_bytes = index_bytes
        self.rows, self.length, self.key, self.descending = *shape, key, descending
        self.gpu = SimpleNamespace(number=0)

    def run(self, source: int, keys: int, indices: int, scratch: int, stream: int) -> None:
        """Sort the rows at the address `source`."""
        Sorting.calls += 1
        n, width = self.rows * self.length, np.dtype(TYPES[self.key].numpy).itemsize
        bits = memory(source, n, width).reshape(self.rows, self.length)
        by = ranks(bits, self.key)
        order = np.argsort(~by if self.descending else by, axis=1, kind="stable")
        if keys:
            memory(keys, n, width)[:] = np.take_along_axis(bits, order, 1).reshape(-1)
        if indices:
            memory(indices, n, self.index_bytes)[:] = order.reshape(-1)


class Selecting(Sorting):
    """A prepared selection with 32-bit indices, in total order."""

    sorted_up_to = 2048

    def __init__(self, shape: tuple[int, int], key: str, *, descending: bool, take: int) -> None:
        super().__init__(shape, key, descending=descending)
        self.take = take

    def run(self, source: int, keys: int, indices: int, scratch: int, stream: int) -> None:
        """Select of the rows at the address `source`."""
        Sorting.calls += 1
        n, width = self.rows * self.length, np.dtype(TYPES[self.key].numpy).itemsize
        bits = memory(source, n, width).reshape(self.rows, self.length)
        kind, sign = TYPES[self.key].kind, bits.dtype.type(1 << (8 * width - 1))
        by = np.where(bits & sign, ~bits, bits ^ sign) if kind == 2 else bits ^ sign if kind == 1 else bits
        order = np.argsort(~by if self.descending else by, axis=1, kind="stable")[:, : self.take]
        count = self.rows * self.take
        memory(keys, count, width)[:] = np.take_along_axis(bits, order, 1).reshape(-1)
        memory(indices, count, 4)[:] = order.reshape(-1)


class Moving(Sorting):
    """A prepared sort of rows with values of `value` bytes; `moved` counts the calls."""

    moved = 0

    def __init__(self, shape: tuple[int, int], key: str, *, descending: bool, value: int) -> None:
        super().__init__(shape, key, descending=descending)
        self.value = value

    def run(self, source: int, keys: int, values_out: int, scratch: int, *more: int) -> None:
        """Sort the rows at the address `source`; `more` has the address of values and the stream."""
        Moving.moved += 1
        values, _ = more
        n = self.rows * self.length
        order = (ctypes.c_uint64 * n)()
        super().run(source, keys, ctypes.addressof(order), scratch, 0)
        moving = memory(values, n, self.value).reshape(self.rows, self.length)
        places = np.frombuffer(order, np.int64).reshape(moving.shape)
        memory(values_out, n, self.value)[:] = np.take_along_axis(moving, places, 1).reshape(-1)
