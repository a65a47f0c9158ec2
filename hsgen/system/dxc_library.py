"""The program of the child process that compiles with DXC's library.

The library has COM interfaces, whose methods are called by their positions in a table of functions.  The process reads
a request as JSON from stdin: the paths of the library, of the HLSL text and of the output, and DXC's arguments.  DXC's
messages go to stderr.
"""

from __future__ import annotations

import ctypes
import json
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

_COMPILER, _COMPILER_3 = "73e22d93-e6ce-47f3-b5bf-f0664f39c1b0", "228b4687-5a6a-4730-900c-9702b2203f54"
_RESULT = "58346cda-dde7-4497-9461-6f87af5e0659"
_UTF8 = 65001
_FIRST = 5
"""The position in an interface's table of the first method that the interface does not inherit.

Before it come three methods of IUnknown and, in DXC before 1.8 on Linux, two destructors.
"""


class _Buffer(ctypes.Structure):
    _fields_ = (("pointer", ctypes.c_char_p), ("size", ctypes.c_size_t), ("encoding", ctypes.c_uint32))


def _identifier(text: str) -> Any:
    return (ctypes.c_ubyte * 16).from_buffer_copy(uuid.UUID(text).bytes_le)


def _method(of: ctypes.c_void_p, place: int, result: Any = ctypes.c_int32) -> Callable[..., Any]:
    table = ctypes.cast(of, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]

    def call(*arguments: Any) -> Any:
        kinds = [ctypes.c_uint32 if isinstance(a, int) else ctypes.c_void_p for a in arguments]
        return ctypes.CFUNCTYPE(result, ctypes.c_void_p, *kinds)(table[_FIRST + place])(of, *arguments)

    return call


def _bytes(result: ctypes.c_void_p, place: int) -> bytes:
    blob = ctypes.c_void_p()
    _method(result, place)(ctypes.byref(blob))
    if not blob:
        return b""
    return ctypes.string_at(_method(blob, 0, ctypes.c_void_p)(), _method(blob, 1, ctypes.c_size_t)())


def main() -> int:
    """Compile the text of the request on stdin; return 0, or 1 if the text does not compile."""
    order = json.loads(sys.stdin.read())
    library = ctypes.CDLL(order["library"])
    compiler, result, status = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int32()
    library.DxcCreateInstance(_identifier(_COMPILER), _identifier(_COMPILER_3), ctypes.byref(compiler))
    text, arguments = Path(order["file"]).read_bytes(), order["arguments"]
    listed = (ctypes.c_wchar_p * len(arguments))(*arguments)
    source = ctypes.byref(_Buffer(text, len(text), _UTF8))
    _method(compiler, 0)(source, listed, len(arguments), None, _identifier(_RESULT), ctypes.byref(result))
    _method(result, 0)(ctypes.byref(status))
    sys.stderr.write(_bytes(result, 2).rstrip(b"\0").decode(errors="replace"))
    if status.value:
        return 1
    Path(order["out"]).write_bytes(_bytes(result, 1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
