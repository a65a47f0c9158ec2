"""Bundles as CMake packages, as fetched content, and with pkg-config: they sort, and what is missing is an error."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from building import CONSUMERS, PREFIX, SMALL, bundle, embedded_only, folder, header, need, opencl, run
from nightly import nightly

import hsgen
from hsgen.engines.hosts import Host


def project(name: str, place: Path) -> Path:
    """A copy of a consumer with the example of a bundle."""
    made = folder(name)
    shutil.copytree(CONSUMERS / name, made, dirs_exist_ok=True)
    shutil.copy(place / "examples/sort_opencl.c", made)
    return made


def built(place: Path, *options: str) -> Path:
    """Configure and build a project with CMake; return the build folder."""
    run("cmake", "-Wdev", "-Werror=dev", "-S", place, "-B", place / "build", *options)
    run("cmake", "--build", place / "build", "--parallel", "2")
    return place / "build"


def refused(place: Path, *options: str) -> str:
    """The complaint of CMake about a project that it must not configure."""
    command = ["cmake", "-S", str(place), "-B", str(place / "build"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0, done.stdout
    return " ".join(done.stderr.split())


def sorts(path: Path) -> None:
    """Run the example on the embedded device."""
    out = run(path, env=embedded_only())
    assert re.fullmatch(r"sorted 100003 keys on .* with target small\n", out), out


def files(place: Path) -> set[str]:
    """The files below a folder."""
    return {p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file()}


@cache
def installed(prefix: str) -> Path:
    """A bundle for OpenCL and Vulkan, configured by itself and installed, without Vulkan."""
    need("cmake", "cc")
    opencl()
    place, build, made = bundle(SMALL, prefix=prefix, apis=("opencl", "vulkan")), folder("build"), folder("installed")
    run("cmake", "-Wdev", "-Werror=dev", "-S", place, "-B", build, f"-D{prefix.upper()}_VULKAN=OFF")
    run("cmake", "--build", build, "--parallel", "2")
    run("cmake", "--install", build, "--prefix", made)
    return made


def test_what_is_installed() -> None:
    """The library of each API that is known, with its headers and files of packages."""
    made = installed("hs")
    names = {name.rpartition("/")[2] for name in files(made)}
    assert {f"include/hs/hs{part}.h" for part in ("", "_plan", "_targets", "_opencl")} == {
        name for name in files(made) if name.startswith("include/")
    }
    assert {"libhs_core.a", "libhs_opencl.a", "hs-config.cmake", "hs-config-version.cmake"} <= names
    assert {"hs_core.cmake", "hs_opencl.cmake", "hs-core.pc", "hs-opencl.pc"} <= names
    assert not [name for name in names if "vulkan" in name]


@pytest.mark.device
@pytest.mark.parametrize("prefix", ["hs", nightly(PREFIX)])
def test_find_package(embedded: Host, prefix: str) -> None:
    """Moved elsewhere, it sorts; what it does not offer is refused by name."""
    need("cmake", "cc")
    moved = folder("moved") / "there"
    shutil.copytree(installed(prefix), moved)
    place = project("cmake_package", bundle(SMALL, prefix=prefix, apis=("opencl", "vulkan")))
    options = [f"-DCMAKE_PREFIX_PATH={moved}", f"-DPREFIX={prefix}"]
    sorts(built(place, *options, "-DAPIS=core;opencl", f"-DASKED={hsgen.__version__}") / "sorted")
    for apis, said in (("vulkan", "component vulkan: it is not installed"), ("x", "component x: it is not installed")):
        assert said in refused(place, *options, f"-DAPIS={apis}", "-DASKED=")
    said = refused(place, *options, "-DAPIS=opencl", "-DASKED=99")
    assert f"version: {hsgen.__version__}" in said


@pytest.mark.device
def test_pkg_config(embedded: Host, tmp_path: Path) -> None:
    """With the files that CMake writes, which are found relative to their own place, and with those of Meson."""
    need("cc", "pkg-config", "meson", "ninja")
    place = bundle(SMALL, apis=("opencl", "vulkan"), words=True)
    run("meson", "setup", tmp_path / "build", place, "--fatal-meson-warnings", "--prefix", tmp_path / "by-meson")
    run("meson", "install", "-C", tmp_path / "build")
    shutil.copytree(installed("hs"), tmp_path / "by-cmake")
    for made in ("by-cmake", "by-meson"):
        (found,) = (tmp_path / made).rglob("hs-opencl.pc")
        env = {"PKG_CONFIG_PATH": str(found.parent)}
        assert run("pkg-config", "--modversion", "hs-core", env=env).strip() == hsgen.__version__
        flags = run("pkg-config", "--cflags", "--libs", "hs-opencl", env=env).split()
        program = tmp_path / f"sorted-{made}"
        run("cc", place / "examples/sort_opencl.c", *flags, "-o", program)
        sorts(program)
    headers = {name for name in files(tmp_path / "by-meson") if name.startswith("include/")}
    assert ("include/hs/hs_vulkan.h" in headers) == header("vulkan/vulkan_core.h")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-DLINKED=hs::opencl -DFIRST=OFF", "hs::opencl"),
        ("-DLINKED=hs::vulkan -DFIRST=ON", "hs::vulkan"),
        ("-DLINKED=hs::opencl -DFIRST=ON -DHS_OPENCL=OFF", "hs::opencl"),
        ("-DLINKED=hs::opencl -DFIRST=ON", ""),
    ],
)
def test_a_library_that_is_not_defined_is_an_error_of_cmake(options: str, said: str) -> None:
    """By the names with colons: a package that is found too late, an API that the bundle lacks, one turned off."""
    need("cmake", "cc")
    opencl()
    place = project("cmake_order", bundle(SMALL))
    shutil.copytree(bundle(SMALL), place / "sorts")
    if said:
        complaint = refused(place, *options.split())
        assert re.search(f'{said}"? but the target was not found', complaint), complaint
    else:
        run("cmake", "-S", place, "-B", place / "build", *options.split())


@pytest.mark.device
@pytest.mark.parametrize("from_git", [nightly(False), True])
def test_fetch_content(embedded: Host, from_git: bool) -> None:
    """From a folder and from a repository, without network; nothing of the bundle is installed unless asked."""
    need("cmake", "cc", "git")
    opencl()
    made, place = bundle(SMALL), project("cmake_fetch", bundle(SMALL))
    source = f"SOURCE_DIR;{made}"
    if from_git:
        there = Path(shutil.copytree(made, folder("git") / "sorts"))
        run("git", "init", "-q", there)
        git = ["git", "-C", there, "-c", "user.name=x", "-c", "user.email=x@localhost"]
        run(*git, "add", "-A")
        run(*git, "commit", "-q", "-m", "Add sorts")
        source = f"GIT_REPOSITORY;{there.as_uri()};GIT_TAG;{run(*git, 'rev-parse', 'HEAD').strip()}"
    build = built(place, f"-DFROM={source}")
    sorts(build / "sorted")
    run("cmake", "--install", build, "--prefix", place / "plain")
    assert files(place / "plain") == {"bin/sorted"}
    run("cmake", "-S", place, "-B", build, "-DHS_INSTALL=ON")
    run("cmake", "--build", build, "--parallel", "2")
    run("cmake", "--install", build, "--prefix", place / "asked")
    assert {"bin/sorted", "include/hs/hs_opencl.h", "include/hs/hs_targets.h"} < files(place / "asked")


@pytest.mark.device
def test_a_subproject_of_meson_by_the_names_of_dependencies(embedded: Host, tmp_path: Path) -> None:
    """`dependency` finds it by `fallback`; nothing of it is installed unless asked."""
    need("meson", "ninja", "cc")
    opencl()
    place = folder("fallback")
    shutil.copytree(bundle(SMALL), place / "subprojects/sorts")
    (place / "meson.build").write_text(
        "project('consumer', 'c')\n"
        "hs = dependency('hs-opencl', fallback: 'sorts')\n"
        "executable('sorted', 'sort_opencl.c',\n"
        "           dependencies: [hs, dependency('OpenCL')], install: true)\n",
        encoding="utf-8",
    )
    shutil.copy(place / "subprojects/sorts/examples/sort_opencl.c", place)
    for name, more, extra in (("plain", (), set()), ("asked", ("-Dsorts:install=yes",), {"include/hs/hs_opencl.h"})):
        run("meson", "setup", place / name, place, *more, "--prefix", tmp_path / name)
        run("meson", "install", "-C", place / name)
        sorts(tmp_path / name / "bin/sorted")
        assert extra < files(tmp_path / name) and (extra or files(tmp_path / name) == {"bin/sorted"})
