"""The examples of a bundle sort what it has: keys of any width, with values, indices or reports, up to any count."""

from __future__ import annotations

import re
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from building import (
    COMPILERS,
    WARNINGS,
    embedded_only,
    folder,
    lavapipe,
    need,
    opencl,
    program,
    run,
    sources,
    vulkan,
)
from nightly import nightly

from hsgen.cli import main
from hsgen.engines.hosts import Host

BUNDLES = {
    "keys": "--key u32",
    "values": "--key u32 --value v4",
    "wide values": "--key u64 --value v16",
    "indices": "--key u32 --value index",
    "wide indices": "--key u16 --value index64",
    "packed": "--key u32 --value packed",
    "bytes": "--key u8 --max-n 1000",
    "floats": "--key f32 --value none --value v8",
    "runs": "--key u32 --feature run-boundaries",
    "many": "--key u8 --key u64 --value v4 --value index --feature bit-range --feature device-count --order both",
}
"""Bundles by name, as options of `generate`."""
FEW = ("values", "indices", "packed")


@cache
def made(target: str, options: str, *more: str) -> Path:
    """A bundle."""
    place, said = folder("examples") / "sorts", StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = main(["generate", "-t", target, *options.split(), *more, "-o", str(place)])
    assert code == 0, said.getvalue()
    return place


def shown(name: str) -> str:
    """The line that an example prints."""
    return rf"sorted {1000 if name == 'bytes' else 100003} keys .*\n"


@pytest.mark.device
@pytest.mark.parametrize("name", [name if name in FEW else nightly(name) for name in BUNDLES])
def test_opencl(embedded: Host, name: str) -> None:
    need("gcc")
    opencl()
    place = made("cpu" if name == "packed" else "generic", BUNDLES[name], "--api=opencl")
    command = ["gcc", "-std=c99", *WARNINGS, f"-I{place / 'include'}", place / "examples/sort_opencl.c"]
    assert re.fullmatch(
        shown(name), run(program("example", *command, *sources(place), "-lOpenCL"), env=embedded_only())
    )


@pytest.mark.device
@pytest.mark.parametrize("name", [name if name in FEW else nightly(name) for name in BUNDLES if name != "bytes"])
def test_vulkan(name: str) -> None:
    need("gcc")
    vulkan()
    place = made("lavapipe", BUNDLES[name], "--api=vulkan")
    command = ["gcc", "-std=c99", *WARNINGS, f"-I{place / 'include'}", place / "examples/sort_vulkan.c"]
    assert re.fullmatch(shown(name), run(program("example", *command, *sources(place), "-lvulkan"), env=lavapipe()))


@pytest.mark.parametrize("compiler", [*COMPILERS, *COMPILERS.values()])
@pytest.mark.parametrize("name", BUNDLES)
def test_every_example_compiles_without_warnings(name: str, compiler: str) -> None:
    need(compiler)
    opencl()
    vulkan()
    for api in ("opencl", "vulkan"):
        place = made("generic", BUNDLES[name], f"--api={api}", *(["--glsl-only"] * (api == "vulkan")))
        language = ("-xc++", "-std=c++11") if compiler in COMPILERS.values() else ("-std=c99",)
        command = [*language, *WARNINGS, f"-I{place / 'include'}", "-fsyntax-only"]
        run(compiler, *command, place / f"examples/sort_{api}.c")
