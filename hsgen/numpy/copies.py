"""Copies between long numpy arrays and pinned memory: by ``copies.c`` if the machine has a C compiler, else by numpy.

The library of ``copies.c`` is compiled once, and kept in the user's cache.  In this module, a *helper* is a thread that
copies in one direction through its own pieces of pinned memory; see `hsgen.numpy.pipeline`.
"""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from hsgen.core.errors import HsgenError
from hsgen.system import compilers

_SOURCE = Path(__file__).with_name("copies.c")
_LEAST = 1 << 20  # copies of at least this number of bytes bypass the CPU's caches

PIECES = 2
"""The number of pinned pieces of a helper: one is filled or emptied while the other is transferred."""
_DRIVER = "libcuda.so.1"
_FUNCTIONS = ("cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuEventRecord", "cuEventSynchronize")

Copy = Callable[[Any, Any], None]
"""A function that copies its second argument to its first; both are arrays of the same length and type."""


class Driver(ctypes.Structure):
    """The C structure ``struct hs_driver``: the addresses of the driver's functions that ``copies.c`` calls."""

    _fields_ = (("functions", ctypes.c_void_p * len(_FUNCTIONS)),)


class Lane(ctypes.Structure):
    """The C structure ``struct hs_lane`` of one helper: the addresses of its pinned pieces, and the handles of their
    events.
    """

    _fields_ = (("pieces", ctypes.c_void_p * PIECES), ("events", ctypes.c_void_p * PIECES), ("size", ctypes.c_size_t))

    @classmethod
    def of(cls, pieces: Sequence[tuple[int, int]], size: int) -> Lane:
        """Return the structure for pinned pieces of `size` bytes each; `pieces` has the address and the event of each
        piece.
        """
        addresses, events = zip(*pieces, strict=True)
        return cls(addresses, events, size)


class Stop:
    """A flag that tells helpers, in Python and in C, to end their copies early."""

    def __init__(self) -> None:
        self.word = ctypes.c_int(0)

    def set(self) -> None:
        """Set the flag."""
        self.word.value = 1

    def is_set(self) -> bool:
        """Return True if the flag is set."""
        return self.word.value != 0


class Transfers:
    """Copies of contiguous arrays to the GPU and back, by the functions of ``copies.c``, which call the driver."""

    def __init__(self, library: Any, functions: Sequence[int]) -> None:
        self._driver = Driver((ctypes.c_void_p * len(_FUNCTIONS))(*functions))
        self._fill, self._empty = library.hs_fill, library.hs_empty
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self._fill.argtypes = (pointer, pointer, pointer, pointer, size, ctypes.c_uint64, pointer)
        self._empty.argtypes = self._fill.argtypes

    def fill(self, lane: Lane, stop: Stop, part: Any, address: int, stream: int) -> int:
        """Copy the array `part` to an address of the GPU; return 0 or an error code of the driver."""
        return self._called(self._fill, lane, stop, part, address, stream)

    def empty(self, lane: Lane, stop: Stop, part: Any, address: int, stream: int) -> int:
        """Copy keys from an address of the GPU to the array `part`; return 0 or an error code of the driver."""
        return self._called(self._empty, lane, stop, part, address, stream)

    def _called(self, function: Any, lane: Lane, stop: Stop, part: Any, address: int, stream: int) -> int:
        where = (ctypes.byref(self._driver), ctypes.byref(lane), ctypes.byref(stop.word))
        return int(function(*where, part.ctypes.data, part.nbytes, address, stream))


@cache
def library() -> Any:
    """Return the library of ``copies.c``; None if this machine cannot build or run it."""
    if os.name != "posix" or platform.machine() not in ("x86_64", "AMD64"):
        return None
    try:
        return ctypes.CDLL(str(compilers.library(_SOURCE)))
    except (HsgenError, OSError):
        return None


def copier() -> Copy:
    """Return the fastest function for copies of long arrays; the function releases Python's global lock."""
    if library() is None:
        return np.copyto
    function: Any = library().hs_copy
    function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t), None
    return partial(_copied, function)


def transfers(bindings: Any) -> Transfers | None:
    """Return a `Transfers`; None if `bindings` replaces NVIDIA's driver by another object, or ``copies.c`` cannot be
    built.
    """
    if library() is None or getattr(bindings, "__name__", "") != "cuda.bindings.driver":
        return None
    try:
        driver = ctypes.CDLL(_DRIVER)
        addresses = [ctypes.cast(getattr(driver, name), ctypes.c_void_p).value for name in _FUNCTIONS]
    except (OSError, AttributeError):
        return None
    return Transfers(library(), [x for x in addresses if x is not None])


def _copied(function: Callable[[int, int, int], None], to: Any, source: Any) -> None:
    """Copy an array by `function`, which bypasses the caches; copy a short or strided array by numpy."""
    if to.nbytes >= _LEAST and to.flags.c_contiguous and source.flags.c_contiguous:
        function(to.ctypes.data, source.ctypes.data, to.nbytes)
    else:
        np.copyto(to, source)
