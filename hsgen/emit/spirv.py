"""Compilation of GLSL to SPIR-V by an installed compiler.

Each kernel has a SPIR-V module that accesses buffers through descriptors.  Some kernels have a second module, which
accesses buffers by device addresses.  The compilation of a sort takes seconds, so hsgen keeps modules in the user's
cache folder.  The key of the cache is a hash of the compiler, its options and the GLSL text.  hsgen ignores a cache
that it cannot read or write.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hsgen.core.errors import Unavailable, Usage, Wrong
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source
from hsgen.system import extras, folders, processes, toolchain

ADDRESS_FROM = 1 << 20
"""The greatest number of keys for which descriptors suffice on every device.

For more keys, a buffer may exceed the greatest size that a device permits for a descriptor.
"""

_INSTALL = "install a GLSL compiler: apt-get install glslang-tools, or"
_ANYWHERE = f"{_INSTALL} pip install 'hsgen[vulkan]'"
ABSENT = f"generated with --glsl-only, without SPIR-V; {_ANYWHERE}, and generate again without --glsl-only"
"""The message of the ``#error`` that stops the build of a Vulkan program with a bundle that has no SPIR-V."""

_MAGIC = (0x07230203).to_bytes(4, "little")
_SECONDS = 300
_OPTIONS = {
    "glslangValidator": ("-V", "--quiet", "-Os", "-g0", "-S", "comp", "--target-env"),
    "glslang": ("-V", "--quiet", "-Os", "-g0", "-S", "comp", "--target-env"),
    "glslc": ("-Os", "-fshader-stage=comp", "--target-env"),
}


@dataclass(frozen=True, slots=True)
class Compiler:
    """An installed GLSL compiler.

    path: the path of the program.
    name: the name of the program, a key of `_OPTIONS`.
    identity: the name, the version and the options in one text, which manifests record.
    libraries: the folder of the program's shared libraries; "" if the system finds them.
    """

    path: str
    name: str
    identity: str
    libraries: str = ""


@dataclass(frozen=True, slots=True)
class Module:
    """The identity of a SPIR-V module: its kernel, and how it accesses buffers.

    address: whether the module accesses buffers by device addresses; False if it uses descriptors.
    """

    kernel: str
    address: bool


@cache
def compiler() -> Compiler | None:
    """Return an installed GLSL compiler, or None if there is none.

    The compiler is the one that the environment variable HSGEN_GLSL names.  If the variable is empty, no compiler is
    used.  Without the variable, the function searches PATH, then the programs that pip installed in this Python
    environment.

    Raises:
        Usage: HSGEN_GLSL names no known GLSL compiler.
    """
    chosen = os.environ.get("HSGEN_GLSL")
    if chosen == "":
        return None
    scripts = Path(sysconfig.get_path("scripts"))
    names = [chosen] if chosen else [*_OPTIONS, *(str(scripts / name) for name in _OPTIONS)]
    installed = next((c for path in map(toolchain.tool, names) if path and (c := _known(path))), None)
    if chosen and installed is None:
        raise Usage(f"HSGEN_GLSL: {chosen} is no GLSL compiler; name {', '.join(_OPTIONS)}, with its folder or without")
    return installed


def _known(path: str, libraries: str = "") -> Compiler | None:
    """Return the compiler at `path`; None if the program is no known compiler, or does not report its version.

    libraries: `Compiler.libraries`.
    """
    kind = Path(path).name
    if kind not in _OPTIONS:
        return None
    if not libraries and (known := _packaged(path)):
        return known
    try:
        report = _run(path, libraries, ["--version"], 60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r"(?:Glslang Version|shaderc|glslang)[: ]+v?([\w.:-]{1,60})", report, re.ASCII)
    if version is None:
        return None
    # glslc reports the version of shaderc, then those of glslang and SPIRV-Tools; the hash identifies all of them
    parts = f" ({hashlib.sha256(report.encode()).hexdigest()[:8]})" if kind == "glslc" else ""
    return Compiler(path, kind, f"{kind} {version[1]}{parts} -Os", libraries)


def _packaged(script: str) -> Compiler | None:
    """Return the compiler that a Python script of the package cmeel starts; None if `script` is no such script.

    hsgen starts the compiler itself, because the start of Python would take as long as the compilation of a kernel.
    """
    prefix = Path(sysconfig.get_path("purelib")) / "cmeel.prefix"
    program = prefix / "bin" / Path(script).name
    if Path(script).parent != Path(sysconfig.get_path("scripts")) or not program.is_file():
        return None
    return _known(str(program), str(prefix / "lib"))


def _run(path: str, libraries: str, options: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Run the compiler at `path` with these options, and return its output and exit code.

    libraries: `Compiler.libraries`.
    """
    if libraries:
        return toolchain.run([path, *options], seconds, LD_LIBRARY_PATH=libraries)
    return toolchain.run([path, *options], seconds)


def install() -> str:
    """Return advice on the installation of a GLSL compiler on this machine."""
    return f"{_INSTALL} {extras.command('vulkan')}"


def modules(sort: Sort) -> list[Module]:
    """Return the SPIR-V modules that a sort needs.

    Every kernel has a module with descriptors.  A kernel also has a module with device addresses if calls for more than
    `ADDRESS_FROM` keys launch it.  If a launch is bounded by the length of rows, it may occur for all counts of the
    plan.  In a sort with a device-side count, all kernels have both modules, so that programs such as renderers need no
    descriptors.  A kernel whose counts are 64-bit numbers has no GLSL text, and therefore no module.
    """
    every = sort.signature.device_count
    most = [(s.kernel, sort.plan.max_n if s.guard.x == "length" else s.guard.max_n) for s in sort.plan.steps]
    large = {kernel for kernel, n in most if every or n > ADDRESS_FROM}
    written = [k.name for k in sort.kernels if not k.index64]
    return [Module(name, a) for a in (False, True) for name in written if not a or name in large]


def body(text: str) -> str:
    """Return a GLSL text without its header, the comment lines at its start."""
    return re.sub(r"\A(?://.*\n)+", "", text)


def defines(module: Module) -> list[str]:
    """Return the names of the macros that must be defined to compile this module from the GLSL text of a sort."""
    return [f"HS_KERNEL_{module.kernel}"] + (["HS_ADDRESS"] if module.address else [])


def compile_all(sort: Sort, source: Source, using: Compiler) -> Mapping[Module, bytes]:
    """Return the SPIR-V of all modules of a sort.

    Raises:
        Wrong: the compiler rejects a kernel; the message names the kernel.
    """
    needed = modules(sort)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            binaries = pool.map(lambda m: compile_one(source.text, source.path, m, using, sort.vulkan), needed)
            return dict(zip(needed, binaries, strict=True))
        except BaseException:  # a compilation failed or was interrupted, so the others are stopped
            pool.shutdown(wait=False, cancel_futures=True)
            processes.stop()
            raise


def compile_one(text: str, path: str, module: Module, using: Compiler, vulkan: str = "1.1") -> bytes:
    """Return the SPIR-V of one module for a version of Vulkan.

    text, path: the GLSL text of the sort, and its path for messages.

    Raises:
        Wrong: the compiler rejects the text, crashes or takes too long.
    """
    *options, environment = _OPTIONS[using.name]
    target = [f"{environment}=vulkan{vulkan}"] if using.name == "glslc" else [environment, f"vulkan{vulkan}"]
    options += [*target, *(f"-D{d}" for d in defines(module))]
    entry = _place(hashlib.sha256("\0".join([using.identity, *options, body(text)]).encode()).hexdigest())
    if (known := folders.load(entry)) is not None:
        return known
    with folders.scratch() as folder:
        file, out = folder / "kernel.comp", folder / "kernel.spv"
        file.write_text(text, encoding="utf-8")
        problem = _compile(using, [*options, str(file), "-o", str(out)])
        data = out.read_bytes() if out.is_file() else b""
        if problem is None and (len(data) % 4 or data[:4] != _MAGIC):
            problem = "produces no SPIR-V"
        if problem is not None:
            raise Wrong(f"{path}: kernel {module.kernel}: {using.name} {problem.replace(str(file), '')}")
    with suppress(Unavailable):  # without a usable cache, the module is compiled again next time
        folders.keep(entry, data)
    return data


def _compile(using: Compiler, options: list[str]) -> str | None:
    """Run a compiler; return a description of its failure, or None if it succeeds."""
    try:
        done = _run(using.path, using.libraries, options, _SECONDS)
    except subprocess.TimeoutExpired:
        return f"takes more than {_SECONDS} seconds"
    if done.returncode < 0:
        return f"crashes with signal {-done.returncode}"
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()
        return f"rejects it: {next((x for x in lines if 'error' in x.lower()), 'no reason given')}"
    return None


def _place(key: str) -> Path:
    return folders.cached("spirv") / key[:2] / key
