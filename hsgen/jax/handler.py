"""The C handler ``handler.c``, which XLA calls at each custom call of hsgen in a compiled program; it launches kernels
without entering Python.

A *recipe* is the list of launches of one `Work` on one GPU.  When the handler first gets a call of a `Work` on a GPU,
it calls Python (`_prepare`) for the recipe.  Later calls use the recipe and do not enter Python.  The handler is built
at its first use.
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
"""The environment variable that selects the handler in Python instead of the C handler if its value is ``python``."""
_SHIFT = 56
"""In a recipe, an address is (buffer << 56) + offset: a buffer of the custom call, from 1 up, and bytes in it."""
_Prepare = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t
)


@cache
def library() -> ctypes.CDLL | None:
    """Build and load the handler in C, and NVIDIA's driver; return the handler's library.

    None means that the handler in Python is selected, or that this machine cannot build or load the handler in C.
    """
    if os.environ.get(SWITCH) == "python":
        return None
    try:
        return loaded(built(), DRIVER)
    except (HsgenError, OSError):
        return None


def built() -> Path:
    """Compile ``handler.c``, if the cache does not have it; return the library's path.  Errors: `compilers.library`."""
    return compilers.library(SOURCE, "-ldl")


def loaded(path: Path, driver: str) -> ctypes.CDLL:
    """Load the handler's library from `path`; `driver` is the name of the driver's library, which it then opens.

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
    """Pass a recipe, the kernel launches of a `Work` on one GPU, to the handler in C.

    handle: the handler's library.  context: the primary context of the recipe's GPU.  buffers: the number of buffers of
    a custom call of `work`.  recorded: the launches; each address is encoded as a buffer number and an offset
    (`_SHIFT`).

    Raises:
        Wrong: there is no memory, or a launch has more arguments than the handler supports.
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
    """Return launches as ``handler.c`` reads them: 64-bit words, and the names of kernels, each ended by 0."""
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
    """Return the arguments `context`, `buffers` and `recorded` of `add` for GPU `number`."""
    ready = launches(work, number)
    buffers = [i << _SHIFT for i in range(1, work.buffers + 1)]
    return device(number).context, work.buffers, ready.recorded(*work.addresses(buffers))


@_Prepare
def _prepare(numbers: Any, stream: int | None, message: Any, size: int) -> int:
    """Prepare a recipe for the handler, which calls this function; return 0, or 1 after an error.

    numbers: the eight numbers that describe the `Work`.  stream: a stream of the GPU. message: receives the text of the
    error, at most `size` bytes.
    """
    try:
        work = Work.of(numbers[: Work.COUNT])
        handle = library()
        assert handle is not None  # only the loaded library calls this function
        add(handle, work, *recipe(work, number(stream or 0)))
    except Exception as e:  # an exception cannot pass through the frames of C
        text = str(e).encode()[: size - 1] + b"\0"
        ctypes.memmove(message, text, len(text))
        return 1
    return 0


def number(stream: int) -> int:
    """Return the number of a stream's GPU."""
    return 0 if len(hosts()) == 1 else streams._device(stream)
