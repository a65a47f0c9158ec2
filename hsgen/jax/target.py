"""The handler in Python of XLA's custom call "hsgen", which launches the kernels when a program runs.

The interface is XLA's FFI (xla/ffi/api/c_api.h of jaxlib).  This handler is registered if the handler in C
(`hsgen.jax.handler`) cannot be built, or if the environment selects Python.

XLA calls the handler with the address of a call frame.  The frame has the addresses of buffers.  An attribute of the
frame has the numbers that describe the sort, its `hsgen.jax.work.Work`.  The frame also points to functions of XLA,
which return the stream and create errors.  The frame and its structures are read as arrays of 64-bit words.  The
constants below are indices of words.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import jax

from hsgen.core.errors import HsgenError
from hsgen.cuda.driver import device
from hsgen.jax.handler import library, number
from hsgen.jax.work import Work, launches

NAME, PLATFORM = "hsgen", "CUDA"
_EXTENSION, _API, _CONTEXT, _STAGE = 1, 2, 3, 4
_ARGUMENTS, _RESULTS, _ATTRIBUTES = 9, 14, 20
"""Indices of words in a call frame: the words with the address of the array of arguments, of results and of attributes.
"""
_FRAME, _EXECUTE, _METADATA = 21, 3, 1
_VERSION, _CREATE_ERROR, _GET_STREAM = 4, 6, 10
"""Indices of words in XLA's table of functions: the version of the interface, and two functions."""
_INTERNAL = 13
"""XLA's code of an internal error."""

_Function = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
Handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def _word(address: int) -> int:
    """Return the 64-bit word at an address."""
    return ctypes.c_uint64.from_address(address).value


def _words(address: int, count: int) -> list[int]:
    """Return `count` 64-bit words from an address on."""
    return list((ctypes.c_uint64 * count).from_address(address))


def _described(extension: int, api: int) -> None:
    """Answer the call by which XLA asks for metadata at registration: store the version of the interface.

    extension: the address of the frame's extension, which points to the metadata.
    """
    metadata = _word(extension + 24)
    ctypes.memmove(metadata + 24, api + 8 * _VERSION, 8)
    ctypes.c_uint32.from_address(metadata + 32).value = 0


@cache
def _function(address: int) -> Any:
    """Return XLA's function at an address as a Python function; a call keeps Python's global lock."""
    return _Function(address)


def _stream(api: int, context: int) -> int:
    """Return the handle of the stream on which XLA runs a call.

    Raises:
        HsgenError: XLA has no stream for the call.
    """
    request = (ctypes.c_uint64 * 4)(32, 0, context, 0)
    if _function(_word(api + 8 * _GET_STREAM))(ctypes.addressof(request)):
        raise HsgenError("XLA has no stream for the call")
    return int(request[3])


def _error(api: int, message: str) -> int:
    """Create an XLA error with a message; return its address."""
    text = ctypes.create_string_buffer(message.encode())
    request = (ctypes.c_uint64 * 4)(32, 0, ctypes.addressof(text), _INTERNAL)
    return int(_function(_word(api + 8 * _CREATE_ERROR))(ctypes.addressof(request)) or 0)


def _called(frame: int) -> int | None:
    """Handle a call from XLA with the frame at address `frame`; return the address of an XLA error, or None."""
    words = _words(frame, _FRAME)
    api = words[_API]
    try:
        if (extension := words[_EXTENSION]) and ctypes.c_int32.from_address(extension + 8).value == _METADATA:
            _described(extension, api)
        elif words[_STAGE] & 0xFFFFFFFF == _EXECUTE:
            _launch(words, api)
    except Exception as e:  # an exception cannot pass through the frames of XLA
        return _error(api, f"hsgen: {e}")
    return None


def _launch(words: list[int], api: int) -> None:
    """Launch the sort or selection of a call frame, whose words are `words`."""
    array = _words(_word(words[_ATTRIBUTES]), 3)  # of the attribute `work`: its type, size and address
    work = Work.of(_words(array[2], array[1]))
    arguments, results = (words[at - 2] for at in (_ARGUMENTS, _RESULTS))
    buffers = [*_words(words[_ARGUMENTS], arguments), *_words(words[_RESULTS], results)]
    stream = _stream(api, words[_CONTEXT])
    ready = launches(work, number(stream))
    ready.run(*work.addresses([_word(b + 24) for b in buffers]), stream)


handler = Handler(_called)
"""The handler in Python as a C function; this reference keeps it alive, because XLA calls it at any time."""


def in_c() -> bool:
    """Return True if XLA calls the handler in C (`hsgen.jax.handler`), not that of this module."""
    return library() is not None


@cache
def register() -> None:
    """Register the handler in C or in Python with XLA as the custom call "hsgen"; only the first call does so."""
    compiled = library()
    address = ctypes.cast(compiled.hs_handler if compiled else handler, ctypes.c_void_p)
    jax.ffi.register_ffi_target(NAME, jax.ffi.pycapsule(address), platform=PLATFORM)


def gpus() -> bool:
    """Return True if JAX has a CUDA device and hsgen can use GPU 0."""
    try:
        jax.devices(PLATFORM.lower())
        device(0)
    except (RuntimeError, HsgenError):
        return False
    return True
