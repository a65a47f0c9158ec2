"""The size of generated code, in bytes of text: what people vendor stays small.

The fast tests look at generated/, which `hsgen check` keeps up to date; nightly tests generate more targets.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nightly import nightly
from tools import GLSL, need

import hsgen
from hsgen.cli import main
from hsgen.core.keys import Signature
from hsgen.emit.kernels import render
from hsgen.targets import target

GENERATED = Path(hsgen.__file__).parent.parent / "generated"
SPIRV = 250_000  # a sort of u32 keys, of any count, as C
GENERIC = 120_000  # the same for the target `generic`
CUDA = 184_000  # the text of a sort; 5000 of it are the names of regions and the comments of phases, and 6000 of a u64
# sort are the sample before the first histogram, by which keys of a narrow range take half the time; 1000 separate the
# copies of a frequent key from other keys
LONGEST = "nvidia-hopper"
CPU = 58_000  # the same of `cpu`, whose compiler takes time in proportion
CPU_KERNELS = {("u32", "none"): 5, ("u32", "v4"): 5, ("u64", "none"): 5, ("u64", "v4"): 4}
RENDERERS = 2_500_000  # all C files of ten targets for renderers, u32 keys with 4-byte values
TEN = (
    *("adreno-6xx", "amd-gcn", "amd-rdna", "amd-rdna64", "apple-m1"),
    *("generic", "intel-gen8", "intel-gen12", "mali-valhall", "nvidia-vulkan"),
)
VULKAN = [name for name in target.names() if "vulkan" in target.find(name).apis]


def most(name: str) -> int:
    return GENERIC if name == "generic" else SPIRV


def test_spirv_of_generated_sorts_is_small() -> None:
    found = {p.parts[-3]: p.stat().st_size for p in GENERATED.glob("targets/*/spirv/*_auto_u32.c")}
    assert len(found) >= 4
    assert {name: size for name, size in found.items() if size > most(name)} == {}


def test_cuda_of_generated_sorts_is_small() -> None:
    found = {p.name: p.stat().st_size for p in GENERATED.glob("targets/*/kernels/cuda/*.cu")}
    assert len(found) >= 4
    assert {name: size for name, size in found.items() if size > CUDA} == {}


def texts() -> list[Any]:
    """The target with the longest texts; nightly all."""
    names = [name for name in target.names() if "cuda" in target.find(name).apis]
    return [name if name == LONGEST else nightly(name) for name in names]


@pytest.mark.parametrize("name", texts())
def test_cuda_of_every_sort_is_small(name: str) -> None:
    found = target.find(name)
    forms = [Signature(value=v, key_transform=True) for v in ("none", "v4", "v8", "v16", "index", "index64")]
    sorts = [found.default(key, form) for key in ("u32", "u64") for form in forms]
    assert {s.name: size for s in sorts if (size := len(render(s, "cuda").text)) > CUDA} == {}


@pytest.mark.parametrize(("key", "value"), CPU_KERNELS)
def test_sorts_for_cpus_are_short(key: str, value: str) -> None:
    """One block sort for all small counts, and none where radix sorts take these."""
    sort = target.find("cpu").default(key, Signature(value=value))
    text = render(sort, "opencl").text
    assert len(text) <= CPU and len(sort.kernels) == CPU_KERNELS[key, value]
    assert sum(k.name.startswith(("block_sort", "row_block")) for k in sort.kernels) == ((key, value) != ("u64", "v4"))


@pytest.mark.nightly
@pytest.mark.parametrize("name", VULKAN)
def test_spirv_of_every_target_is_small(tmp_path: Path, name: str) -> None:
    sizes = generated(tmp_path, "-t", name, "--value", "none")
    assert sum(size for path, size in sizes.items() if "spirv" in path.parts) <= most(name)


@pytest.mark.nightly  # it compiles the kernels of ten targets
def test_targets_for_renderers_are_small(tmp_path: Path) -> None:
    sizes = generated(tmp_path, *(f"-t{name}" for name in TEN), "--value", "v4")
    assert sum(sizes.values()) <= RENDERERS


def generated(folder: Path, *options: str) -> dict[Path, int]:
    """Generate sorts of u32 keys for Vulkan; return the sizes of all C files."""
    need(GLSL)
    more = ("--api", "vulkan", "--key", "u32", "--algorithm", "auto", "-o", str(folder))
    assert main(["generate", *options, *more]) == 0
    return {p.relative_to(folder): p.stat().st_size for p in folder.rglob("*.c")}
