"""A bundle's own C runtime, driven from Python: built on the spot, loaded with ctypes.

Loading and running it happens in a process of its own (`hsgen.tools.worker`), since drivers crash and hang.  Built
libraries are kept in the user's cache folder by the hash of all that went into them.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hsgen.bundle import build
from hsgen.bundle.manifest import CHECK, Manifest, choose
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.keys import KEYS, ORDERS, PLAIN, Form
from hsgen.core.sort import OTHERS
from hsgen.system import folders, processes, toolchain
from hsgen.targets import choices
from hsgen.targets.target import Target

PATIENCE = 60.0  # seconds for what answers at once
HARNESS = Path(__file__).resolve().parent / "native"
_HEADERS = {"opencl": "CL/cl.h", "vulkan": "vulkan/vulkan_core.h"}
_INSTALL = {"opencl": "ocl-icd-opencl-dev", "vulkan": "libvulkan-dev"}
PEERS = {
    "sort": ("cub.cu", ("cub",)),
    "segments": ("cub_segments.cu", ("cub", "cub-radix")),
    "merge": ("cub_merge.cu", ("cub",)),
}
"""Peers of the CUDA harness by the kind of what they are compared with: their file, and their names."""
_LINK = {"opencl": ["-lOpenCL"], "vulkan": ["-ldl"]}


def compiler() -> list[str]:
    """Return the command of a C compiler: CC, cc, gcc, clang, or the one in the ziglang package.

    Raises:
        Unavailable: there is none.
    """
    chosen = os.environ.get("CC", "").split()
    for command in [chosen] if chosen else [["cc"], ["gcc"], ["clang"]]:
        if path := toolchain.tool(command[0]):
            return [path, *command[1:]]
    if chosen:
        raise Unavailable(f"no C compiler {chosen[0]}, which the variable CC names; unset it or install that one")
    if toolchain.has_module("ziglang"):
        return processes.python("ziglang", "cc")
    raise Unavailable("no C compiler; install gcc or clang, or pip install ziglang")


def _nvcc() -> list[str]:
    path = toolchain.tool("nvcc")
    if path is None:
        raise Unavailable("no nvcc on the PATH; install NVIDIA's CUDA toolkit")
    code = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in architectures()]
    return [path, "-std=c++17", "-O3", "-cudart", "static", *code, "-Xcompiler", "-fPIC"]


@cache
def architectures() -> tuple[str, ...]:
    """Return the architectures of this machine's NVIDIA GPUs, such as 90, in ascending order.

    Raises:
        Unavailable: there is no such GPU.
        Wrong: the driver does not answer.
    """
    path = toolchain.tool("nvidia-smi")
    if path is None:
        raise Unavailable("no NVIDIA GPU: there is no nvidia-smi")
    done = run([path, "--query-gpu=compute_cap", "--format=csv,noheader"], PATIENCE)
    found = {c.replace(".", "") for c in done.stdout.split() if c.replace(".", "").isdecimal()}
    if done.returncode or not found:
        raise Unavailable("no NVIDIA GPU: nvidia-smi shows none")
    return tuple(sorted(found, key=int))


def run(command: Sequence[str], seconds: float, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a program of others and return what it said.

    Raises:
        Wrong: it does not end in time.
    """
    try:
        return toolchain.run(command, seconds, **more)
    except subprocess.TimeoutExpired:
        raise Wrong(f"{Path(command[0]).name} hangs: it did not end within {seconds:g} seconds") from None


def library(
    api: str,
    targets: Sequence[Target],
    key: str,
    peers: Sequence[str] = (),
    made: tuple[Path, Manifest] | None = None,
    *,
    algorithms: Sequence[str] = (),
    form: Form = PLAIN,
) -> Path:
    """Return the shared library of the bundle of these targets with the harness of `api`.

    It holds the sorts and scans of these `algorithms` in a form; none named: all that a target has for the key type.
    `made` is a bundle whose SPIR-V is taken where its GLSL is the same, for machines without a GLSL compiler.  `peers`
    are compiled along for CUDA, for what the algorithms do; names of others are passed over.

    Raises:
        Unavailable: a compiler or a header is missing.
        Wrong: something does not compile.
    """
    words = build.Modules(made[0] if made else Path(os.devnull), made[1] if made else None, "hs")
    orders, features = ORDERS if form.typed else (), form.features
    more = {"values": [form.value], "orders": orders, "features": features, "epilogue": form.epilogue}
    parts = {t.name: (t, choose(t, [key], [api], algorithms or t.labels(key), **more)) for t in targets}  # type: ignore[arg-type]
    files, _ = build.build(parts, words, "hs")
    if absent := [*words.missing, *words.lost]:
        raise Unavailable(
            f"no GLSL compiler for {absent[0]}; install glslang or shaderc, or name a bundle that "
            "holds it with --bundle"
        )
    for file in sorted(HARNESS.iterdir()):
        files[f"harness/{file.name}"] = file.read_bytes()
    command = _nvcc() if api == "cuda" else [*compiler(), "-std=c99", "-O1", "-fPIC"]
    units = [p for p in sorted(files) if _compiled(p, api)]
    if beside := peer_units(peers, algorithms) if api == "cuda" else []:
        command, units = [*command, *peer_options(peers, key, form)], [*units, *(f"harness/{p}" for p in beside)]
    state = hashlib.sha256("\0".join([*command, *units, *_versions(command)]).encode())
    for path in sorted(files):
        state.update(path.encode() + b"\0" + files[path])
    place = folders.cached("native") / f"{api}-{state.hexdigest()}.so"
    if folders.load(place) is None:
        _build(api, command, units, files, place)
    return place


def peer_units(peers: Sequence[str], algorithms: Sequence[str]) -> list[str]:
    """Return the files of the harness with these peers for what algorithms do, sorts if none is named."""
    kinds = {OTHERS.get(choices.algorithm(a), "sort") for a in algorithms if a != CHECK} or {"sort"}
    return [PEERS[kind][0] for kind in sorted(kinds & set(PEERS)) if set(peers) & set(PEERS[kind][1])]


def peer_options(peers: Sequence[str], key: str, form: Form) -> list[str]:
    """Return what tells the compiler which peers are wanted, and for which keys and values: they take long."""
    known = sorted({p for _, names in PEERS.values() for p in names} & set(peers))
    names = [f"-DHN_PEER_{p.upper().replace('-', '_')}" for p in known]
    return [*names, f"-DHN_KEY_BYTES={KEYS[key].bytes}", f"-DHN_VALUE_BYTES={form.value_bytes}"]


def _compiled(path: str, api: str) -> bool:
    if path.startswith("harness/"):
        return path == f"harness/{api}.{'cu' if api == 'cuda' else 'c'}"
    return path.endswith((".c", ".cu")) and not path.startswith("examples/") and "/kernels/" not in path


def _versions(command: Sequence[str]) -> list[str]:
    return [run([command[0], "--version"], PATIENCE).stdout]


def _build(api: str, command: list[str], units: list[str], files: build.Files, place: Path) -> None:
    header = _HEADERS.get(api)
    if header and not _has_header(command, header):
        raise Unavailable(f"the header {header} is missing; install it (Debian and Ubuntu: {_INSTALL[api]})")
    with folders.scratch() as folder:
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        out = folder / "out.so"
        flags = ["-shared", "-Iinclude", "-Iharness", *units, "-o", str(out), *_LINK.get(api, [])]
        if api == "cuda" and (extra := Path(command[0]).resolve().parents[1] / "include" / "cccl").is_dir():
            flags.insert(0, f"-I{extra}")
        done = run([*command, *flags], 1200, cwd=folder)
        if done.returncode:
            lines = (done.stdout + done.stderr).splitlines()
            telling = [x for x in lines if any(w in x for w in ("error", "fatal", "cannot find"))] or lines[-1:]
            said = telling[0] if telling else f"exit code {done.returncode}"
            raise Wrong(f"the C runtime of {api} does not build with {Path(command[0]).name}: {said}")
        folders.keep(place, out.read_bytes())


def _has_header(command: Sequence[str], header: str) -> bool:
    return run([*command, "-E", "-x", "c", "-"], PATIENCE, text=f"#include <{header}>\n").returncode == 0
