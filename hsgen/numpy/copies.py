"""Copies between long arrays and pinned memory: by ``copies.c`` if the machine has a C compiler, or else by numpy.

The compiler builds the function once; the user's cache keeps the library.
"""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from hsgen.core.errors import HsgenError
from hsgen.system import compilers

_SOURCE = Path(__file__).with_name("copies.c")
_LEAST = 1 << 20  # bytes of a copy that bypasses the caches

Copy = Callable[[Any, Any], None]
"""A function that copies its second argument to its first, arrays of the same length and type."""


@cache
def copier() -> Copy:
    """Return the fastest function for copies of long arrays; the function releases Python's global lock."""
    if os.name != "posix" or platform.machine() not in ("x86_64", "AMD64"):
        return np.copyto
    try:
        function: Any = ctypes.CDLL(str(compilers.library(_SOURCE))).hs_copy
    except (HsgenError, OSError):
        return np.copyto
    function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t), None
    return partial(_copied, function)


def _copied(function: Callable[[int, int, int], None], to: Any, source: Any) -> None:
    """Copy an array; short arrays, and arrays that are not contiguous, by numpy."""
    if to.nbytes >= _LEAST and to.flags.c_contiguous and source.flags.c_contiguous:
        function(to.ctypes.data, source.ctypes.data, to.nbytes)
    else:
        np.copyto(to, source)
