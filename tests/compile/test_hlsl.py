"""HLSL: DXC accepts the kernels, and the launches for hosts without a runtime are those of the interpreter."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from conftest import missing
from nightly import nightly
from tools import need, tool

from hsgen.apis.hlsl import API, spirv
from hsgen.cli import main
from hsgen.core.errors import Unavailable, Usage, Wrong
from hsgen.core.interpreter import Options, launches, offset
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.emit import c_calls
from hsgen.emit.kernels import render
from hsgen.system import dxc, resources
from hsgen.targets import target
from hsgen.targets.target import Target

ALL = {"key_transform": True, "bit_range": True, "device_count": True}
NAMES = [n for n in target.names() if API.name in target.find(n).apis]
PAGE = resources.root() / "docs/guides/direct3d-12.md"


def built(name: str, label: str, key: str, signature: Signature = PLAIN) -> Sort:
    return target.find(name).sort(label, key, signature)


def compiled(text: str, name: str, *options: str) -> None:
    """Compile a kernel for Direct3D."""
    try:
        dxc.compiled(text, ["-T", "cs_6_0", "-E", name, "-D", f"HS_KERNEL_{name}", *options])
    except Unavailable as e:
        missing(str(e))


CASES = [
    ("generic", "auto", "u32", PLAIN),
    ("generic", "radix", "u16", Signature(value="v16", **ALL)),
    ("direct3d", "radix", "u64", Signature(value="index", **ALL)),
    ("direct3d", "pack", "u64", PLAIN),
]
MORE = [
    *((name, "auto", key, PLAIN) for name in NAMES for key in ("u32", "u64")),
    *((name, label, "u32", PLAIN) for name in NAMES for label in ("merge_path", "segmented_sort", "digest", "scan-x4")),
    *((name, "radix", "u64", Signature(value="v16", **ALL)) for name in NAMES),
    ("direct3d", "radix", "u8", Signature(value="v4", **ALL)),
    ("direct3d", "bitonic", "u32", Signature(run_boundaries=True)),
    ("generic", "radix_select", "u32", PLAIN),
    ("generic", "scan-x1", "u64", PLAIN),
]


@pytest.mark.parametrize(("name", "label", "key", "signature"), [*CASES, *(nightly(*case) for case in MORE)])
def test_kernels_compile_to_dxil_and_to_spirv(name: str, label: str, key: str, signature: Signature) -> None:
    sort = built(name, label, key, signature)
    text = render(sort, API.name).text
    for kernel in sort.kernels:
        if not kernel.index64:
            compiled(text, kernel.name)
            spirv(text, kernel.name)


def test_words_of_64_bits_and_sizes_of_waves_are_macros() -> None:
    text = render(built("direct3d", "radix", "u64"), API.name).text
    compiled(text, "scatter", "-D", "HS_TWO_WORDS")
    compiled(text, "scatter", "-T", "cs_6_6", "-D", "HS_WAVE_SIZE=16")
    with pytest.raises(Wrong, match="line 1:1: error"):
        dxc.compiled("wrong", ["-T", "cs_6_0", "-E", "main"])


def test_kernels_without_waves_keep_to_shader_model_5(tmp_path: Path) -> None:
    """By glslang's front end, which has no 64-bit integers in HLSL."""
    glslang = tool("glslangValidator")
    for key, value in (("u32", "none"), ("u64", "v8"), ("u8", "index")):
        sort = built("generic", "radix", key, Signature(value=value, **ALL))
        source = tmp_path / "kernels.hlsl"
        source.write_text(render(sort, API.name).text, encoding="utf-8")
        for kernel in sort.kernels:
            command = [glslang, "-D", "-V", "-S", "comp", "-e", kernel.name, f"-DHS_KERNEL_{kernel.name}"]
            command += [str(source), "-o", str(tmp_path / "kernel.spv")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (kernel.name, done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_targets_keep_to_the_limits_of_direct3d(name: str) -> None:
    found: Target = target.find(name)
    assert found.device.local_bytes <= API.local_bytes == 32768
    for label in ("auto", "radix", *found.implicit("u32")):
        assert all(k.local_bytes(s.key) <= API.local_bytes for s in [built(name, label, "u32")] for k in s.kernels)


def test_a_target_with_more_local_memory_is_refused(tmp_path: Path) -> None:
    text = (resources.targets() / "generic.toml").read_text(encoding="utf-8")
    file = tmp_path / "larger.toml"
    text = text.replace("local_bytes = 32768", "local_bytes = 65536").replace('name = "generic"', 'name = "larger"')
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Usage, match="apis: hlsl has at most 32768 bytes of local memory for a work-group"):
        target.find(str(file))


LAUNCHES = r"""
#include "hs/hs_targets_hlsl.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    const hs_hlsl_kernels *found = %s.sorts[0];
    size_t bytes = hs_hlsl_text(found, NULL);
    char *text = malloc(bytes);
    int i;
    uint32_t s, k;
    if (hs_hlsl_text(found, text) != bytes) return 1;
    fputs(text, stdout);
    for (i = 1; i < argc; i++) {
        hs_options options = {0};
        hs_span spans[HS_ROLES] = {{0}};
        hs_call call = {0};
        hs_hlsl_launch x;
        call.n = strtoull(argv[i], NULL, 10);
        call.options = &options;
        spans[HS_SOURCE].where = 1;
        spans[HS_SCRATCH].where = 2;
        spans[HS_SOURCE].room = spans[HS_SCRATCH].room = 1u << 31;
        if (hs_survey(found->sort, &call, spans) != HS_OK) return 2;
        for (s = 0; s < found->sort->step_count; s++) {
            if (hs_hlsl_step(found->sort, s, &call, spans, &x) <= 0) continue;
            printf("%%s %%u %%u", found->sort->kernels[x.kernel].name, x.grid[0], x.grid[1]);
            for (k = 0; k < x.bindings; k++) printf(" %%d", (int)x.roles[k]);
            for (k = 0; k < x.constant_count; k++) printf(" %%u", x.constants[k]);
            printf("\n");
        }
    }
    printf("%%d %%d %%d\n", hs_hlsl_runs(found->sort, 8), hs_hlsl_runs(found->sort, 16), hs_hlsl_runs(found->sort, 64));
    return 0;
}
"""


@pytest.mark.parametrize(("name", "key"), [("generic", "u32"), ("direct3d", "u64")])
def test_launches_are_those_of_the_interpreter(name: str, key: str, tmp_path: Path) -> None:
    need("gcc")
    place = tmp_path / "sorts"
    assert main(["generate", "-t", name, "--api", API.name, "--key", key, "-o", str(place)]) == 0
    (tmp_path / "program.c").write_text(LAUNCHES % f"hs_{name}_hlsl", encoding="utf-8")
    units = (place / "sources/hlsl.txt").read_text(encoding="utf-8").split()
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Iinclude"]
    command = ["gcc", *strict, str(tmp_path / "program.c"), *units, "-o", str(tmp_path / "program")]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = [1, 1000, 65537, 131073, 10**6, 10**8]
    done = subprocess.run([str(tmp_path / "program"), *map(str, counts)], capture_output=True, text=True, check=False)
    sort = built(name, "auto", key)
    lines = [line for n in counts for line in rows(sort, n)]
    lines.append("0 1 1" if sort.lanes > 1 else "1 1 1")
    assert done.returncode == 0 and done.stdout == render(sort, API.name).text + "\n".join(lines) + "\n"


def rows(sort: Sort, n: int) -> list[str]:
    """The launches of a sort in place, as the program prints them."""
    out = []
    for made in launches(sort.plan, n, 65535, in_place=True, how=Options()):
        roles = [2 if b.role == "scratch" else 0 for b in made.step.bindings]
        begin = [offset(b, n) for b in made.step.bindings]
        out.append(f"{made.step.kernel} {made.grid[0]} {made.grid[1]} ")
        out[-1] += " ".join(map(str, [*roles, *begin, n, made.argument, 0, 0, made.grid[0]]))
    return out


def test_the_program_compiles_for_windows(tmp_path: Path) -> None:
    """The example, which has the page's class, with MinGW and its Direct3D; it has not run."""
    example = c_calls.completed(API, API.example)
    (shown,) = re.findall(r"```cpp\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown in example and len(shown.splitlines()) < 80
    compilers = [tool(f"x86_64-w64-mingw32-{name}") for name in ("gcc", "g++")]
    place = tmp_path / "sorts"
    assert main(["generate", "-t", "generic", "--api", API.name, "--key", "u32", "-o", str(place)]) == 0
    units = (place / "sources/hlsl.txt").read_text(encoding="utf-8").split()
    strict = ["-Wall", "-Wextra", "-Werror", "-Iinclude"]
    out = tmp_path / "sort.exe"
    for command in (
        [compilers[0], "-std=c99", *strict, "-c", *units],
        [compilers[1], "-std=c++17", *strict, "-c", "examples/sort_hlsl.cpp"],
        [compilers[1], *(f"{Path(u).stem}.o" for u in units), "sort_hlsl.o", "-ld3d12", "-ldxgi", "-o", str(out)],
    ):
        done = subprocess.run(list(map(str, command)), cwd=place, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert out.read_bytes()[:2] == b"MZ"
