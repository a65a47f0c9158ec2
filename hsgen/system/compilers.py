"""The C compiler of this machine, and a function that runs external programs with a time limit."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hsgen.core.errors import Unavailable, Wrong
from hsgen.system import folders, processes, toolchain

PATIENCE = 60.0  # the time limit in seconds of programs that normally end at once


def c_compiler() -> list[str]:
    """Return the command of a C compiler: the environment variable CC, or the first of cc, gcc, clang and zig.

    The compiler zig is that of the Python package ziglang.

    Raises:
        Unavailable: there is no C compiler.
    """
    chosen = os.environ.get("CC", "").split()
    for command in [chosen] if chosen else [["cc"], ["gcc"], ["clang"]]:
        if path := toolchain.tool(command[0]):
            return [path, *command[1:]]
    if chosen:
        raise Unavailable(f"no C compiler {chosen[0]}, which the variable CC names; unset it or install that compiler")
    if toolchain.has_module("ziglang"):
        return processes.python("ziglang", "cc")
    raise Unavailable("no C compiler; install gcc or clang, or pip install ziglang")


def shared_c99() -> list[str]:
    """Return the command by which the compiler of `c_compiler` compiles C99 for a shared library."""
    return [*c_compiler(), "-std=c99", "-O1", "-fPIC"]


def complaint(done: subprocess.CompletedProcess[str], words: Sequence[str]) -> str:
    """Return the first line of a failed compiler's output that contains one of `words`, such as "error".

    If no line contains any of the words, return the last line.  If there is no output, return the exit code as text.
    """
    lines = (done.stdout + done.stderr).splitlines()
    relevant = [x for x in lines if any(w in x for w in words)] or lines[-1:]
    return relevant[0] if relevant else f"exit code {done.returncode}"


def run(command: Sequence[str], seconds: float, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run an external program and return its result; `more` are further arguments of `toolchain.run`.

    Raises:
        Wrong: the program does not end within `seconds`.
    """
    try:
        return toolchain.run(command, seconds, **more)
    except subprocess.TimeoutExpired:
        raise Wrong(f"{Path(command[0]).name} hangs: it did not end within {seconds:g} seconds") from None


def library(source: Path, *libraries: str) -> Path:
    """Return the path of a shared library with the C99 file `source`; build the library unless hsgen's cache has it.

    libraries: linker options for other libraries, such as "-ldl".

    Raises:
        Unavailable: there is no C compiler, or no cache.
        Wrong: the compiler fails.
    """
    command = [*shared_c99(), "-O2"]
    version = run([*command, "--version"], PATIENCE).stdout
    state = "\0".join([*command, *libraries, version]).encode() + source.read_bytes()
    place = folders.cached("native") / f"{source.stem}-{hashlib.sha256(state).hexdigest()}.so"
    if folders.load(place) is None:
        with folders.scratch() as folder:
            out = folder / "out.so"
            done = run([*command, "-shared", str(source), "-o", str(out), *libraries], PATIENCE)
            if done.returncode:
                raise Wrong(f"{source.name} does not build: {complaint(done, ('error', 'fatal'))}")
            folders.keep(place, out.read_bytes())
    return place
