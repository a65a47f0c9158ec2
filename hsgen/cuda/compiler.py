"""Compile kernels by NVRTC, and keep the machine code in the user's cache; no GPU, driver or C compiler is needed."""

from __future__ import annotations

import ctypes
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from hsgen.core.errors import Unavailable, Wrong
from hsgen.cuda import shipped
from hsgen.cuda.driver import package
from hsgen.system import folders

_MAGIC = b"\x7fELF"


def cubin(text: str, arch: int, path: str) -> bytes:
    """Return the machine code for the CUDA C++ text `text` on sm_<arch>; messages name the text by `path`.

    The code comes from the optional package of machine code (`hsgen.cuda.shipped`), or else from the cache, or else
    from a compilation.  The name of a cache entry has a hash of the text, the options and the version of NVRTC.  If an
    entry is damaged, or belongs to another user, the text is compiled again.

    Raises:
        Unavailable: NVRTC is not installed, or does not support the architecture.
        Wrong: NVRTC reports errors.
    """
    if _collected is not None:
        _collected[arch, text] = path
        return b""
    code = shipped.code(text, arch, options(arch))
    if code is not None:
        return code
    place = folders.cached("cubin") / _name(text, arch)
    code = _kept(place)
    if code is None:
        code = compiled(text, arch, path)
        with suppress(Unavailable):  # the cache cannot be written: the next process compiles again
            folders.keep(place, code)
    return code


_collected: dict[tuple[int, str], str] | None = None


@contextmanager
def collecting() -> Iterator[dict[tuple[int, str], str]]:
    """In the block, `cubin` compiles nothing, and only collects the texts of kernels.

    Yield the dictionary of collected texts.  The dictionary maps (architecture, text) to the path by which messages
    name the text.
    """
    global _collected
    _collected = {}
    try:
        yield _collected
    finally:
        _collected = None


def warm(text: str, arch: int, path: str) -> bool:
    """Compile CUDA C++ into the cache, unless the cache has its machine code; return True after a compilation.

    Raises:
        Unavailable: as `cubin`; the cache cannot keep the machine code.
        Wrong: NVRTC reports errors.
    """
    place = folders.lasting("cubin") / _name(text, arch)
    if _kept(place) is not None:
        return False
    folders.keep(place, compiled(text, arch, path))
    return True


def options(arch: int) -> list[str]:
    """Return NVRTC's options for sm_<arch>."""
    return [f"--gpu-architecture=sm_{arch}", "-std=c++17"]


def _name(text: str, arch: int) -> str:
    """Return the name of the cache entry of a text for sm_<arch>."""
    state = "\0".join([*options(arch), ".".join(map(str, version())), text])
    return f"sm{arch}-{hashlib.sha256(state.encode()).hexdigest()}.cubin"


def _kept(place: Path) -> bytes | None:
    """Return the machine code of a cache entry; None if there is no valid entry."""
    code = folders.load(place)
    return code if code is not None and code.startswith(_MAGIC) else None


def compiled(text: str, arch: int, path: str) -> bytes:
    """Compile CUDA C++ without the cache; return the machine code.

    Raises:
        Unavailable, Wrong: as `cubin`.
    """
    if arch not in (known := architectures()):
        have = ", ".join(f"sm_{a}" for a in known)
        release = "an older cuda-bindings (12 for sm_50 to sm_72)" if arch < min(known) else "a newer cuda-bindings"
        raise Unavailable(f"NVRTC {_version()} does not compile for sm_{arch}, only for {have}; install {release}")
    return _compiled(text, options(arch), path)


@cache
def _nvrtc() -> Any:
    """Load NVRTC's library; return the module with its functions."""
    nvrtc = package("nvrtc")
    try:
        nvrtc.nvrtcVersion()
    except RuntimeError as e:  # cuda.pathfinder finds no library
        raise Unavailable(f"no NVRTC: {str(e).splitlines()[0]}; pip install nvidia-cuda-nvrtc") from None
    return nvrtc


@cache
def version() -> tuple[int, int]:
    """Return the version of NVRTC."""
    major, minor = _done(_nvrtc().nvrtcVersion())
    return int(major), int(minor)


def _version() -> str:
    return ".".join(map(str, version()))


@cache
def architectures() -> tuple[int, ...]:
    """Return the architectures that NVRTC supports, such as 90 for sm_90."""
    return tuple(_done(_nvrtc().nvrtcGetSupportedArchs()))


def _done(result: tuple[Any, ...]) -> Any:
    code, *rest = result
    if code != 0:
        raise Wrong(f"NVRTC says {getattr(code, 'name', code)}")
    return rest[0] if len(rest) == 1 else rest


def _compiled(text: str, options: list[str], path: str) -> bytes:
    nvrtc = _nvrtc()
    program = _done(nvrtc.nvrtcCreateProgram(text.encode(), b"kernels.cu", 0, None, None))
    try:
        with _own_locale():
            result = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])
        if result[0] != 0:
            raise Wrong(*_errors(nvrtc, program, path))
        code = bytes(_done(nvrtc.nvrtcGetCUBINSize(program)))
        _done(nvrtc.nvrtcGetCUBIN(program, code))
        return code
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _errors(nvrtc: Any, program: Any, path: str) -> list[str]:
    """Return the lines of the log that report errors, or all lines if none reports an error."""
    log = bytes(_done(nvrtc.nvrtcGetProgramLogSize(program)))
    _done(nvrtc.nvrtcGetProgramLog(program, log))
    lines = [line.strip() for line in log.rstrip(b"\0").decode(errors="replace").splitlines() if line.strip()]
    wrong = [line for line in lines if re.search(r"\berror\b\s*:|ptxas (error|fatal)", line)]
    return [f"{path}: NVRTC {_version()}: {line}" for line in wrong or lines or ["failed without a word"]]


@contextmanager
def _own_locale() -> Iterator[None]:
    """Restore the thread's locale after the block: NVRTC changes the locale, on which Python's decoding depends."""
    swap = getattr(ctypes.CDLL(None), "uselocale", None)
    if swap is None:
        yield
        return
    swap.restype, swap.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    before = swap(None)
    try:
        yield
    finally:
        swap(before)
