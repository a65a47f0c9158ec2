"""Whole bundles compile without a warning, as C and as C++, and define only names that start with their prefix."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from building import COMPILERS, PREFIX, WARNINGS, bundle, need, objects, opencl, run
from tools import VULKAN

TARGETS = ("generic", "intel-gen8", "cpu")


def everything(prefix: str) -> Path:
    """A bundle with all parts of these targets."""
    return bundle(*TARGETS, prefix=prefix, apis=(), keys=())


def names(file: Path, *options: str) -> list[tuple[str, str]]:
    """The symbols of an object file: (kind, name)."""
    return [(f[0], f[1]) for line in run("nm", "-P", *options, file).splitlines() if len(f := line.split()[1::-1]) == 2]


@pytest.mark.parametrize(
    ("compiler", "prefix"),
    [*((c, "hs") for both in COMPILERS.items() for c in both), ("gcc", PREFIX), ("clang++", PREFIX)],
)
def test_symbols_start_with_the_prefix(compiler: str, prefix: str) -> None:
    need("nm")
    opencl()
    need(VULKAN)
    seen = 0
    for path, file in objects(everything(prefix), compiler).items():
        outside = [name for _, name in names(file, "-g", "--defined-only")]
        seen += len(outside)
        assert outside and all(name.startswith(f"{prefix}_") for name in outside), (path, outside)
        if prefix != "hs":
            assert not [name for _, name in names(file) if re.search(r"(?<![a-z0-9])_*hs_", name)], path
    assert seen > 20


@pytest.mark.parametrize("compiler", [c for both in COMPILERS.items() for c in both])
def test_examples_compile(compiler: str) -> None:
    need(compiler)
    opencl()
    need(VULKAN)
    place = everything("hs")
    language = ["-xc++", "-std=c++11"] if compiler in COMPILERS.values() else ["-std=c99"]
    for path in sorted(place.glob("examples/*.c")):
        run(compiler, *language, *WARNINGS, f"-I{place / 'include'}", "-fsyntax-only", path)


def test_no_file_of_a_bundle_keeps_another_prefix() -> None:
    """Names, macros, files and include lines; kernels keep their own names, which no linker sees."""
    place = everything(PREFIX)
    for path in (p for p in place.rglob("*") if p.is_file() and "kernels" not in p.parts and p.suffix != ".json"):
        text = path.read_text(encoding="utf-8")
        if path.parent.parent.name == "targets":  # the lines of OpenCL text
            text = re.sub(r'^ +"(?:\\.|[^"\\])*",$', "", text, flags=re.MULTILINE)
        text = re.sub(r"^#undef .*$", "", text, flags=re.MULTILINE)  # the macros of CUDA kernels, undefined at the end
        left = re.findall(r".*(?<![A-Za-z0-9])(?:hs[_/.]|HS_).*", text)
        assert not left, (path.relative_to(place), left[:3])
        assert not re.match(r"hs[_.]", path.name), path


def test_macros_start_with_the_prefix() -> None:
    """The macros that the headers define, without those of OpenCL's own headers."""
    need("cc")
    opencl()
    place = bundle("generic", prefix=PREFIX)

    def macros(text: str) -> set[str]:
        command = ["cc", "-dM", "-E", f"-I{place / 'include'}", "-xc", "-"]
        out = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
        return set(re.findall(r"^#define (\w+)", out, re.MULTILINE))

    ours = macros(f"#include <{PREFIX}/{PREFIX}_opencl.h>\n#include <{PREFIX}/{PREFIX}_targets.h>\n")
    theirs = macros("#include <stddef.h>\n#include <stdint.h>\n#include <CL/cl.h>\n")
    assert {m for m in ours - theirs if not m.startswith(f"{PREFIX.upper()}_")} == set()
    assert ours > theirs
