"""Compiles CUDA kernels for NVIDIA's instruction sets without a GPU or driver, and reports the kernels' resources.

There are two kinds of compilers.  NVRTC comes from PyPI: version 11.8 serves Kepler to Hopper, version 12.9 Maxwell to
Blackwell, and both can be installed at once.  nvcc is that of the CUDA toolkit, if it is on the path.  NVRTC's
libraries are loaded at their first use.  A compiler may crash or hang.  Therefore this file can also run as a process
of its own (`main`), which compiles the request on stdin.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import json
import re
import struct
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import cast

from hsgen.apis.cuda import API as API
from hsgen.core.errors import Unavailable, Wrong
from hsgen.system import folders, toolchain

_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The resources of a kernel, as ``ptxas -v`` reports them.

    `registers` are those of a lane.  `spill_stores` and `spill_loads` are bytes.  `shared` is the bytes of static
    shared memory, without the memory that a launch adds.  `instructions` is the result of `instructions` below; None if
    the machine code cannot be read.
    """

    registers: int
    spill_stores: int
    spill_loads: int
    shared: int
    instructions: int | None = None

    @property
    def spills(self) -> bool:
        """Whether the kernel spills registers to memory."""
        return self.spill_stores > 0 or self.spill_loads > 0


def uses(log: str) -> dict[str, Use]:
    """Return the resources of each kernel in a log of ``ptxas -v``."""
    by_kernel: dict[str, Use] = {}
    for part in re.split(r"(?=Compiling entry function)", log):
        entry, registers = _ENTRY.search(part), _REGISTERS.search(part)
        if entry and registers:
            spills, shared = _SPILLS.search(part), _SHARED.search(part)
            by_kernel[entry[1]] = Use(
                registers=int(registers[1]),
                spill_stores=int(spills[1]) if spills else 0,
                spill_loads=int(spills[2]) if spills else 0,
                shared=int(shared[1]) if shared else 0,
            )
    return by_kernel


PACKAGES = ("nvidia-cuda-nvrtc-cu11", "nvidia-cuda-nvrtc-cu12")
INSTALL = "pip install nvidia-cuda-nvrtc-cu11==11.8.89 nvidia-cuda-nvrtc-cu12==12.9.86"
_LIBRARY = re.compile(r"libnvrtc\.so\.\d+(\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """A compiler; `path` is NVRTC's library or the program nvcc, `archs` the NN of each sm_NN that it supports."""

    name: str
    path: Path
    archs: tuple[int, ...]

    def compile(self, text: str, arch: int) -> dict[str, Use]:
        """Compile `text`, CUDA C++ without includes, for sm_<arch>; return the resources of each kernel by name.

        Raises:
            Wrong: the compiler reports errors; the message has a line per error, with the line number in `text`.
            Unavailable: the compiler does not support the architecture.
        """
        if arch not in self.archs:
            known = ", ".join(f"sm_{a}" for a in self.archs)
            raise Unavailable(f"{self.name}: does not support sm_{arch}, only {known}; install another: {INSTALL}")
        log, code = _by_nvcc(self, text, arch) if self.path.name == "nvcc" else _by_nvrtc(self, text, arch)
        try:
            counts = instructions(code, arch)
        except ValueError:
            counts = {}
        return {name: replace(use, instructions=counts.get(name)) for name, use in uses(log).items()}


def compilers() -> list[Compiler]:
    """Return the installed compilers: NVRTC from each of `PACKAGES`, the oldest first, and nvcc last."""
    nvrtcs = [_nvrtc(path) for package in PACKAGES for path in _libraries(package)]
    path = toolchain.tool("nvcc")
    return [*nvrtcs, _nvcc(path)] if path else nvrtcs


def compiler_for(arch: int, among: Iterable[Compiler] | None = None) -> Compiler:
    """Return the first compiler that supports sm_<arch>.

    Raises:
        Unavailable: no compiler supports it.
    """
    known = compilers() if among is None else list(among)
    for one in known:
        if arch in one.archs:
            return one
    have = ", ".join(one.name for one in known) or "nothing"
    raise Unavailable(
        f"no compiler for sm_{arch} (found {have}); {INSTALL}, or put nvcc of the CUDA toolkit on the path"
    )


def compile(text: str, arch: int) -> dict[str, Use]:
    """Compile `text` with the first compiler that supports sm_<arch>; see `Compiler.compile`."""
    return compiler_for(arch).compile(text, arch)


def _libraries(package: str) -> list[Path]:
    """Return the path of NVRTC's library in an installed package, as a list; empty without the package.

    The package's other libraries (the builtins and the alternative build) are left out.
    """
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    paths = [Path(str(f.locate())).resolve() for f in files if _LIBRARY.fullmatch(f.name)]
    return [p for p in paths if p.is_file()]


@cache
def _load(path: Path) -> ctypes.CDLL:
    """Load NVRTC's library.

    The library loads its builtins from its own folder, so several versions can be loaded at once.
    """
    try:
        return ctypes.CDLL(str(path))
    except OSError as e:
        raise Unavailable(f"NVRTC cannot be loaded ({e}); install it again: {INSTALL}") from None


@cache
def _nvrtc(path: Path) -> Compiler:
    library = _load(path)
    major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    _done(library, library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    _done(library, library.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    archs = (ctypes.c_int * count.value)()
    _done(library, library.nvrtcGetSupportedArchs(archs))
    return Compiler(name=f"NVRTC {major.value}.{minor.value}", path=path, archs=tuple(archs))


def _done(library: ctypes.CDLL, result: int) -> None:
    if result:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise Wrong(f"NVRTC: {library.nvrtcGetErrorString(result).decode()}")


def _thread_locale(new: int | None) -> int | None:
    """Return the locale that this thread had before the call; set the thread's locale to `new` unless `new` is None.

    A locale is a handle of the C function `uselocale`.  If the C library lacks this function, the result is None, and
    nothing changes.  The thread's locale determines the encoding by which Python decodes a file, if a call opens the
    file without an encoding.
    """
    function = getattr(ctypes.CDLL(None), "uselocale", None)
    if function is None:
        return None
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    return cast(int, function(new))


def _by_nvrtc(compiler: Compiler, text: str, arch: int) -> tuple[str, bytes]:
    """Compile `text` with NVRTC; return the log and the cubin."""
    library, program, size = _load(compiler.path), ctypes.c_void_p(), ctypes.c_size_t()
    options = [f"--gpu-architecture=sm_{arch}".encode(), b"--ptxas-options=-v"]
    _done(library, library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None))
    before = _thread_locale(None)  # NVRTC changes the thread's locale, so restore it afterwards
    try:
        result = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        _done(library, library.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
        log = ctypes.create_string_buffer(size.value)
        _done(library, library.nvrtcGetProgramLog(program, log))
        code = b"" if result else _cubin(library, program)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
        _thread_locale(before)
    message = log.value.decode(errors="replace")
    if result:
        raise Wrong(*_errors(compiler, arch, message))
    return message, code


def _cubin(library: ctypes.CDLL, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    _done(library, library.nvrtcGetCUBINSize(program, ctypes.byref(size)))
    code = ctypes.create_string_buffer(size.value)
    _done(library, library.nvrtcGetCUBIN(program, code))
    return code.raw


@cache
def _nvcc(path: str) -> Compiler:
    output = _run([path, "--version"]).stdout
    version = re.search(r"release ([\d.]+)", output)
    archs = re.findall(r"compute_(\d+)\b", _run([path, "--list-gpu-arch"]).stdout)
    name = f"nvcc {version[1]}" if version else "nvcc"
    return Compiler(name=name, path=Path(path), archs=tuple(map(int, archs)))


def _by_nvcc(compiler: Compiler, text: str, arch: int) -> tuple[str, bytes]:
    """Compile `text` with nvcc; return the log and the cubin.

    nvcc omits static kernels that no host code launches.  Therefore this function makes kernels extern.
    """
    with folders.scratch() as folder:
        source = folder / "kernels.cu"
        source.write_text(text.replace("static __global__", 'extern "C" __global__'), encoding="utf-8")
        out = source.with_suffix(".cubin")
        command = [str(compiler.path), "-cubin", f"-arch=sm_{arch}", "-Xptxas", "-v", str(source), "-o", str(out)]
        done = _run(command)
        code = out.read_bytes() if out.is_file() else b""
        message = (done.stdout + done.stderr).replace(f"{folder}/", "")
    if done.returncode:
        raise Wrong(*_errors(compiler, arch, message))
    return message, code


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return toolchain.run(command, 600)


def _errors(compiler: Compiler, arch: int, log: str) -> list[str]:
    """Return the lines of a log that report errors, or all lines if none reports an error."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    wrong = [line for line in lines if re.search(r"\berror\b\s*:|ptxas (error|fatal)", line)]
    return [f"{compiler.name} for sm_{arch}: {line}" for line in wrong or lines]


def main() -> None:
    """Compile the request on stdin, a JSON object with `text`, `arch` (NN of sm_NN), the compiler's `name` and `path`.

    The resources or the errors are written as JSON to the file `out`, also a field of the request.
    """
    order = json.loads(sys.stdin.read())
    compiler = Compiler(name=order["name"], path=Path(order["path"]), archs=(order["arch"],))
    try:
        uses = compiler.compile(order["text"], order["arch"])
        answer: dict[str, object] = {"uses": {kernel: asdict(use) for kernel, use in uses.items()}}
    except Wrong as e:
        answer = {"wrong": e.lines}
    Path(order["out"]).write_text(json.dumps(answer), encoding="utf-8")


_PREFIX = ".text."


def instructions(data: bytes, arch: int) -> dict[str, int]:
    """Return the number of instructions of each kernel in a cubin, by name; padding at a kernel's end is included.

    `arch` is the NN of sm_NN.  The code of a kernel is the ELF section ``.text.NAME``.  From Volta on, an instruction
    has 16 bytes.  Before Volta, an instruction has 8 bytes.  There, every fourth word (Maxwell, Pascal) or every eighth
    word (Kepler) is no instruction, but controls the scheduling of the words around it.

    The encoding is described in Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking (2018),
    section 2.1.

    Raises:
        ValueError: the data is not a 64-bit ELF file.
    """
    if data[:5] != b"\x7fELF\x02" or len(data) < 64:
        raise ValueError("no ELF file of 64 bits")
    (at,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    labels = headers[names][4]
    counts: dict[str, int] = {}
    for name, _, _, _, _, length in headers:
        begin = labels + name
        label = data[begin : data.index(b"\0", begin)].decode()
        if label.startswith(_PREFIX):
            words = length // (16 if arch >= 70 else 8)
            every = 0 if arch >= 70 else 4 if arch >= 50 else 8
            counts[label.removeprefix(_PREFIX)] = words - (words // every if every else 0)
    return counts


if __name__ == "__main__":
    main()
