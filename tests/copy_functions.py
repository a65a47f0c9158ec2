"""Functions of Python that stand in for the functions of NVIDIA's driver that copies.c calls."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

COPY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_uint64)
RECORD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64)
WAIT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64)


def functions(to_gpu: Any, to_host: Any, record: Any, wait: Any) -> Sequence[Any]:
    """Return functions for C in the order of ``struct hs_driver``; the caller keeps them as long as C calls them."""
    return COPY(to_gpu), COPY(to_host), RECORD(record), WAIT(wait)


def addresses(functions: Sequence[Any]) -> list[int]:
    """Return the addresses of functions."""
    return [ctypes.cast(x, ctypes.c_void_p).value or 0 for x in functions]
