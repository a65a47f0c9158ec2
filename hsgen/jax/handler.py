"""The handler in C, ``handler.c``: if it is selected, it is built at first use, and launches recipes without Python.

A recipe is the list of launches of one piece of work on one GPU.  The handler asks for a recipe when it first meets
work on a GPU; from then on, calls of that work do not enter Python.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hsgen.core.errors import HsgenError, Unavailable, Wrong
from hsgen.cuda import streams
from hsgen.cuda.driver import device, hosts
from hsgen.cuda.prepared import Recorded
from hsgen.jax.work import Work, launches
from hsgen.system import compilers

SOURCE = Path(__file__).with_name("handler.c")
DRIVER = "libcuda.so.1"
SWITCH = "HSGEN_JAX_HANDLER"
"""The environment variable that selects this handler by the value ``c``; the handler has not run on a GPU."""
_SHIFT = 56
"""Recorded addresses have the number of a buffer in the bits from this bit on, and an offset in the buffer below."""
_Prepare = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t
)


@cache
def library() -> ctypes.CDLL | None:
    """Return the library of the handler with the driver loaded; None if it is not selected, built or loaded here."""
    if os.environ.get(SWITCH) != "c":
        return None
    try:
        return loaded(built(), DRIVER)
    except (HsgenError, OSError):
        return None


def built() -> Path:
    """Return the path of the library; see `compilers.library` for what it raises."""
    return compilers.library(SOURCE, "-ldl")


def loaded(path: Path, driver: str) -> ctypes.CDLL:
    """Load the library; `driver` is the name of the driver's library.

    Raises:
        Unavailable: the driver or one of its functions is missing.
    """
    handle = ctypes.CDLL(str(path))
    handle.hs_open.argtypes, handle.hs_open.restype = [ctypes.c_char_p, _Prepare], ctypes.c_char_p
    handle.hs_handler.argtypes = [ctypes.c_void_p]
    handle.hs_handler.restype = ctypes.c_void_p
    if missing := handle.hs_open(driver.encode(), _prepare):
        raise Unavailable(f"no NVIDIA driver: {missing.decode()} is missing")
    return handle


def add(handle: ctypes.CDLL, work: Work, context: int, buffers: int, recorded: Sequence[Recorded]) -> None:
    """Add the recipe of work on the GPU of a context; a custom call of the work has this number of buffers.

    Raises:
        Wrong: there is no memory, or a launch has more arguments than the handler serves.
    """
    words, names = _words(recorded)
    numbers = work.numbers()
    if handle.hs_add(
        (ctypes.c_int64 * len(numbers))(*numbers),
        ctypes.c_void_p(context),
        ctypes.c_uint64(buffers),
        (ctypes.c_uint64 * max(len(words), 1))(*words),
        ctypes.c_uint64(len(words)),
        names,
        ctypes.c_size_t(len(names)),
    ):
        raise Wrong("the handler does not take the launches")


def _words(recorded: Sequence[Recorded]) -> tuple[list[int], bytes]:
    """Return launches in the form of ``handler.c``: words, and the names of kernels."""
    names, words = b"", list[int]()
    for one in recorded:
        function, wide, high, _, threads, _, _, shared = one.launch.where
        cooperative, early = one.launch.cooperative, one.launch.early
        words += map(int, (function, wide, high, threads, shared, cooperative, early, len(names), len(one.arguments)))
        for value, address in zip(one.arguments, one.addresses, strict=True):
            buffer = value >> _SHIFT if address else 0
            words += [buffer, value - (buffer << _SHIFT)]
        names += one.launch.name.encode() + b"\0"
    return words, names


def recipe(work: Work, number: int) -> tuple[int, int, list[Recorded]]:
    """Return the context of a GPU, the number of buffers, and the launches of work for buffers as `_SHIFT` says."""
    ready = launches(work, number)
    buffers = [i << _SHIFT for i in range(1, work.buffers + 1)]
    return device(number).context, work.buffers, ready.recorded(*work.addresses(buffers))


@_Prepare
def _prepare(numbers: Any, stream: int | None, message: Any, size: int) -> int:
    """Add the recipe of work for the GPU of a stream; return 1 after writing a message."""
    try:
        work = Work.of(numbers[: Work.COUNT])
        handle = library()
        assert handle is not None  # the library calls this function
        add(handle, work, *recipe(work, number(stream or 0)))
    except Exception as e:  # an exception cannot pass the handler
        text = str(e).encode()[: size - 1] + b"\0"
        ctypes.memmove(message, text, len(text))
        return 1
    return 0


def number(stream: int) -> int:
    """Return the number of a stream's GPU."""
    return 0 if len(hosts()) == 1 else streams._device(stream)
