"""Builds baselines in C and C++ with the machine's compiler, caches the libraries, and loads them with ctypes."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hsgen.core.errors import HsgenError, Unavailable
from hsgen.system import compilers, folders, processes, toolchain

SOURCES = Path(__file__).resolve().parent / "native"
_SECONDS = 300.0  # time limit of a compilation; a header-only library takes half a minute on a slow machine
_RELEVANT = ("error", "fatal", "cannot find", "undefined")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A baseline to build: its source file, the linker's options, and what to install if it does not build."""

    source: str
    link: tuple[str, ...] = ()
    install: str


PEERS = "HSGEN_PEER_SOURCE"
"""The environment variable that names a folder with headers of baselines; they may be in its folder `include`."""

UNITS = {
    "lsd": Unit(source="lsd.c", install="a C compiler with its headers (Debian and Ubuntu: gcc libc6-dev)"),
    "std": Unit(source="std.cpp", install="a C++ compiler with its library (Debian and Ubuntu: g++)"),
    "vqsort": Unit(
        source="vqsort.cpp",
        link=("-lhwy_contrib", "-lhwy"),
        install="Highway with contrib/sort (Debian and Ubuntu: libhwy-dev)",
    ),
    "boost": Unit(
        source="boost.cpp",
        link=("-lOpenCL",),
        install="Boost.Compute and OpenCL's headers and loader (Debian and Ubuntu: libboost-dev ocl-icd-opencl-dev)",
    ),
    "vrdx": Unit(
        source="vrdx.cpp",
        link=("-ldl",),
        install="Vulkan's headers (Debian and Ubuntu: libvulkan-dev), and name the folder of vk_radix_sort.h with "
        "--peer-source",
    ),
}


def compiler(source: str) -> list[str]:
    """Return the command that compiles a C or C++ file.

    The C++ compiler is the one that the variable CXX names, or else the first of c++, g++, clang++ and ziglang's.

    Raises:
        Unavailable: no compiler is found.
    """
    if source.endswith(".c"):
        return [*compilers.c_compiler(), "-std=c99"]
    chosen = os.environ.get("CXX", "").split()
    for command in [chosen] if chosen else [["c++"], ["g++"], ["clang++"]]:
        if path := toolchain.tool(command[0]):
            return [path, *command[1:], "-std=c++17"]
    if chosen:
        raise Unavailable(f"no C++ compiler {chosen[0]}, which the variable CXX names; unset it or install that one")
    if toolchain.has_module("ziglang"):
        return [*processes.python("ziglang", "c++"), "-std=c++17"]
    raise Unavailable("no C++ compiler; install g++ or clang, or pip install ziglang")


@cache
def load(name: str) -> ctypes.CDLL:
    """Load the library of a baseline in `UNITS`; build it first if it is not in the cache.

    Raises:
        Unavailable: the library cannot be built or loaded here; the message names the packages to install.
    """
    unit = UNITS[name]
    try:
        library = ctypes.CDLL(str(_built(name, unit)))
    except HsgenError as e:
        raise Unavailable(f"baseline {name}: {e.lines[0]}") from None
    except OSError as e:
        raise Unavailable(f"baseline {name}: does not load: {e}; install {unit.install}") from None
    library.baseline_version.restype = ctypes.c_char_p
    return library


def call(name: str, library: ctypes.CDLL, function: str, *arguments: Any) -> None:
    """Call a function of a baseline's library.

    Raises:
        Unavailable: the function returns an error message.
    """
    entry = getattr(library, function)
    entry.restype = ctypes.c_char_p
    if message := entry(*arguments):
        raise Unavailable(f"baseline {name}: {' '.join(message.decode(errors='replace').split())[:500]}")


def version(library: ctypes.CDLL) -> str:
    """Return the version that a baseline's library reports."""
    return bytes(library.baseline_version()).decode(errors="replace")


def _built(name: str, unit: Unit) -> Path:
    """Return the path of a baseline's shared library; build it if it is not in the cache.

    The file name has a hash of the preprocessed source, the compiler and its options.
    """
    sources = os.environ.get(PEERS)
    peers = [f"-I{folder}" for folder in (sources, f"{sources}/include")] if sources else []
    command = [*compiler(unit.source), "-O3", "-DNDEBUG", "-fPIC", f"-I{SOURCES}", *peers]
    source = str(SOURCES / unit.source)
    # preprocessed text contains all headers, so another version of a header-only library gives another hash
    text = _compile([*command, "-E", "-P", source], unit)
    version_text = compilers.run([*command, "--version"], compilers.PATIENCE).stdout
    state = hashlib.sha256("\0".join([*command, *unit.link, version_text, text]).encode())
    place = folders.cached("baselines") / f"{name}-{state.hexdigest()}.so"
    if folders.load(place) is None:
        with folders.scratch() as folder:
            out = folder / "out.so"
            _compile([*command, "-shared", source, "-o", str(out), *unit.link], unit)
            folders.keep(place, out.read_bytes())
    return place


def _compile(command: Sequence[str], unit: Unit) -> str:
    done = compilers.run(command, _SECONDS)
    if done.returncode:
        done.stdout = ""  # stdout may be preprocessed text
        complaint = compilers.complaint(done, _RELEVANT)
        raise Unavailable(f"does not build with {Path(command[0]).name}: {complaint}; install {unit.install}")
    return done.stdout
