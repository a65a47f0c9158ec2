"""Every target that the reader accepts compiles: sorts of random targets in every dialect, checked for syntax and
types.

The nightly run draws many targets; each is identified by its seed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawing import Bounds, drawn, sorts_of
from nightly import NIGHTLY
from tools import tool

from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.engines import metal_shim
from hsgen.targets import target

WORDS = Path(__file__).with_name("cuda_words.hpp")
_CLANG = ("clang", "-fsyntax-only", "-Wno-everything", "-x")
_CL = ("-target", "spir64", "-Xclang", "-finclude-default-header", "-Xclang")
_LANES = "-cl-ext=-all,+cl_khr_subgroups,+cl_khr_subgroup_shuffle,+cl_khr_subgroup_ballot"

LOOKS = """
[radix.u32.onesweep]
bits = 8
items = 4
work_group = 64
subgroup = 1
ranker = "bitmask"
groups = 16
sorted_exit = true
"""
WALKS = """
[radix.u64.per_thread]
bits = 8
items = 64
work_group = 1
subgroup = 1
groups = 8
sorted_exit = true
"""
DEVICE = """schema = 3
name = "legal"
summary = "for tests"
apis = ["opencl", "vulkan", "cuda", "metal"]

[device]
subgroups = [1]
shuffle = false
work_group = 256
groups = 65535
local_bytes = 65536
int64 = true
storage8 = true
storage16 = true
binding_bytes = 134217728
progress = "started"
"""


def _run(*command: str) -> str:
    """The compiler's error message; "" on success."""
    program, *arguments = command
    done = subprocess.run([tool(program), *arguments], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr) if done.returncode else ""


def opencl(sort: Sort, folder: Path) -> str:
    file = folder / "kernels.cl"
    file.write_text(render(sort, "opencl").text, encoding="utf-8")
    standard = "-cl-std=CL3.0" if sort.lanes > 1 else "-cl-std=CL1.2"
    return _run(*_CLANG, "cl", standard, *_CL, _LANES if sort.lanes > 1 else "-cl-ext=-all", str(file))


def metal(sort: Sort, folder: Path) -> str:
    file, made = folder / "kernels.clcpp", metal_shim.source(sort)
    file.write_text(made.text, encoding="utf-8")
    return _run(*_CLANG, "cl", made.option, *_CL, _LANES, str(file))


def cuda(sort: Sort, folder: Path) -> str:
    file = folder / "kernels.cpp"
    file.write_text(f'#include "{WORDS}"\n{render(sort, "cuda").text}', encoding="utf-8")
    return _run(*_CLANG, "c++", "-std=c++14", str(file))


def vulkan(sort: Sort, folder: Path) -> str:
    file, said = folder / "kernels.comp", ""
    made = render(sort, "vulkan")
    file.write_text(made.text, encoding="utf-8")
    for name in made.parts:
        for way in ([], ["-DHS_ADDRESS"]) if NIGHTLY else ([],):
            out = str(folder / "module.spv")
            said += _run(
                "glslangValidator", "--target-env", "vulkan1.1", f"-DHS_KERNEL_{name}", *way, "-o", out, str(file)
            )
    return said


COMPILERS: dict[str, Callable[[Sort, Path], str]] = {"opencl": opencl, "vulkan": vulkan, "cuda": cuda, "metal": metal}


@pytest.mark.parametrize("api", COMPILERS)
@pytest.mark.parametrize(
    ("tables", "key", "signature"),
    [
        (LOOKS, "u32", Signature(bit_range=True, device_count=True)),
        (WALKS, "u32", Signature(value="packed")),
        (WALKS, "u64", Signature(bit_range=True, device_count=True, key_transform=True)),
    ],
    ids=["looks", "walks-packed", "walks"],
)
def test_keys_in_order_are_found_out_by_a_part_of_their_bits(
    api: str, tables: str, key: str, signature: Signature, tmp_path: Path
) -> None:
    """The comparison has variables in addition to those of its frame and of the kernel that contains it."""
    sort = target.parse(DEVICE + tables, "legal", "here").sort("radix", key, signature)
    assert COMPILERS[api](sort, tmp_path) == ""


def test_a_wrong_kernel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sort = target.parse(DEVICE + LOOKS, "legal", "here").sort("radix", "u32")
    plain = render
    for api in COMPILERS:
        name = "hsgen.engines.metal_shim.render" if api == "metal" else f"{__name__}.render"
        with monkeypatch.context() as m:
            m.setattr(name, lambda sort, api: _broken(plain(sort, api)))
            assert COMPILERS[api](sort, tmp_path) != ""


def _broken(made: Source) -> Source:
    """A text in which a kernel uses an undefined name."""
    parts = {k: text.replace("hs_group_id()", "hs_troop()") for k, text in made.parts.items()}
    return replace(made, parts={k: parts[k] for k in list(parts)[:2]})


@pytest.mark.parametrize("api", COMPILERS)
@pytest.mark.parametrize("seed", range(100 if NIGHTLY else 1))
def test_random_sorts_compile(api: str, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng([22, seed, list(COMPILERS).index(api)])
    text, found = drawn(rng, Bounds(api=api, height=8))
    for number, sort in enumerate(sorts_of(rng, found)):
        if number == (8 if NIGHTLY else 4):
            break
        said = COMPILERS[api](sort, tmp_path)
        assert not said, f"{sort.name} {sort.signature}: {said[:2000]}\n{text}"
