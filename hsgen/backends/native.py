"""A bundle's own C runtime, driven from Python: built on the spot, loaded with ctypes.

Loading and running it happens in a process of its own (`hsgen.worker`), since drivers crash and hang.  Built
libraries are kept in the user's cache folder by the hash of all that went into them.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hsgen import bundle, toolchain
from hsgen.backends.hosts import Host
from hsgen.errors import Unavailable, Wrong
from hsgen.manifest import Manifest, choose
from hsgen.spec import Sort
from hsgen.target import Target

HARNESS = Path(__file__).resolve().parent / "native"
_HEADERS = {"opencl": "CL/cl.h", "vulkan": "vulkan/vulkan_core.h"}
_INSTALL = {"opencl": "ocl-icd-opencl-dev", "vulkan": "libvulkan-dev"}
_LINK = {"opencl": ["-lOpenCL"], "vulkan": ["-ldl"]}


def compiler() -> list[str]:
    """Return the command of a C compiler: CC, cc, gcc, clang, or the one in the ziglang package.

    Raises:
        Unavailable: there is none.
    """
    chosen = os.environ.get("CC", "").split()
    for command in [chosen] if chosen else [["cc"], ["gcc"], ["clang"]]:
        if path := toolchain.tool(command[0]):
            return [path, *command[1:]]
    if toolchain.has_module("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise Unavailable("no C compiler; install gcc or clang, or pip install ziglang")


def _nvcc() -> list[str]:
    path = toolchain.tool("nvcc")
    if path is None:
        raise Unavailable("no nvcc on the PATH; install NVIDIA's CUDA toolkit")
    return [path, "-std=c++17", "-O3", "-cudart", "static", f"-arch={architecture()}", "-Xcompiler", "-fPIC"]


@cache
def architecture() -> str:
    """Return the architecture of this machine's first NVIDIA GPU, for nvcc.

    Raises:
        Unavailable: there is no such GPU.
    """
    path = toolchain.tool("nvidia-smi")
    command = [path or "", "--query-gpu=compute_cap", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False) if path else None
    if done is None or done.returncode or not done.stdout.strip():
        raise Unavailable("no NVIDIA GPU: nvidia-smi shows none")
    return "sm_" + done.stdout.split()[0].replace(".", "")


def library(
    api: str, targets: Sequence[Target], key: str, peers: Sequence[str] = (), made: tuple[Path, Manifest] | None = None
) -> Path:
    """Return the shared library of the bundle of these targets with the harness of `api`.

    `made` is a bundle whose SPIR-V is taken where its GLSL is the same, for machines without a GLSL compiler.

    Raises:
        Unavailable: a compiler or a header is missing.
        Wrong: something does not compile.
    """
    words = bundle.Modules(made[0] if made else Path(os.devnull), made[1] if made else None, "hs")
    parts = {t.name: (t, choose(t, [key], [api], [])) for t in targets}
    files, _ = bundle.build(parts, words, "hs")
    if words.missing:
        raise Unavailable(
            f"no GLSL compiler for {next(iter(words.missing))}; install glslang or shaderc, or name a bundle that "
            "holds it with --bundle"
        )
    for file in sorted(HARNESS.iterdir()):
        files[f"harness/{file.name}"] = file.read_bytes()
    command = _nvcc() if api == "cuda" else [*compiler(), "-std=c99", "-O1", "-fPIC"]
    peer = [f"harness/{p}.cu" for p in peers if api == "cuda" and f"harness/{p}.cu" in files]
    units = [p for p in sorted(files) if _compiled(p, api)] + peer
    state = hashlib.sha256("\0".join([*command, *units, *_versions(command)]).encode())
    for path in sorted(files):
        state.update(path.encode() + b"\0" + files[path])
    place = _cache() / f"{api}-{state.hexdigest()}.so"
    if not place.is_file():
        _build(api, command, units, files, place)
    return place


def _compiled(path: str, api: str) -> bool:
    if path.startswith("harness/"):
        return path == f"harness/{api}.{'cu' if api == 'cuda' else 'c'}"
    return path.endswith((".c", ".cu")) and not path.startswith("examples/") and "/kernels/" not in path


def _versions(command: Sequence[str]) -> list[str]:
    done = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=False)
    return [done.stdout]


def _cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    place = Path(root) / "hsgen" / "native"
    try:
        place.mkdir(parents=True, exist_ok=True)
        return place
    except OSError:
        return Path(tempfile.mkdtemp(prefix="hsgen-"))


def _build(api: str, command: list[str], units: list[str], files: bundle.Files, place: Path) -> None:
    header = _HEADERS.get(api)
    if header and not _has_header(command, header):
        raise Unavailable(f"the header {header} is missing; install it (Debian and Ubuntu: {_INSTALL[api]})")
    folder = Path(tempfile.mkdtemp(prefix="hsgen-"))
    try:
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        out = folder / "out.so"
        flags = ["-shared", "-Iinclude", "-Iharness", *units, "-o", str(out), *_LINK.get(api, [])]
        if api == "cuda" and (extra := Path(command[0]).resolve().parents[1] / "include" / "cccl").is_dir():
            flags.insert(0, f"-I{extra}")
        done = subprocess.run([*command, *flags], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [x for x in (done.stdout + done.stderr).splitlines() if "error" in x or "cannot find" in x]
            said = lines[0] if lines else f"exit code {done.returncode}"
            raise Wrong(f"the C runtime of {api} does not build with {Path(command[0]).name}: {said}")
        shutil.copyfile(out, place.with_suffix(f".{os.getpid()}"))
        place.with_suffix(f".{os.getpid()}").replace(place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _has_header(command: Sequence[str], header: str) -> bool:
    done = subprocess.run(
        [*command, "-E", "-x", "c", "-"], input=f"#include <{header}>\n", capture_output=True, text=True, check=False
    )
    return done.returncode == 0


class Harness:
    """The functions of ``native/harness.h`` in a library."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function.

        Raises:
            Wrong: it reports an error.
        """
        function = getattr(self._library, name)
        function.restype = ctypes.c_char_p
        if said := function(*arguments):
            raise Wrong(" ".join(said.decode(errors="replace").split())[:500])

    def has(self, name: str) -> bool:
        """Whether the library holds a function."""
        return hasattr(self._library, name)

    def text(self, name: str) -> str:
        """Return what a function that only tells something says."""
        function = getattr(self._library, name)
        function.restype = ctypes.c_char_p
        return (function() or b"").decode(errors="replace")

    def close(self) -> None:
        """Release what is open."""
        function = self._library.hn_close
        function.restype = None
        function()

    def hosts(self, api: str) -> list[Host]:
        """Return the devices that the API shows."""
        count = ctypes.c_int()
        self.call("hn_count", ctypes.byref(count))
        out = []
        for index in range(count.value):
            text = ctypes.create_string_buffer(4096)
            self.call("hn_describe", ctypes.c_int(index), text, ctypes.c_size_t(len(text)))
            facts = json.loads(text.value.decode(errors="replace"))
            widths = tuple(facts.pop("subgroups"))
            out.append(Host(api=api, version="", handle=index, widths=widths, **facts))
        return out


class Native:
    """An `Engine` through the C runtime of a bundle."""

    def __init__(self, harness: Harness, api: str, sort: Sort, index: int, options: str) -> None:
        self._harness = harness
        self.api, self.sort = api, sort
        self.align = 1024 if api == "opencl" else sort.key.bytes  # OpenCL: sub-buffers
        harness.call("hn_open", ctypes.c_int(index), options.encode())
        names = (sort.target, sort.algorithm, sort.key.name)
        harness.call("hn_sorter", *(x.encode() for x in names))

    def allocate(self, slot: int, size: int) -> None:
        """See `Engine`."""
        self._harness.call("hn_buffer", ctypes.c_int(slot), ctypes.c_uint64(max(size, 1)))

    def write(self, slot: int, image: Any) -> None:
        """See `Engine`."""
        self._move("hn_write", slot, image)

    def read(self, slot: int, image: Any) -> None:
        """See `Engine`."""
        self._move("hn_read", slot, image)

    def _move(self, name: str, slot: int, image: Any) -> None:
        place = image.ctypes.data_as(ctypes.c_void_p)
        self._harness.call(name, ctypes.c_int(slot), ctypes.c_uint64(0), place, ctypes.c_uint64(image.nbytes))

    def run(self, n: int, source: int, slot: int, destination: int) -> None:
        """See `Engine`."""
        u64 = ctypes.c_uint64
        self._timed("hn_sort", u64(n), u64(source), ctypes.c_int(slot), u64(destination))

    def copy(self, size: int) -> None:
        """See `Engine`."""
        self._timed("hn_copy", ctypes.c_uint64(size))

    def peer(self, name: str, size: int, n: int) -> None:
        """See `Engine`."""
        if not self._harness.has("hn_peer"):
            raise Unavailable(f"peer {name}: runs beside CUDA only; add --api cuda")
        self._timed("hn_peer", name.encode(), ctypes.c_int(size), ctypes.c_uint64(n))

    def _timed(self, name: str, *arguments: Any) -> float:
        seconds = ctypes.c_double()
        self._harness.call(name, *arguments, ctypes.byref(seconds))
        return seconds.value

    def messages(self) -> str:
        """See `Engine`."""
        return self._harness.text("hn_messages")

    def close(self) -> None:
        """Release everything."""
        self._harness.close()
