"""DXC, the HLSL compiler.

DXC is a program, or a shared library in the Python package compushady, which a child process loads.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hsgen.core.errors import Unavailable, Wrong
from hsgen.system import folders, processes, toolchain

PACKAGE = "compushady"
INSTALL = "put dxc on the PATH, or pip install --no-deps compushady==0.17.5 (which needs g++ and libvulkan-dev)"
VARIABLE = "HSGEN_DXC"
"""The environment variable that names the program or the library.  An empty value disables DXC."""
_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Compiler:
    """DXC on this machine.

    path: the path of the program, or of the library.
    identity: "DXC" with the version of the program, or with a hash of the library.
    """

    path: Path
    identity: str

    def command(self, arguments: Sequence[str], file: Path, out: Path) -> tuple[list[str], str]:
        """Return the command that compiles `file` to `out`, and the text for its standard input."""
        if ".so" not in self.path.name:
            return [str(self.path), *arguments, str(file), "-Fo", str(out)], ""
        order = {"library": str(self.path), "arguments": list(arguments), "file": str(file), "out": str(out)}
        return processes.python("hsgen.system.dxc_library"), json.dumps(order)


@cache
def compiler() -> Compiler | None:
    """Return the compiler: the program or library that `VARIABLE` names, or by default the program dxc on the PATH.

    If that program is missing, return the library of the package.  Return None if there is no DXC, if `VARIABLE` is
    empty, or if it names a missing library.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen == "":
        return None
    if chosen is not None and ".so" in Path(chosen).name:
        return _library(Path(chosen))
    if path := toolchain.tool(chosen or "dxc"):
        report = toolchain.run([path, "--version"], 60).stdout
        version = re.search(r"\d+(?:\.\d+)+", report)
        return Compiler(Path(path), f"DXC {version[0]}" if version else "DXC")
    return next(filter(None, map(_library, _libraries())), None)


def _libraries() -> list[Path]:
    from importlib import metadata  # slow to import

    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return []
    return [Path(str(f.locate())) for f in files if f.name.startswith(f"libdxcompiler_{platform.machine()}.so")]


def _library(path: Path) -> Compiler | None:
    if not path.is_file():
        return None
    return Compiler(path, f"DXC {hashlib.sha256(path.read_bytes()).hexdigest()[:8]}")


def compiled(text: str, arguments: Sequence[str], using: Compiler | None = None) -> bytes:
    """Return the binary to which DXC compiles a text: DXIL, or SPIR-V if the arguments request SPIR-V.

    Results are cached.  `using` is the compiler; by default that of `compiler`.

    Raises:
        Unavailable: there is no DXC.
        Wrong: DXC rejects the text, crashes or takes too long; the message contains DXC's first error.
    """
    using = using or compiler()
    if using is None:
        raise Unavailable(f"no HLSL compiler; {INSTALL}")
    key = hashlib.sha256("\0".join([using.identity, *arguments, text]).encode()).hexdigest()
    entry = folders.cached("dxc") / key[:2] / key
    if (known := folders.load(entry)) is not None:
        return known
    with folders.scratch() as folder:
        file, out = folder / "kernel.hlsl", folder / "kernel.bin"
        file.write_text(text, encoding="utf-8")
        command, stdin = using.command(arguments, file, out)
        try:
            done = toolchain.run(command, _SECONDS, text=stdin)
        except subprocess.TimeoutExpired:
            raise Wrong(f"DXC takes more than {_SECONDS} seconds") from None
        if done.returncode or not out.is_file():
            raise Wrong(_problem(done))
        data = out.read_bytes()
    with suppress(Unavailable):  # without a usable cache, DXC compiles the text again next time
        folders.keep(entry, data)
    return data


def _problem(done: subprocess.CompletedProcess[str]) -> str:
    lines = [x for x in (done.stderr + done.stdout).splitlines() if x.strip()]
    first = next((x for x in lines if "error" in x.lower()), (lines or ["no reason given"])[-1])
    first = re.sub(r"^\S+?:(?=\d+:\d+:)", "line ", first)  # the text replaced is the path of a temporary file
    return f"DXC {'crashes with ' if done.returncode < 0 else ''}{processes.status(done.returncode)}: {first}"
