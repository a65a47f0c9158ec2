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

PATIENCE = 60.0  # seconds, for programs that normally end at once


def c_compiler() -> list[str]:
    """Return the command of a C compiler: that of the variable CC, else the first of cc, gcc, clang and ziglang's zig.

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
    """Return the command that compiles C99 for a shared library, with the compiler of `c_compiler`."""
    return [*c_compiler(), "-std=c99", "-O1", "-fPIC"]


def complaint(done: subprocess.CompletedProcess[str], words: Sequence[str]) -> str:
    """Return the first line of a failed compiler's output that contains one of the words.

    If no line contains a word, return the last line.  If there is no output, return the exit code.
    """
    lines = (done.stdout + done.stderr).splitlines()
    relevant = [x for x in lines if any(w in x for w in words)] or lines[-1:]
    return relevant[0] if relevant else f"exit code {done.returncode}"


def run(command: Sequence[str], seconds: float, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run an external program and return its output.

    Raises:
        Wrong: the program does not end within `seconds`.
    """
    try:
        return toolchain.run(command, seconds, **more)
    except subprocess.TimeoutExpired:
        raise Wrong(f"{Path(command[0]).name} hangs: it did not end within {seconds:g} seconds") from None


def library(source: Path, *libraries: str) -> Path:
    """Return the path of a shared library of one file of C99, which is built unless hsgen's cache has it.

    libraries: options of the linker, such as "-ldl".

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
