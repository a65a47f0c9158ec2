"""Calls of the handler in C of hsgen.jax with call frames as XLA's, beside a driver that records launches."""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hsgen.system import compilers

HERE = Path(__file__).parent
MOST = 64
CONTEXT = 7
STREAM = CONTEXT << 8


class Record(ctypes.Structure):
    """A launch as fake_libcuda.c records it."""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("function", "stream", "context")),
        ("grid", ctypes.c_uint64 * 3),
        ("block", ctypes.c_uint64 * 3),
        *((name, ctypes.c_uint64) for name in ("shared", "attribute", "set")),
        ("arguments", ctypes.c_uint64 * MOST),
    ]


def modules(*names: str) -> list[Any]:
    """Import modules of hsgen.jax, whose package needs JAX; JAX may be missing."""
    if find_spec("jax"):
        return [importlib.import_module(f"hsgen.jax.{name}") for name in names]
    package = ModuleType("hsgen.jax")
    package.__path__ = [str(Path(importlib.import_module("hsgen").__path__[0]) / "jax")]
    sys.modules["hsgen.jax"] = package
    try:
        return [importlib.import_module(f"hsgen.jax.{name}") for name in names]
    finally:
        for loaded in [n for n in sys.modules if n.startswith("hsgen.jax")]:
            del sys.modules[loaded]


work, handler = modules("work", "handler")
Work = handler.Work


def compiled(compiler: Sequence[str], source: Path, out: Path, *more: str) -> Path:
    done = compilers.run([*compiler, *more, "-shared", str(source), "-o", str(out), "-ldl"], 60)
    assert done.returncode == 0, done.stderr
    return out


class Caller:
    """Calls the handler as XLA does; `errors` has the messages of errors by their addresses."""

    def __init__(self, compiler: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        driver = compiled(compiler, HERE / "fake_libcuda.c", folder / "libfake.so")
        library = compiled(compiler, handler.SOURCE, folder / "handler.so", "-Wall", "-Wextra", "-Werror")
        self.library, self.driver = handler.loaded(library, str(driver)), ctypes.CDLL(str(driver))
        self.errors: list[str] = []
        self.no_stream = 0
        self.asked: list[tuple[Any, int]] = []
        monkeypatch.setattr(handler, "library", lambda: self.library)
        monkeypatch.setattr(handler, "number", lambda stream: stream >> 8)
        self._functions = (
            ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint64))(self._failed),
            ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint64))(self._streamed),
        )
        create, get = (ctypes.cast(f, ctypes.c_void_p).value for f in self._functions)
        self._api = (ctypes.c_uint64 * 20)(160, 0, 24, 0, 3 << 32, 0, create, 0, 0, 0, get)

    def _failed(self, request: Any) -> int:
        assert request[3] & 0xFFFFFFFF == 13
        self.errors.append(ctypes.string_at(request[2]).decode())
        return len(self.errors)

    def _streamed(self, request: Any) -> int:
        request[3] = request[2]  # the context of a call is its stream
        return self.no_stream

    def frame(self, numbers: Sequence[int], buffers: Sequence[int], stream: int, name: bytes = b"work") -> Any:
        """Return the words of a call frame, and what they point to."""
        kept: list[Any] = []

        def at(values: Any) -> int:
            kept.append(values)
            return ctypes.addressof(values)

        def words(*values: int) -> int:
            return at((ctypes.c_uint64 * max(len(values), 1))(*values))

        memory = [words(48, 0, 11, b, 0, 0) for b in buffers]
        data = at((ctypes.c_int64 * max(len(numbers), 1))(*numbers))
        names = words(words(at(ctypes.create_string_buffer(name)), len(name)))
        arguments = [40, 0, 1, words(1), words(*memory[:1])]
        results = [40, 0, len(memory) - 1, words(*(1 for _ in memory[1:])), words(*memory[1:])]
        attributes = [48, 0, 1, words(1), names, words(words(5, len(numbers), data))]
        frame = (ctypes.c_uint64 * 22)(
            168, 0, ctypes.addressof(self._api), stream, 3, *arguments, *results, *attributes
        )
        return frame, kept

    def call(self, work: Any, buffers: Sequence[int], stream: int = STREAM, **more: Any) -> str:
        """Call the handler; return the message of the error, or ""."""
        numbers = more.pop("numbers", None) or work.numbers()
        frame, kept = self.frame(numbers, buffers, stream, **more)
        error = self.library.hs_handler(ctypes.addressof(frame))
        del kept
        return "" if not error else self.errors[error - 1]

    def records(self) -> list[Any]:
        count = ctypes.c_int.in_dll(self.driver, "fake_count")
        records = list((Record * (1 << 14)).in_dll(self.driver, "fake_records")[: count.value])
        count.value = 0
        return records
