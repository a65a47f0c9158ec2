"""Programs that make random calls of the runtimes, over drivers that compute nothing, built with the sanitizers."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from types import MappingProxyType

from building import CONSUMERS, WARNINGS, compiled, folder, need, opencl, program
from conftest import missing
from sanitizers import SANITIZERS, sanitizes
from tools import VULKAN

from hsgen import apis
from hsgen.cli import main
from hsgen.emit import c_calls, c_files
from hsgen.system import toolchain

TEMPLATES = Path(__file__).parents[2] / "templates"
APPLE = Path(__file__).with_name("apple")
CUDA = ("-xc++", "-std=c++14", "-Wall", "-Wextra", "-Wno-pedantic")
"""For the toolkit's headers, which produce warnings."""
SORTS = {
    "intel-gen8": (
        "--key=u8",
        "--value=v4",
        "--value=index",
        "--order=both",
        "--feature=bit-range",
        "--feature=device-count",
    ),
    "amd-rdna": ("--key=u32", "--value=v4", "--feature=run-boundaries", "--algorithm=radix"),
    "generic": ("--key=u32", "--value=none", "--value=v4", "--algorithm=merge_path", "--algorithm=digest"),
    "apple-m1": (
        "--key=u32",
        "--value=index",
        "--value=v4",
        "--order=both",
        "--algorithm=segmented_sort",
        "--feature=segment-count",
    ),
    "lavapipe": ("--key=u32", "--algorithm=scan-x4", "--algorithm=bitonic"),
}
"""The content of the bundle: sorts of all signatures, a report, and each other kind."""
APIS = ("opencl", "vulkan", "cuda", "metal")


def _runtime(names: str) -> list[Path]:
    """The files of the runtimes."""
    return [*(TEMPLATES / "bundle").glob(names), *(TEMPLATES / "apis").glob(f"*/{names}")]


@cache
def tables() -> Path:
    """The sorts as data, without kernels, and the headers of the templates."""
    place, said = folder("fuzz") / "sorts", StringIO()
    for name, chosen in SORTS.items():
        with redirect_stdout(said), redirect_stderr(said):
            code = main(["generate", "-t", name, "--api", "vulkan", "--glsl-only", *chosen, "-o", str(place)])
        assert code == 0, said.getvalue()
    for path in _runtime("hs*.h"):
        text = c_files.completed(_text(path))
        (place / "include" / "hs" / path.name).write_text(text, encoding="utf-8")
    return place


def _text(path: Path) -> str:
    """The text of a file of the runtime, with the calls of its API, and with what a bundle inserts."""
    for api in apis.APIS.values():
        for pattern in (*api.headers, *api.internal, *api.sources):
            if api.named(pattern) == path.name and api.file(pattern) == path:
                return c_calls.completed(api, pattern)
    return c_files.completed(path.read_text(encoding="utf-8"))


def text(name: str) -> str:
    """The text of a file of the runtime, by its name."""
    return _text(next(path for path in _runtime("hs*") if path.name == name))


def includes() -> tuple[str, ...]:
    """Include paths."""
    return (f"-I{tables() / 'include'}", f"-I{CONSUMERS}")


@cache
def data() -> tuple[Path, ...]:
    """The objects that all programs share: constants only, which need no sanitizer."""
    files = [tables() / "src" / "hs_targets.c", *sorted(tables().glob("targets/*/*.c"))]
    return tuple(compiled("gcc", "-std=c99", *WARNINGS, *includes(), *files))


def ready(api: str) -> None:
    """Skip if a requirement of the program for an API is not installed."""
    need("gcc", "g++")
    compiler = "clang" if api == "metal" else "gcc"
    if not sanitizes(compiler):
        missing(f"{compiler} has no sanitizers")
    if api == "opencl":
        opencl()
    if api == "vulkan":
        need(VULKAN)
    if api == "cuda":
        need("nvcc")
    if api == "cuda" and toolkit() is None:
        missing("the headers of the CUDA toolkit are not installed")


@cache
def toolkit() -> Path | None:
    """The headers of the CUDA toolkit, found through its compiler."""
    nvcc = toolchain.tool("nvcc")
    if nvcc is None:
        return None
    command = [nvcc, "--dryrun", "-E", "-x", "c", os.devnull]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    found = re.search(r'^#\$ INCLUDES="-I([^"]+)"', said, re.MULTILINE)
    return Path(found[1]) if found and (Path(found[1]) / "cuda_runtime_api.h").is_file() else None


def built(api: str, changed: Mapping[str, tuple[str, str]] = MappingProxyType({}), *options: str) -> Path:
    """The program of an API; `changed` replaces text in files of the runtime; `options` are for the compiler."""
    ready(api)
    out = folder("runtime")
    for path in _runtime("hs*.[chm]*"):
        text = _text(path)
        if path.name in changed:
            assert text.count(changed[path.name][0]) == 1, changed[path.name][0]
            text = text.replace(*changed[path.name])
        (out / path.name).write_text(text, encoding="utf-8")
    common = [*SANITIZERS, *options, *includes()]
    plain = [*common, *WARNINGS, "-std=c99"]
    own, name = [out / apis.APIS[api].named(name) for name in apis.APIS[api].sources], f"fuzz_{api}"
    compiler = "clang" if api == "metal" else "gcc"
    core = compiled(compiler, *plain, *(out / name for name in c_files.CORE))
    if api == "cuda":
        fuzzer = [*CUDA, CONSUMERS / f"{name}.cpp", *own, "-xnone", "-Wl,--wrap=malloc,--wrap=free"]
        return program(name, "g++", *common, "-isystem", toolkit() or "", *fuzzer, *core, *data())
    fakes = {"opencl": [CONSUMERS / "fake_opencl.c"], "metal": [CONSUMERS / "fake_metal.c"]}.get(api, [])
    if api == "metal":
        apple = ["-xobjective-c", "-fno-objc-arc", "-fobjc-runtime=gcc", f"-I{APPLE}"]
        hooks = ["-Dcalloc=fake_calloc", "-include", CONSUMERS / "fake_metal.h"]
        made = compiled(compiler, *apple, *plain, *hooks, *own)
    else:
        made = compiled(compiler, *plain, "-Dcalloc=fake_calloc", *own)
    return program(name, compiler, *plain, CONSUMERS / f"{name}.c", *fakes, *made, *core, *data())
