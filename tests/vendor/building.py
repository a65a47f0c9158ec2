"""Common parts of the tests of bundles: bundles made once, compilers, and an OpenCL loader that sees one runtime
only."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from tools import GLSL, OPENCL, VULKAN, has, missing, need

from hsgen.apis import APIS
from hsgen.cli import main
from hsgen.emit import c_files
from hsgen.system import toolchain

CONSUMERS = Path(__file__).with_name("consumers")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
COMPILERS = {"gcc": "g++", "clang": "clang++"}
SMALL = str(CONSUMERS / "small.toml")
LANES = str(Path(__file__).parents[1] / "device/lanes/lanes8.toml")
"""A tiny target for OpenCL and Vulkan whose subgroups have 8 lanes."""
PREFIX = "acme_sort"
"""A prefix of two words, other than the default."""

header = has
__all__ = ["header", "need"]

_FOLDER = Path(tempfile.mkdtemp(prefix="hsgen-vendor-"))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)


def opencl() -> None:
    """Skip if OpenCL programs cannot be built."""
    need(OPENCL)


def vulkan() -> None:
    """Skip if Vulkan programs cannot be built."""
    need(VULKAN)


def folder(name: str) -> Path:
    """A new empty folder."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=_FOLDER))


def run(*command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, text: str = "") -> str:
    """Run a command that must succeed; return its output."""
    done = subprocess.run(
        [str(c) for c in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode == -11 and "software.intel.com" in done.stderr:  # docs/results/embedded-cpu.md
        pytest.skip("Intel's OpenCL compiler crashes on this CPU")
    assert done.returncode == 0, (
        f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stdout}{done.stderr}"
    )
    return done.stdout


def bundle(
    *targets: str,
    prefix: str = "hs",
    apis: tuple[str, ...] = ("opencl",),
    keys: tuple[str, ...] = ("u32",),
    words: bool = False,
) -> Path:
    """A bundle of folders without SPIR-V unless a test needs `words`; empty APIs or keys mean all of the targets."""
    return _bundle(targets, prefix, apis, keys, words, "--folders")


def single(*targets: str, prefix: str = "hs", apis: tuple[str, ...] = ("opencl", "vulkan"), words: bool = True) -> Path:
    """A bundle of one header per API, for u32 keys, with SPIR-V unless a test needs none."""
    if "vulkan" in (apis or APIS):
        vulkan()
    return _bundle(targets, prefix, apis, ("u32",), words, "--single-file")


@cache
def _bundle(
    targets: tuple[str, ...], prefix: str, apis: tuple[str, ...], keys: tuple[str, ...], words: bool, layout: str
) -> Path:
    if words:
        need(GLSL)
    place, said = folder("bundle") / "sorts", StringIO()
    chosen = [*(f"-t{t}" for t in targets), *(f"--api={a}" for a in apis), *(f"--key={k}" for k in keys)]
    lacking = ["--glsl-only"] if not words and any(APIS[a].spirv for a in apis or APIS) else []
    with redirect_stdout(said), redirect_stderr(said):
        code = main(["generate", *chosen, *lacking, layout, "--prefix", prefix, "-o", str(place)])
    assert code == 0, said.getvalue()
    return place


def sources(place: Path, api: str = "*") -> list[Path]:
    """The C files of a bundle, by its list for an API or by all of them, but those that refuse to compile for lack
    of SPIR-V."""
    lists = [list_.read_text(encoding="utf-8").splitlines() for list_ in place.glob(f"sources/{api}.txt")]
    found = [place / name for name in sorted({name for names in lists for name in names}) if name.endswith(".c")]
    return [p for p in found if p.parent.name != "spirv" or "#error" not in p.read_text(encoding="utf-8")]


def core(place: Path) -> list[Path]:
    """The files of the runtime that those of all APIs share."""
    return [place / "src" / name for name in c_files.CORE]


def runtime(place: Path, api: str) -> list[Path]:
    """The files of the runtime of an API alone."""
    return [place / "src" / APIS[api].named(name) for name in APIS[api].sources]


def compiled(*command: str | Path) -> list[Path]:
    """The objects of the files that a command compiles."""
    out = folder("compiled")
    run(*command, "-c", cwd=out)
    return sorted(out.glob("*.o"))


def objects(place: Path, compiler: str) -> Mapping[str, Path]:
    """The C files of a bundle, compiled with warnings as errors; by a C++ compiler as C++."""
    need(compiler)
    return _objects(place, compiler)


@cache
def _objects(place: Path, compiler: str) -> Mapping[str, Path]:
    out = folder("objects")
    language = ("-xc++", "-std=c++11") if compiler in COMPILERS.values() else ("-std=c99",)

    def made(path: Path) -> tuple[str, Path]:
        file = out / f"{path.stem}-{path.parent.name}.o"
        run(compiler, *language, *WARNINGS, f"-I{place / 'include'}", "-c", path, "-o", file)
        return path.relative_to(place).as_posix(), file

    with ThreadPoolExecutor(2) as pool:
        return dict(pool.map(made, sources(place)))


def program(name: str, *command: str | Path) -> Path:
    """Compile and link `command` into a program; return its path."""
    out = folder(name) / name
    run(*command, "-o", out)
    return out


@cache
def embedded_only() -> Mapping[str, str]:
    """An environment in which the OpenCL loader sees only the embedded runtime."""
    place = folder("icd")
    (place / "embedded.icd").write_text(f"{toolchain.embedded_runtime()}\n", encoding="utf-8")
    return {"OCL_ICD_VENDORS": str(place), "OPENCL_VENDOR_PATH": str(place)}


def lavapipe() -> Mapping[str, str]:
    """An environment in which lavapipe, with subgroups of 8 lanes, is the only Vulkan device."""
    drivers = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))
    if not drivers:
        missing("lavapipe is not installed (apt-get install mesa-vulkan-drivers)")
    return {"VK_DRIVER_FILES": str(drivers[0]), "LP_NATIVE_VECTOR_WIDTH": "256"}
