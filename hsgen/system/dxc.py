"""DXC, the compiler of HLSL: a program, or the library in a package of PyPI, which a process of its own loads."""

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
"""Names the program or the library; an empty value disables both."""
_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Compiler:
    """DXC on this machine; `identity` has its version, or the hash of its library."""

    path: Path
    identity: str

    def command(self, arguments: Sequence[str], file: Path, out: Path) -> tuple[list[str], str]:
        """Return the command that compiles a file, and its standard input."""
        if ".so" not in self.path.name:
            return [str(self.path), *arguments, str(file), "-Fo", str(out)], ""
        order = {"library": str(self.path), "arguments": list(arguments), "file": str(file), "out": str(out)}
        return processes.python("hsgen.system.dxc_library"), json.dumps(order)


@cache
def compiler() -> Compiler | None:
    """Return the compiler: that of the variable, the program on the PATH, or the library of the package; or None."""
    chosen = os.environ.get(VARIABLE)
    if chosen == "":
        return None
    if chosen is not None and ".so" in Path(chosen).name:
        return _library(Path(chosen))
    if path := toolchain.tool(chosen or "dxc"):
        said = toolchain.run([path, "--version"], 60).stdout
        version = re.search(r"\d+(?:\.\d+)+", said)
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
    """Return what DXC makes of a text: DXIL, or SPIR-V if the arguments say so; results are cached.

    Raises:
        Unavailable: there is no DXC.
        Wrong: it rejects the text, crashes or takes too long; the line starts with its first error.
    """
    using = using or compiler()
    if using is None:
        raise Unavailable(f"no HLSL compiler; {INSTALL}")
    key = hashlib.sha256("\0".join([using.identity, *arguments, text]).encode()).hexdigest()
    kept = folders.cached("dxc") / key[:2] / key
    if (known := folders.load(kept)) is not None:
        return known
    with folders.scratch() as folder:
        file, out = folder / "kernel.hlsl", folder / "kernel.bin"
        file.write_text(text, encoding="utf-8")
        command, given = using.command(arguments, file, out)
        try:
            done = toolchain.run(command, _SECONDS, text=given)
        except subprocess.TimeoutExpired:
            raise Wrong(f"DXC takes more than {_SECONDS} seconds") from None
        if done.returncode or not out.is_file():
            raise Wrong(_problem(done))
        data = out.read_bytes()
    with suppress(Unavailable):  # without the cache, it is compiled again
        folders.keep(kept, data)
    return data


def _problem(done: subprocess.CompletedProcess[str]) -> str:
    lines = [x for x in (done.stderr + done.stdout).splitlines() if x.strip()]
    first = next((x for x in lines if "error" in x.lower()), (lines or ["no reason given"])[-1])
    first = re.sub(r"^\S+?:(?=\d+:\d+:)", "line ", first)  # the path of the file
    return f"DXC {'crashes with ' if done.returncode < 0 else ''}{processes.status(done.returncode)}: {first}"
