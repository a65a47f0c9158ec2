"""Metal text compared with SPIRV-Cross's translation of the same kernel's GLSL: both have the same interface.

There is no compiler of Metal's language outside of Apple's systems: tests/device/test_metal.py runs the kernels.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from tools import GLSL, need

from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.emit import spirv
from hsgen.emit.kernels import render
from hsgen.targets import target

LANES = Path(__file__).parents[1] / "device" / "lanes"
SORTS = {
    "apple-m1": ("apple-m1", "auto", "u64", Signature()),
    "narrow": ("apple-m1", "radix", "u8", Signature(value="v8")),
    "votes": (str(LANES / "radix16.toml"), "radix", "u32", Signature(key_transform=True)),
    "exchanges": (str(LANES / "lanes16.toml"), "bitonic", "u32", Signature(value="v4")),
}


@dataclass(frozen=True)
class Interface:
    """The interface of a kernel, and its threadgroup memory."""

    buffers: tuple[tuple[str, bool], ...]  # element types, and whether they are read-only
    work_group: int
    arrays: Counter[tuple[str, int]]
    places: frozenset[str]


def here(text: str, sort: Sort) -> Interface:
    """The interface in hsgen's own text of one kernel; its type macros become Metal's types."""
    words = {name: type_ for type_, name in re.findall(r"^typedef (\w+) (hs_\w+);", text, re.MULTILINE)}
    begin = text.index("kernel void ")
    signature = text[begin : text.index("\n{\n", begin)]
    found = re.findall(r"device (const )?(\w+) \*\w+ \[\[buffer\((\d+)\)\]\]", signature)
    assert [int(at) for *_, at in found] == list(range(len(found)))
    assert f"constant hs_numbers &hs_given [[buffer({len(found)})]]" in signature
    lanes = re.search(r"max_total_threads_per_threadgroup\((\d+)\)", text)
    assert lanes
    arrays = re.findall(r"^    threadgroup (\w+) \w+\[(\d+)\];", text, re.MULTILINE)
    return Interface(
        buffers=tuple((words.get(type_, type_), bool(const)) for const, type_, _ in found),
        work_group=int(lanes[1]),
        arrays=Counter((words.get(type_, type_), int(count)) for type_, count in arrays),
        places=frozenset(re.findall(r"\[\[((?:thread|simd)\w+)\]\]", signature)),
    )


def crossed(module: bytes, folder: Path) -> Interface:
    """The interface in SPIRV-Cross's text; buffers are structures of one array there."""
    path = folder / "module.spv"
    path.write_bytes(module)
    command = ["spirv-cross", "--msl", "--msl-version", "20300", "--msl-decoration-binding", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    held = dict(re.findall(r"struct (\w+)\n\{\n    (\w+) _m0\[1\];\n\};", text))
    signature = re.search(r"^kernel void main0\((.*)\)$", text, re.MULTILINE)
    assert signature
    found = re.findall(r"(const )?device (\w+)& \w+ \[\[buffer\((\d+)\)\]\]", signature[1])
    lanes = re.search(r"gl_WorkGroupSize \[\[maybe_unused\]\] = uint3\((\d+)u, 1u, 1u\)", text)
    assert lanes
    arrays = re.findall(r"^    threadgroup (\w+) \w+\[(\d+)\];", text, re.MULTILINE)
    assert sorted(int(at) for *_, at in found) == list(range(len(found)))
    return Interface(
        buffers=tuple((held[type_], bool(const)) for const, type_, _ in sorted(found, key=lambda f: int(f[2]))),
        work_group=int(lanes[1]),
        arrays=Counter((type_, int(count)) for type_, count in arrays),
        places=frozenset(re.findall(r"\[\[((?:thread|simd)\w+)\]\]", signature[1])),
    )


def pairs_alike(type_: str) -> str:
    """Pairs of key and index are 64-bit integers here and two u32 there."""
    return "uint2" if type_ == "ulong" else type_


@pytest.mark.parametrize("name", SORTS)
def test_a_host_sees_the_same_kernels(name: str, tmp_path: Path) -> None:
    need("spirv-cross", GLSL)
    using = spirv.compiler()
    assert using
    where, label, key, signature = SORTS[name]
    sort = target.find(where).sort(label, key, signature)
    source = render(sort, "metal")
    modules = spirv.compile_all(sort, render(sort, "vulkan"), using)
    made = {m.kernel: data for m, data in modules.items() if not m.address}
    assert set(made) == {k.name for k in sort.kernels if not k.index64}
    assert set(source.parts) == {k.name for k in sort.kernels}
    for kernel in made:
        ours, theirs = here(source.only(kernel), sort), crossed(made[kernel], tmp_path)
        assert ours.work_group == theirs.work_group == sort.kernel(kernel).work_group
        alike = pairs_alike if sort.paired else str
        mine, its = ([(alike(t), only) for t, only in x.buffers] for x in (ours, theirs))
        assert mine == its, kernel
        arrays: Counter[tuple[str, int]] = Counter()
        for (type_, count), times in ours.arrays.items():
            arrays[alike(type_), count] += times
        assert theirs.arrays <= arrays, kernel  # it omits unused members
        assert theirs.places <= ours.places, kernel
