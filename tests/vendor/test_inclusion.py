"""Headers leave their includers as they are: no macro of an API is set, also not in one file with everything."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from building import COMPILERS, LANES, SMALL, bundle, folder, need, opencl, run, single, sources
from conftest import missing

NEWER = """cl_command_queue newer(cl_context context, cl_device_id device);
cl_command_queue newer(cl_context context, cl_device_id device)
{
    return clCreateCommandQueueWithProperties(context, device, NULL, NULL);
}
"""
"""A function of OpenCL 2.0, which headers of version 1.2 hide."""
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def compiled(compiler: str, place: Path, text: str, *options: str) -> None:
    """Compile a file with this text; a warning is an error."""
    need(compiler)
    file = folder("included") / f"included.{'cpp' if compiler in COMPILERS.values() else 'c'}"
    file.write_text(text, encoding="utf-8")
    run(compiler, *STRICT, *options, f"-I{place}", "-c", file, "-o", file.with_suffix(".o"))


def heads(place: Path) -> list[Path]:
    """The headers of a bundle, of folders or of single files."""
    return sorted(place.glob("include/**/*.h")) or sorted(place.glob("*.h"))


@pytest.mark.parametrize("layout", ["folders", "single"])
def test_headers_define_names_of_the_bundle_alone(layout: str) -> None:
    place = bundle(SMALL, apis=()) if layout == "folders" else single(SMALL, LANES, words=False)
    for path in heads(place):
        text = path.read_text(encoding="utf-8").split("_IMPLEMENTATION)")[0]
        names = [line.split()[1] for line in text.splitlines() if line.startswith(("#define ", "# define "))]
        assert names and all(name.startswith("HS_") for name in names), path.name


@pytest.mark.parametrize("layout", ["folders", "single"])
@pytest.mark.parametrize("compiler", ["gcc", "g++", "clang"])
def test_an_includer_calls_newer_versions_of_opencl(compiler: str, layout: str) -> None:
    opencl()
    place = bundle(SMALL) if layout == "folders" else single(SMALL, apis=("opencl",), words=False)
    ours = '#include "hs/hs_opencl.h"\n' if layout == "folders" else '#include "hs_sort_opencl.h"\n'
    first = f"{ours}#include <CL/cl.h>\n{NEWER}"
    include = place / "include" if layout == "folders" else place
    compiled(compiler, include, first)
    compiled(compiler, include, f"#define CL_TARGET_OPENCL_VERSION 200\n{first}")
    compiled(compiler, include, f"#define CL_TARGET_OPENCL_VERSION 220\n#include <CL/cl.h>\n{ours}{NEWER}")
    if layout == "single":
        compiled(compiler, include, f"#define HS_OPENCL_IMPLEMENTATION\n{first}")


@pytest.mark.parametrize("layout", ["folders", "single"])
def test_the_binding_for_cplusplus_is_included_after(layout: str) -> None:
    opencl()
    need("g++")
    command = ["g++", "-E", "-xc++", "-", "-o", "/dev/null"]
    if subprocess.run(command, input="#include <CL/opencl.hpp>\n", text=True, capture_output=True).returncode:
        missing("CL/opencl.hpp is not installed (apt-get install opencl-clhpp-headers)")
    place = bundle(SMALL) if layout == "folders" else single(SMALL, apis=("opencl",), words=False)
    ours, include = ("hs/hs_opencl.h", place / "include") if layout == "folders" else ("hs_sort_opencl.h", place)
    rest = "#include <CL/opencl.hpp>\nint used() { return cl::Platform::getDefault()() != nullptr; }\n"
    for version in (200, 300):
        head = f'#define CL_HPP_TARGET_OPENCL_VERSION {version}\n#include "{ours}"\n{rest}'
        compiled("g++", include, head, "-std=c++17", "-Wno-pedantic", "-Wno-ignored-attributes")


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_a_unity_build_has_all_files_in_one(compiler: str) -> None:
    """The runtime's files, then a file of the project that calls a newer OpenCL."""
    opencl()
    place = bundle(SMALL)
    text = "".join(f'#include "{path}"\n' for path in sources(place, "opencl"))
    compiled(compiler, place / "include", f"{text}{NEWER}", f"-I{place / 'src'}")
