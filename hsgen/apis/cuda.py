"""CUDA 11.8 and later.  Kernels are functions of the program, which nvcc compiles."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hsgen.apis.api import Api, Harness, Option, Probe, Tables
from hsgen.core.errors import Unavailable
from hsgen.system import compilers, toolchain

_ORIGINS = {
    "subgroups": "warpSize",
    "shuffle": "part of CUDA",
    "work_group": "maxThreadsPerBlock",
    "groups": "maxGridSize",
    "local_bytes": "sharedMemPerBlockOptin",
    "int64": "part of CUDA",
    "storage8": "part of CUDA",
    "storage16": "part of CUDA",
    "binding_bytes": "totalGlobalMem, up to 2^32 - 1",
    "local": "the device's own report",
    "cores": "multiProcessorCount",
    "units": "the device's own report",
    "threads": "maxThreadsPerMultiProcessor / warpSize",
    "registers": "regsPerMultiprocessor",
}
CCCL = "HSGEN_CCCL"
"""The environment variable with a folder of CUB headers that replace those of the toolkit."""
_WORDS = 1 << 32
_BASELINES = {
    "sort": ("cub.cu", ("cub", "cub-fields", "cub-merge")),
    "segmented_sort": ("cub_segmented_sort.cu", ("cub", "cub-radix")),
    "merge": ("cub_merge.cu", ("cub",)),
    "scan": ("cub_scan.cu", ("cub",)),
    "top_k": ("cub_top_k.cu", ("cub",)),
    "group_by": ("cub_group_by.cu", ("cub",)),
    "reduce_by_key": ("cub_reduce_by_key.cu", ("cub",)),
}


def nvcc() -> list[str]:
    """Return the nvcc command that compiles for this machine's GPUs.

    Raises:
        Unavailable: there is no nvcc or no NVIDIA GPU.
        Wrong: the driver does not answer.
    """
    path = toolchain.tool("nvcc")
    if path is None:
        raise Unavailable("no nvcc on the PATH; install NVIDIA's CUDA toolkit")
    code = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in architectures()]
    toolkit = Path(path).resolve().parents[1] / "include" / "cccl"  # CUB's folder in toolkits from 13.0 on
    chosen = os.environ.get(CCCL)
    extra = [f"-I{folder}" for folder in (chosen, toolkit) if folder and Path(folder).is_dir()]
    return [path, "-std=c++17", "-O3", "-cudart", "static", *code, "-Xcompiler", "-fPIC", *extra]


@cache
def architectures() -> tuple[str, ...]:
    """Return the architectures of this machine's NVIDIA GPUs, such as "90", in ascending order.

    Raises:
        Unavailable: there is no NVIDIA GPU.
        Wrong: the driver does not answer.
    """
    path = toolchain.tool("nvidia-smi")
    if path is None:
        raise Unavailable("no NVIDIA GPU: there is no nvidia-smi")
    done = compilers.run([path, "--query-gpu=compute_cap", "--format=csv,noheader"], compilers.PATIENCE)
    capabilities = {c.replace(".", "") for c in done.stdout.split() if c.replace(".", "").isdecimal()}
    if done.returncode or not capabilities:
        raise Unavailable("no NVIDIA GPU: nvidia-smi shows none")
    return tuple(sorted(capabilities, key=int))


def _facts(widths: Sequence[int], report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a device.  The only subgroup width is 32, because the lanes of a warp run together."""
    facts = {name: value for name, value in report.items() if name not in ("memory_bytes", "shared_bytes")}
    binding = min(report.get("memory_bytes", _WORDS), _WORDS) - 1
    return {"subgroups": [32], **facts, "storage8": True, "storage16": True, "binding_bytes": binding}


API = Api(
    name="cuda",
    title="CUDA",
    order=3,
    dialect="cuda",
    suffix="cu",
    language="CUDA C++",
    sources=(
        "hs_{api}.{suffix}",
        "hs_{api}_platform.{suffix}",
        "hs_{api}_device.{suffix}",
        "hs_{api}_create.{suffix}",
        "hs_{api}_launch.{suffix}",
    ),
    example="sort_{api}.{suffix}",
    prefixes=("cu", "cuda"),
    calls="cuda",
    tables=Tables(target="{target}_cuda.cu", suffix="cu", earlier="{target}.cu"),
    cooperative=True,
    harness=Harness(sources=("cuda.cu", "cuda_calls.cu", "cuda_device.cu"), command=nvcc, baselines=_BASELINES),
    options={"graph": Option(1, help="graph=1"), "poison": Option(1)},
    probe=Probe(origins=_ORIGINS, facts=_facts, started=True, isa=("cuda", "sm_{}")),
    torch="cuda",
)
