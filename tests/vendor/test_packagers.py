"""The files of docs/packaging: a Conan recipe, a port of vcpkg, and C++ owners, each with a bundle beside it."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from building import (
    CONSUMERS,
    LANES,
    SMALL,
    WARNINGS,
    bundle,
    embedded_only,
    folder,
    lavapipe,
    need,
    objects,
    opencl,
    program,
    run,
    vulkan,
)

import hsgen
from hsgen.cli import main
from hsgen.engines.hosts import Host

PACKAGING = Path(__file__).resolve().parents[2] / "docs/packaging"
PORT = PACKAGING / "vcpkg/hs-sorts"


def beside(recipe: Path) -> Path:
    """A copy of a recipe with a bundle in its folder `sorts`."""
    place = folder(recipe.name)
    shutil.copytree(recipe, place, dirs_exist_ok=True)
    shutil.copytree(bundle(SMALL), place / "sorts")
    return place


@pytest.mark.device
def test_owners_of_cplusplus_sort_and_throw(embedded: Host) -> None:
    need("g++", "gcc")
    opencl()
    place = bundle(SMALL)
    includes = (f"-I{place / 'include'}", f"-I{PACKAGING / 'cplusplus'}")
    command = ["g++", "-std=c++17", *WARNINGS, *includes, CONSUMERS / "owners.cpp"]
    path = program("owners", *command, *objects(place, "gcc").values(), "-lOpenCL")
    none, sorted_ = run(path, env=embedded_only()).splitlines()
    assert none == "no target of the bundle sorts u64 on this device"
    assert re.fullmatch(r"sorted 100003 keys; .+", sorted_)


@pytest.mark.nightly
def test_conan_creates_a_package_of_a_bundle_and_a_program_finds_it() -> None:
    """Without network: there are no remotes."""
    conan = shutil.which("conan") or next(iter(Path(sys.prefix).glob("bin/conan")), None)
    if not conan:
        pytest.skip("no conan (pip install conan)")
    need("cmake", "cc")
    place = beside(PACKAGING / "conan")
    env = {"CONAN_HOME": str(folder("conan-home"))}
    run(conan, "profile", "detect", env=env)
    run(conan, "remote", "remove", "*", env=env)
    run(conan, "create", place, "-o", "hs-sorts/*:vulkan=False", "-vwarning", env=env)
    listed = json.loads(run(conan, "list", "hs-sorts/*:*", "--format=json", env=env))["Local Cache"]
    reference = f"hs-sorts/{hsgen.__version__}"
    assert set(listed) == {reference}
    (revision,) = listed[reference]["revisions"].values()
    (package,) = revision["packages"]
    where = run(conan, "cache", "path", f"{reference}:{package}", env=env).strip()
    names = {path.relative_to(where).as_posix() for path in Path(where).rglob("*") if path.is_file()}
    assert {"lib/libhs_core.a", "licenses/LICENSE", "lib/cmake/hs/hs-config.cmake", "include/hs/hs.h"} <= names


STAND_INS = """# vcpkg's functions, as far as the port calls them: one configuration, the system's compiler.
function(vcpkg_check_linkage)
  if(NOT ARGN STREQUAL "ONLY_STATIC_LIBRARY")
    message(FATAL_ERROR "linkage: ${ARGN}")
  endif()
endfunction()
function(checked)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  set(options ${arg_OPTIONS} "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" -DCMAKE_INSTALL_LIBDIR=lib)
  checked("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${BUILD}" ${options})
endfunction()
function(vcpkg_cmake_install)
  checked("${CMAKE_COMMAND}" --build "${BUILD}" --target install)
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
  file(RENAME "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}" "${CURRENT_PACKAGES_DIR}/moved")
  file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/share")
  file(RENAME "${CURRENT_PACKAGES_DIR}/moved" "${CURRENT_PACKAGES_DIR}/share/${arg_PACKAGE_NAME}")
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  configure_file("${arg_FILE_LIST}" "${CURRENT_PACKAGES_DIR}/share/hs-sorts/copyright" COPYONLY)
endfunction()
include("${PORT}/portfile.cmake")
"""


def test_the_port_has_the_form_of_a_port() -> None:
    """Names and versions as vcpkg has them; the version is that of hsgen."""
    described = json.loads((PORT / "vcpkg.json").read_text(encoding="utf-8"))
    assert set(described) == {"name", "version", "description", "license", "dependencies"}
    assert described["name"] == PORT.name and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", described["name"])
    assert described["version"] == hsgen.__version__
    helpers = {d["name"] for d in described["dependencies"] if isinstance(d, dict) and d["host"] is True}
    assert helpers == {"vcpkg-cmake", "vcpkg-cmake-config"}


@pytest.mark.nightly
def test_the_port_installs_a_bundle(tmp_path: Path) -> None:
    """With stand-ins for vcpkg's functions: vcpkg itself does not run."""
    need("cmake", "cc")
    opencl()
    place = beside(PORT)
    (tmp_path / "port.cmake").write_text(STAND_INS, encoding="utf-8")
    out = tmp_path / "packages"
    defined = [f"-DPORT={place}", f"-DCURRENT_PACKAGES_DIR={out}", f"-DBUILD={tmp_path / 'build'}"]
    run("cmake", *defined, "-P", tmp_path / "port.cmake")
    names = {os.fspath(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    expected = {"share/hs/hs-config.cmake", "share/hs-sorts/copyright", "lib/libhs_core.a", "lib/libhs_opencl.a"}
    assert expected <= names and "include/hs/hs_opencl.h" in names


@pytest.mark.nightly
def test_the_crate_of_rust_sorts_on_lavapipe() -> None:
    """Built by the installed cargo without network, with a bundle for subgroups of 8 lanes."""
    cargo = shutil.which("cargo")
    if not cargo:
        pytest.skip("no cargo (apt-get install cargo)")
    need("cc")
    vulkan()
    place = folder("rust")
    shutil.copytree(PACKAGING / "rust", place, dirs_exist_ok=True)
    for value in ("none", "v4"):
        words = ["-t", LANES, "--api", "vulkan", "--key", "u32", "--value", value, "--algorithm", "auto"]
        assert main(["generate", *words, "-o", str(place / "sorts")]) == 0
    output = run(cargo, "test", "--offline", "--tests", "--", "--nocapture", cwd=place, env=lavapipe())
    assert output.count("test result: ok. 2 passed") == 1 and "llvmpipe" in output
