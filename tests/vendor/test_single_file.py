"""Bundles of one header per API: they build as C, C++, CUDA and Objective-C, and sort, alone and together."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from building import (
    COMPILERS,
    CONSUMERS,
    LANES,
    PREFIX,
    SMALL,
    WARNINGS,
    bundle,
    embedded_only,
    folder,
    lavapipe,
    need,
    opencl,
    program,
    run,
    single,
)
from nightly import nightly, nightly_except
from objective_c import APPLE, MODES
from tools import tool

from hsgen.emit import single_file, spirv, spirv_file
from hsgen.engines.hosts import Host

BUILDS = [("clang++", "hs"), ("gcc", PREFIX), ("gcc", "hs"), ("g++", "hs"), ("clang", "hs"), ("g++", PREFIX)]
TARGETS = ("generic", "cpu")
BOTH = "#define HS_OPENCL_IMPLEMENTATION\n#define HS_VULKAN_IMPLEMENTATION\n"
LIBRARIES = ("-lOpenCL", "-lvulkan")


def language(compiler: str) -> list[str]:
    """The options for C99, or for C++11."""
    return ["-xc++", "-std=c++11"] if compiler in COMPILERS.values() else ["-std=c99"]


def compiled(place: Path, compiler: str, text: str, name: str = "one") -> Path:
    """The object of a file with this text, which includes headers of a bundle; a warning is an error."""
    need(compiler)
    file = folder("single") / f"{name}.c"
    file.write_text(text, encoding="utf-8")
    options = [*language(compiler), *WARNINGS, f"-I{place}"]
    run(compiler, *options, "-c", file, "-o", file.with_suffix(".o"))
    return file.with_suffix(".o")


def refused(*command: str | Path) -> str:
    """What a compiler or linker says about something that it must refuse."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    assert done.returncode != 0, command
    return done.stderr


def defined(file: Path) -> set[str]:
    """The global names that an object defines."""
    need("nm")
    return {line.split()[0] for line in run("nm", "-P", "-g", "--defined-only", file).splitlines()}


@pytest.mark.parametrize("api", ["opencl", "vulkan"])
@pytest.mark.parametrize(("compiler", "prefix"), nightly_except(BUILDS, BUILDS[:2]))
def test_one_implementation_and_many_includes(compiler: str, api: str, prefix: str) -> None:
    """A file may include the header again with the macro; others define nothing; all names start with the prefix."""
    opencl()
    place = single(*TARGETS, prefix=prefix)
    include = f'#include "{prefix}_sort_{api}.h"\n'
    made = compiled(
        place, compiler, f"{include}#define {prefix.upper()}_{api.upper()}_IMPLEMENTATION\n{include}{include}"
    )
    names = defined(made)
    assert {f"{prefix}_targets", f"{prefix}_status_text", f"{prefix}_{api}_sort", f"{prefix}_generic"} <= names
    assert all(name.startswith(f"{prefix}_") for name in names)
    used = f"const void *const {prefix}_used[] = {{{prefix}_targets, &{prefix}_generic_auto_u32}};\n"
    other = compiled(place, compiler, f"{include}extern const void *const {prefix}_used[];\n{used}", "other")
    assert defined(other) == {f"{prefix}_used"}


def test_no_header_keeps_another_prefix() -> None:
    place = single(*TARGETS, prefix=PREFIX)
    for path in sorted(place.glob("*.h")):
        text = re.sub(r'^ +"(?:\\.|[^"\\])*",$', "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert not re.findall(r".*(?<![A-Za-z0-9])(?:hs[_/.]|HS_).*", text), path.name
        assert not re.search(r'^#\s*include "', text, re.MULTILINE), path.name


def test_a_header_has_the_kernels_of_its_api_alone() -> None:
    place = single(*TARGETS)
    texts = {api: (place / f"hs_sort_{api}.h").read_text(encoding="utf-8") for api in ("opencl", "vulkan")}
    assert "__kernel" in texts["opencl"] and "spirv/" not in texts["opencl"]
    assert "__kernel" not in texts["vulkan"] and "begin targets/generic/spirv/generic_auto_u32.c" in texts["vulkan"]


@pytest.mark.device
@pytest.mark.parametrize("compiler", ["gcc", "clang++"])
def test_opencl_sorts(embedded: Host, compiler: str) -> None:
    need(compiler)
    opencl()
    place = single(SMALL)
    command = [compiler, *language(compiler), *WARNINGS, f"-I{place}", place / "examples/sort_opencl.c", "-lOpenCL"]
    out = run(program("single", *command), env=embedded_only())
    assert re.fullmatch(r"sorted 100003 keys on .* with target small\n", out)


@pytest.mark.device
@pytest.mark.parametrize("compiler", ["g++", nightly("clang")])
def test_vulkan_sorts(compiler: str) -> None:
    need(compiler)
    place = single(LANES)
    command = [compiler, *language(compiler), *WARNINGS, f"-I{place}", place / "examples/sort_vulkan.c", "-lvulkan"]
    out = run(program("single", *command), env=lavapipe())
    assert re.fullmatch(r"sorted 100003 keys on llvmpipe .* with target lanes8\n", out)


def examples(place: Path, compiler: str) -> list[Path]:
    """The examples of OpenCL and Vulkan as functions, without implementations."""
    made = []
    for name, api in (("FIRST", "opencl"), ("SECOND", "vulkan")):
        text = (place / f"examples/sort_{api}.c").read_text(encoding="utf-8")
        text = text.replace(f"#define HS_{api.upper()}_IMPLEMENTATION\n", "")
        made.append(compiled(place, compiler, f"#define main {name}\nint main(int, char **);\n{text}", api))
    return made


ONE_FILE = (f'{BOTH}#include "hs_sort_opencl.h"\n#include "hs_sort_vulkan.h"\n',)
TWO_FILES = (
    '#define HS_VULKAN_IMPLEMENTATION\n#define HS_OPENCL_ELSEWHERE\n#include "hs_sort_vulkan.h"\n',
    '#define HS_OPENCL_IMPLEMENTATION\n#define HS_CORE_ELSEWHERE\n#include "hs_sort_opencl.h"\n',
)


@pytest.mark.device
@pytest.mark.parametrize(
    ("compiler", "files"),
    [
        pytest.param("gcc", ONE_FILE, id="gcc-one"),
        nightly("gcc", TWO_FILES, id="gcc-two"),
        nightly("clang++", ONE_FILE, id="clang++-one"),
        pytest.param("clang++", TWO_FILES, id="clang++-two"),
    ],
)
def test_two_apis_in_one_program(embedded: Host, compiler: str, files: tuple[str, ...]) -> None:
    """The core is there once, and has the kernels of both."""
    opencl()
    place = single(SMALL, LANES)
    made = [*examples(place, compiler), *(compiled(place, compiler, text) for text in files)]
    assert sum("hs_status_text" in defined(file) for file in made) == 1
    out = run(
        program("two", compiler, *language(compiler), CONSUMERS / "two.c", "-xnone", *made, *LIBRARIES),
        env={**embedded_only(), **lavapipe()},
    )
    assert re.fullmatch(r"sorted 100003 keys on .*\nsorted 100003 keys on llvmpipe .*\n", out), out


def test_mistakes_with_two_apis_are_errors(tmp_path: Path) -> None:
    """A macro that is defined too late, a core without the kernels of an API, two cores, two bundles."""
    need("gcc")
    opencl()
    place, text = single(SMALL, LANES), tmp_path / "x.c"
    first = '#define HS_OPENCL_IMPLEMENTATION\n#include "hs_sort_opencl.h"\n'
    text.write_text(f'{first}#define HS_VULKAN_IMPLEMENTATION\n#include "hs_sort_vulkan.h"\n')
    said = refused("gcc", f"-I{place}", "-fsyntax-only", text)
    assert 'error: #error "define HS_VULKAN_IMPLEMENTATION before the first of these headers' in said
    for macro, expected in (
        ("CORE", "undefined reference to `hs_core_with_HS_VULKAN_ELSEWHERE'"),
        ("NO", "multiple definition of `hs_status_text'"),
    ):
        other = f'#define HS_VULKAN_IMPLEMENTATION\n#define HS_{macro}_ELSEWHERE\n#include "hs_sort_vulkan.h"\n'
        made = [*examples(place, "gcc"), *(compiled(place, "gcc", x) for x in (first, other))]
        assert expected in refused("gcc", CONSUMERS / "two.c", *made, *LIBRARIES, "-o", tmp_path / "x")
    other = single(*TARGETS)
    text.write_text(f'#include "{place}/hs_sort_opencl.h"\n#include "{other}/hs_sort_vulkan.h"\n')
    assert "are of different bundles" in refused("gcc", "-fsyntax-only", text)


def test_cuda_by_nvcc(tmp_path: Path) -> None:
    """The example with the CUDA header, and a file with all three APIs, without warnings."""
    nvcc = tool("nvcc")
    place = single("generic", apis=("opencl", "vulkan", "cuda"))
    options = [nvcc, "-std=c++14", "-Werror", "all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror", "-arch=sm_90"]
    options += ["-Xptxas=-O0", f"-I{place}"]
    run(*options, place / "examples/sort_cuda.cu", "-o", tmp_path / "sort")
    names = ("opencl", "vulkan", "cuda")
    text = "".join(f"#define HS_{n.upper()}_IMPLEMENTATION\n" for n in names)
    (tmp_path / "all.cu").write_text(text + "".join(f'#include "hs_sort_{n}.h"\n' for n in names))
    run(*options, "-c", tmp_path / "all.cu", "-o", tmp_path / "all.o")
    ours = {name for name in defined(tmp_path / "all.o") if name.startswith("hs_")}
    assert {f"hs_{n}_sort" for n in names} | {"hs_status_text", "hs_cuda_targets", "hs_targets"} <= ours
    (tmp_path / "split.cu").write_text(
        '#define HS_CUDA_IMPLEMENTATION\n#define HS_CORE_ELSEWHERE\n#include "hs_sort_cuda.h"\n'
    )
    run(*options, "-c", tmp_path / "split.cu", "-o", tmp_path / "split.o")
    assert not {"hs_status_text", "hs_targets", "hs_generic"} & defined(tmp_path / "split.o")


@pytest.mark.parametrize("mode", MODES)
def test_syntax_of_metal(mode: str, tmp_path: Path) -> None:
    need("clang")
    place = single("apple-m1", "generic", apis=("metal", "vulkan"))
    text = '#define HS_METAL_IMPLEMENTATION\n#define HS_VULKAN_IMPLEMENTATION\n#include "hs_sort_metal.h"\n'
    (tmp_path / "both.m").write_text(f'{text}#include "hs_sort_vulkan.h"\n')
    command = ["clang", "-fsyntax-only", *MODES[mode], *WARNINGS, f"-I{APPLE}", f"-I{place}"]
    run(*command, tmp_path / "both.m")
    if mode != "c++":
        run(*command, place / "examples/sort_metal.m")


def test_what_the_readme_names_is_there() -> None:
    """Its headers, examples, macros and commands."""
    place = single("generic", apis=("opencl", "vulkan", "cuda"))
    text = (place / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:examples/)?\w+\.(?:h|c|cu))`", text):
        assert (place / name).is_file(), name
    for api, macro in re.findall(r"\| `hs_sort_(\w+)\.h` \|.*\| `(\w+)` \|", text):
        assert f"#if defined({macro})" in (place / f"hs_sort_{api}.h").read_text(encoding="utf-8")
    (line,) = re.findall(r"^- With OpenCL: `(.*)`$", text, re.MULTILINE)
    opencl()
    run("sh", "-c", line.replace("program.c", "examples/sort_opencl.c") + f" -o {folder('readme')}/sort", cwd=place)


def test_folders_and_single_files_have_the_same_parts() -> None:
    """A header has every file of a bundle of folders that its list names, line by line, with includes as comments."""
    headers, folders = single(*TARGETS), bundle(*TARGETS, apis=("opencl", "vulkan"), words=True)
    for api in ("opencl", "vulkan"):
        text = (headers / f"hs_sort_{api}.h").read_text(encoding="utf-8")
        names = (folders / f"sources/{api}.txt").read_text(encoding="utf-8").split()
        for name in (n for n in names if "/spirv/" not in n or api == "vulkan"):
            assert text.count(f"\n/* begin {name} */\n") == text.count(f"\n/* end {name} */\n") == 1
            part = text.split(f"\n/* begin {name} */\n")[1].split(f"\n/* end {name} */\n")[0]
            whole = (folders / name).read_text(encoding="utf-8")
            if "/spirv/" in name:
                words = single_file.section(text.encode(), name)
                assert words and spirv_file.read(words) == spirv_file.read(whole.encode()) is not None
            elif name.startswith("src/"):
                known = [line for line in whole.split("\n") if line[:9] != "#include "]
                assert [line for line in known if line not in part.split("\n")] == []


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_an_implementation_defines_no_short_names(compiler: str) -> None:
    """The program's own names of one letter, and its macros, are kept."""
    opencl()
    place, letters = single(*TARGETS), "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    own = [f"enum {{ {', '.join(letters)} }};", *(f"#define {x} ({x} + 1)" for x in letters)]
    includes = [f'{BOTH}#include "hs_sort_opencl.h"', '#include "hs_sort_vulkan.h"']
    for text in (own[:1] + includes, own[1:] + includes):
        compiled(place, compiler, "\n".join(text) + "\n")


def test_without_spirv_the_implementation_for_vulkan_says_why() -> None:
    """Once, also for several sorts; its declarations compile, and so does the header for OpenCL."""
    opencl()
    place = single(*TARGETS, words=False)
    for api in ("opencl", "vulkan"):
        text = (place / f"hs_sort_{api}.h").read_text(encoding="utf-8")
        assert text.count("#error") - text.count(f'#error "{spirv.ABSENT}"') == 2
        assert text.count(spirv.ABSENT) == (api == "vulkan") and "_u32.comp" not in text and "/spirv/" not in text
    compiled(place, "gcc", '#include "hs_sort_vulkan.h"\nconst unsigned hs_used = sizeof &hs_vulkan_sort;\n')
    compiled(place, "gcc", '#define HS_OPENCL_IMPLEMENTATION\n#include "hs_sort_opencl.h"\n')
    file = folder("absent") / "x.c"
    file.write_text('#define HS_VULKAN_IMPLEMENTATION\n#include "hs_sort_vulkan.h"\n', encoding="utf-8")
    said = refused("gcc", "-std=c99", *WARNINGS, f"-I{place}", "-fsyntax-only", file)
    assert said.count(" error: ") == 1 and f'error: #error "{spirv.ABSENT}"' in said


def test_a_bundle_of_folders_is_unaffected() -> None:
    assert not list(bundle("generic").glob("*.h")) and (bundle("generic") / "CMakeLists.txt").is_file()
