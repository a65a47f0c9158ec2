"""Nothing that a project vendors warns under the warnings that real projects enable, at any level of optimization."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from building import COMPILERS, WARNINGS, bundle, folder, need, opencl, run, vulkan
from conftest import missing
from nightly import nightly

MORE = (
    *("-Wcast-qual", "-Wswitch-enum", "-Wswitch-default", "-Winline", "-Wshadow", "-Wundef", "-Wwrite-strings"),
    *("-Wformat=2", "-Wredundant-decls", "-Wcast-align", "-Wpointer-arith", "-Wdouble-promotion"),
)
C_ONLY = ("-Wstrict-prototypes", "-Wmissing-prototypes", "-Wold-style-definition", "-Wbad-function-cast")
TARGETS = ("cpu", "lavapipe", "webgpu", "nvidia-hopper", "direct3d", "apple-m1")


def webgpu() -> Path | None:
    """The folder of the header of WebGPU, if any, as `webgpu/webgpu.h`."""
    try:
        from wgpu.resources import __path__ as found
    except ImportError:
        return None
    place = folder("headers")
    (place / "webgpu").mkdir()
    shutil.copy(Path(next(iter(found))) / "webgpu.h", place / "webgpu")
    return place


def files(place: Path, header_of_webgpu: Path | None) -> list[Path]:
    """The files of a bundle that are C, examples among them, but those that lack a header here."""
    absent = [name for name, there in (("webgpu", header_of_webgpu), ("metal", None)) if not there]
    found = [*place.glob("src/*.c"), *place.glob("targets/*/*.c"), *place.glob("examples/*.c")]
    return sorted(path for path in found if not any(path.stem.endswith(x) or f"_{x}_" in path.stem for x in absent))


@pytest.mark.parametrize("level", ["-O2", nightly("-O0"), nightly("-O1"), nightly("-O3"), nightly("-Os")])
@pytest.mark.parametrize("compiler", [*COMPILERS, *COMPILERS.values()])
def test_no_file_warns(compiler: str, level: str) -> None:
    need(compiler)
    opencl()
    vulkan()
    place, headers = bundle(*TARGETS, apis=(), keys=("f32",)), webgpu()
    cplusplus = compiler in COMPILERS.values()
    language = ("-xc++", "-std=c++11") if cplusplus else ("-std=c99", *C_ONLY)
    command = [compiler, *language, *WARNINGS, *MORE, level, "-DCL_TARGET_OPENCL_VERSION=120"]
    command += [f"-I{place / 'include'}", *([f"-isystem{headers}"] if headers else [])]
    checked = files(place, headers)
    assert len(checked) > 15
    for path in checked:
        run(*command, "-c", path, "-o", os.devnull)


def test_no_file_for_cuda_warns(tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        missing("nvcc is not installed")
    place = bundle("nvidia-hopper", apis=("cuda",), keys=("f32",))
    # headers of CUDA itself, and what nvcc writes, warn under the others
    host = ",".join(
        w for w in (*WARNINGS, *MORE) if w not in ("-Wpedantic", "-Winline", "-Wundef", "-Wredundant-decls")
    )
    for path in sorted(place.glob("src/*.cu")):
        run("nvcc", "-std=c++14", "-Xcompiler", host, f"-I{place / 'include'}", "-c", path, "-o", tmp_path / "object.o")


def test_a_header_alone_warns_of_nothing() -> None:
    """In a file that uses none of its functions."""
    need("gcc", "clang")
    opencl()
    place = bundle("cpu", apis=("opencl",), keys=("f32",))
    for compiler in COMPILERS:
        for path in sorted(place.glob("include/hs/*.h")):
            text = f'#include "hs/{path.name}"\nint unused;\n'
            options = [
                "-std=c99",
                *WARNINGS,
                *MORE,
                *C_ONLY,
                "-DCL_TARGET_OPENCL_VERSION=120",
                f"-I{place / 'include'}",
            ]
            run(compiler, *options, "-xc", "-", "-c", "-O2", "-o", os.devnull, text=text)
