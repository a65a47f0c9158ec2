"""Projects that vendor a bundle build with warnings as errors, and sort."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from building import (
    COMPILERS,
    CONSUMERS,
    PREFIX,
    SMALL,
    WARNINGS,
    bundle,
    embedded_only,
    folder,
    header,
    need,
    objects,
    opencl,
    program,
    run,
    sources,
)
from nightly import nightly

from hsgen.engines.hosts import Host


def project(name: str, *bundles: Path, where: str) -> Path:
    """A copy of a consumer with bundles in its folder `where`, as in a project."""
    place = folder(name)
    shutil.copytree(CONSUMERS / name, place, dirs_exist_ok=True)
    for found in bundles:
        shutil.copytree(found, place / where)
    return place


def sorts(path: Path, target: str = "small") -> None:
    """Run a consumer on the embedded device."""
    out = run(path, env=embedded_only())
    assert re.fullmatch(rf"sorted 100003 keys on .* with target {target}\n", out), out


@pytest.mark.device
@pytest.mark.parametrize(("compiler", "target"), [("gcc", SMALL), nightly("gcc", "generic"), nightly("clang", SMALL)])
def test_one_line(embedded: Host, compiler: str, target: str) -> None:
    need(compiler)
    opencl()
    place = bundle(target)
    example = place / "examples/sort_opencl.c"
    command = [compiler, "-std=c99", *WARNINGS, f"-I{place / 'include'}", example, *sources(place), "-lOpenCL"]
    sorts(program("one_line", *command), Path(target).stem)


@pytest.mark.device
@pytest.mark.parametrize("library", ["gcc", "clang++"])
def test_cplusplus(embedded: Host, library: str) -> None:
    """A program in C++ with the library as C, and with everything as C++."""
    compiler = COMPILERS.get(library, library)
    need(library, compiler)
    opencl()
    place = bundle(SMALL)
    command = [compiler, "-std=c++17", *WARNINGS, f"-I{place / 'include'}", CONSUMERS / "cplusplus.cpp"]
    sorts(program("cplusplus", *command, *objects(place, library).values(), "-lOpenCL"))


@pytest.mark.device
def test_two_prefixes_in_one_program(embedded: Host) -> None:
    need("gcc")
    opencl()
    files: list[str | Path] = []
    for prefix in ("hs", PREFIX):
        place = bundle(SMALL, prefix=prefix)
        out = folder("two") / f"{prefix}.o"
        include = f"-I{place / 'include'}"
        run("gcc", *WARNINGS, include, f"-Dmain={prefix}_main", "-c", place / "examples/sort_opencl.c", "-o", out)
        files += [out, *objects(place, "gcc").values()]
    names = ("-DFIRST=hs_main", f"-DSECOND={PREFIX}_main")
    path = program("two", "gcc", *WARNINGS, *names, CONSUMERS / "two.c", *files, "-lOpenCL")
    assert run(path, env=embedded_only()).count("sorted 100003 keys on ") == 2


@pytest.mark.device
@pytest.mark.parametrize("compiler", ["gcc", nightly("clang")])
def test_cmake(embedded: Host, compiler: str) -> None:
    """One project with C, and one with C++ only and another prefix."""
    need("cmake", compiler, COMPILERS[compiler])
    opencl()
    prefix, language = ("hs", "C") if compiler == "gcc" else (PREFIX, "CXX")
    place = project("cmake", bundle(SMALL, prefix=prefix), where="third_party/sorts")
    configure(place, compiler, f"-DPREFIX={prefix}", f"-DPARENT={language}", f"-DWARNINGS={';'.join(WARNINGS)}")
    said = run("cmake", "--build", place / "build", "--parallel", "2")
    assert "warning" not in said.lower(), said
    sorts(place / "build/sorted")


def configure(place: Path, compiler: str, *options: str) -> str:
    """Configure a CMake project; a warning of CMake is an error."""
    env = {"CC": compiler, "CXX": COMPILERS[compiler]}
    generator = ["-GNinja"] if shutil.which("ninja") else []
    command = ["cmake", *generator, "-Wdev", "-Werror=dev", "-S", place, "-B", place / "build", *options]
    return run(*command, env=env)


@pytest.mark.parametrize(
    ("options", "defined"),
    [
        ("", "core"),
        ("-DKNOWN=OpenCL::Headers;Vulkan::Headers", "core opencl vulkan"),
        nightly("-DKNOWN=OpenCL::OpenCL;Vulkan::Vulkan", "core opencl vulkan"),
        ("-DKNOWN=OpenCL::OpenCL;Vulkan::Headers -DHS_OPENCL=OFF -DHS_VULKAN=OFF", "core"),
        ("-DHS_OPENCL=ON -DHS_VULKAN=ON", "core opencl vulkan"),
    ],
)
def test_cmake_defines_what_the_project_can_build(options: str, defined: str) -> None:
    need("cmake", "gcc")
    opencl()
    place = project("cmake_targets", bundle(SMALL, apis=("opencl", "vulkan"), words=True), where="sorts")
    said = configure(place, "gcc", *options.split())
    assert " ".join(re.findall(r"-- defined: (\w+)", said)) == defined
    if header("vulkan/vulkan_core.h"):
        run("cmake", "--build", place / "build", "--parallel", "2")


@pytest.mark.device
@pytest.mark.parametrize("compiler", [nightly("gcc"), "clang"])
def test_meson(embedded: Host, compiler: str) -> None:
    """One project with C, and one with C++ only and another prefix."""
    need("meson", "ninja", compiler, COMPILERS[compiler])
    opencl()
    prefix, language = ("hs", "c") if compiler == "gcc" else (PREFIX, "cpp")
    made = bundle(SMALL, prefix=prefix, apis=("opencl", "vulkan"), words=True)
    place = project("meson", made, where="subprojects/sorts")
    file = place / "meson.build"
    text = file.read_text(encoding="utf-8").replace("LANGUAGE", language).replace("PREFIX", prefix)
    file.write_text(text, encoding="utf-8")
    shutil.copy(made / "examples/sort_opencl.c", place / f"main.{language}")
    env = {"CC": compiler, "CXX": COMPILERS[compiler]}
    said = run("meson", "setup", place / "build", place, "--fatal-meson-warnings", env=env)
    assert "WARNING" not in said, said
    run("ninja", "-C", place / "build")
    sorts(place / "build/sorted")
