"""Bundles for WebGPU in C projects: built with wgpu-native's header and library, run on lavapipe."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from building import COMPILERS, CONSUMERS, WARNINGS, bundle, folder, need, program, run, single, sources
from conftest import missing

from hsgen.apis import webgpu
from hsgen.core.errors import Unavailable

GUIDE = Path(__file__).parents[2] / "docs/guides/webgpu-native.md"
DRIVERS = Path("/usr/share/vulkan/icd.d")
TINY = str(Path(__file__).parents[1] / "device/lanes/webgpu1.toml")
SORTED = "sorted 100003 keys with target webgpu1\n"


@pytest.fixture
def native() -> tuple[Path, Path]:
    """The library of wgpu-native, and a folder in which its header is webgpu/webgpu.h."""
    try:
        library, headers = webgpu.native()
    except Unavailable as e:
        missing(str(e))
    include = folder("include")
    shutil.copytree(headers, include / "webgpu", ignore=lambda _, names: [n for n in names if not n.endswith(".h")])
    return library, include


@pytest.fixture
def lavapipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make lavapipe the only Vulkan device."""
    drivers = sorted(DRIVERS.glob("lvp_icd*.json"))
    if not drivers:
        missing("lavapipe is not installed (apt-get install mesa-vulkan-drivers)")
    monkeypatch.setenv("VK_DRIVER_FILES", str(drivers[0]))
    yield


def linked(native: tuple[Path, Path]) -> list[str]:
    """Options for a program with wgpu-native."""
    library, include = native
    return ["-isystem", str(include), str(library), f"-Wl,-rpath,{library.parent}"]


@pytest.mark.device
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_one_line_of_webgpu(native: tuple[Path, Path], lavapipe: None, compiler: str) -> None:
    need(compiler)
    place = bundle(TINY, apis=("webgpu",))
    files = [place / "examples/sort_webgpu.c", *sources(place, "webgpu")]
    command = [compiler, "-std=c99", *WARNINGS, f"-I{place / 'include'}", *files, *linked(native)]
    assert run(program("webgpu", *command)) == SORTED


@pytest.mark.device
@pytest.mark.parametrize("language", ["c", "c++"])
def test_single_file_of_webgpu(native: tuple[Path, Path], lavapipe: None, language: str) -> None:
    compiler = "gcc" if language == "c" else COMPILERS["gcc"]
    need(compiler)
    place = single(TINY, apis=("webgpu",), words=False)
    example = place / "examples/sort_webgpu.c"
    command = [compiler, *WARNINGS, f"-I{place}", "-x", language, example, "-x", "none", *linked(native)]
    assert run(program("webgpu_single", *command)) == SORTED


@pytest.mark.device
def test_cmake_with_a_target_of_webgpu(native: tuple[Path, Path], lavapipe: None) -> None:
    """The example sorts, and calls that cannot work are refused with their status."""
    need("cmake", "gcc")
    library, include = native
    place = folder("webgpu_cmake")
    made = bundle(TINY, apis=("webgpu",))
    shutil.copytree(CONSUMERS / "webgpu", place, dirs_exist_ok=True)
    shutil.copytree(made, place / "sorts")
    shutil.copy(made / "examples/sort_webgpu.c", place)
    options = [f"-DLIBRARY={library}", f"-DHEADERS={include}", f"-DRPATH={library.parent}"]
    warnings = f"-DWARNINGS={';'.join(WARNINGS)}"
    run("cmake", "-S", place, "-B", place / "build", *options, warnings, env={"CC": "gcc"})
    run("cmake", "--build", place / "build", "--parallel", "2")
    assert run(place / "build/sort_webgpu") == SORTED
    assert run(place / "build/refused") == "all refused\n"


@pytest.mark.device
def test_an_installed_bundle_of_webgpu_is_found(native: tuple[Path, Path], lavapipe: None) -> None:
    """By CMake's package, which leaves the library to the program, and by pkg-config."""
    need("cmake", "gcc", "pkg-config")
    _, include = native
    made, place = bundle(TINY, apis=("webgpu",)), folder("webgpu_installed")
    flags = f"-DCMAKE_C_FLAGS=-isystem {include}"
    run("cmake", "-S", made, "-B", place / "build", f"-DCMAKE_INSTALL_PREFIX={place / 'usr'}", "-DHS_WEBGPU=ON", flags)
    run("cmake", "--build", place / "build", "--parallel", "2", "--target", "install")
    files = sorted((place / "usr").rglob("hs-webgpu.pc"))
    assert len(files) == 1
    env = {"PKG_CONFIG_PATH": str(files[0].parent)}
    words = run("pkg-config", "--cflags", "--libs", "hs-webgpu", env=env).split()
    example = made / "examples/sort_webgpu.c"
    assert run(program("webgpu_installed", "gcc", example, *words, *linked(native))) == SORTED


@pytest.mark.device
def test_the_program_of_the_guide_for_webgpu(native: tuple[Path, Path], lavapipe: None) -> None:
    need("gcc")
    text = re.search(r"^```c\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert text
    place, main = bundle(TINY, apis=("webgpu",)), folder("webgpu_guide") / "sort.c"
    main.write_text(text[1], encoding="utf-8")
    command = ["gcc", *WARNINGS, f"-I{place / 'include'}", main, *sources(place, "webgpu"), *linked(native)]
    assert run(program("webgpu_guide", *command)) == "sorted 1000000 keys\n"


@pytest.mark.device
def test_the_blocks_of_c_api_for_webgpu(native: tuple[Path, Path]) -> None:
    """docs/reference/c-api.md: they compile."""
    need("gcc")
    reference = (GUIDE.parents[1] / "reference/c-api.md").read_text(encoding="utf-8")
    text = re.search(r"^## WebGPU\n.*?^```c\n(.*?)^```$", reference, re.MULTILINE | re.DOTALL)
    assert text
    head = """#include "hs/hs_targets_webgpu.h"
    #include <stdio.h>
    int record(WGPUInstance instance, WGPUAdapter adapter, WGPUDevice device, WGPUCommandEncoder encoder,
               WGPUBuffer keys, WGPUBuffer scratch, uint64_t n);
    int record(WGPUInstance instance, WGPUAdapter adapter, WGPUDevice device, WGPUCommandEncoder encoder,
               WGPUBuffer keys, WGPUBuffer scratch, uint64_t n)
    {
    """
    path = folder("webgpu_blocks") / "blocks.c"
    path.write_text(f"{head}{text[1]}return (int)bytes + (int)status;\n}}\n", encoding="utf-8")
    include = [f"-I{bundle(TINY, apis=('webgpu',)) / 'include'}", "-isystem", str(native[1])]
    run("gcc", *WARNINGS, *include, "-fsyntax-only", path)


@pytest.mark.device
def test_meson_with_webgpu(native: tuple[Path, Path], lavapipe: None) -> None:
    need("meson", "ninja", "gcc")
    library, include = native
    place = folder("webgpu_meson")
    made = bundle(TINY, apis=("webgpu",))
    shutil.copytree(made, place / "subprojects/sorts")
    shutil.copy(made / "examples/sort_webgpu.c", place / "main.c")
    (place / "meson.build").write_text(
        "project('consumer', 'c')\n"
        f"add_project_arguments('-isystem', '{include}', language: 'c')\n"
        "sorts = subproject('sorts')\n"
        f"link = ['{library}', '-Wl,-rpath,{library.parent}']\n"
        "executable('sorted', 'main.c', dependencies: sorts.get_variable('hs_webgpu_dep'), link_args: link)\n",
        encoding="utf-8",
    )
    run("meson", "setup", place / "build", place, env={"CFLAGS": f"-isystem {include}"})
    run("ninja", "-C", place / "build")
    assert run(place / "build/sorted") == SORTED
