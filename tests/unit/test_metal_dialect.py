"""Metal's text, and its form as C++ for OpenCL: signatures change, kernels do not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines import metal_shim
from hsgen.targets import target

LANES = str(Path(__file__).parents[1] / "device" / "lanes" / "simd32.toml")
ALL = {"key_transform": True, "bit_range": True, "device_count": True}
SORTS = [
    ("apple-m1", "auto", "u32", Signature()),
    ("apple-m1", "auto", "u64", Signature(value="v16", **ALL)),
    ("apple-m1", "radix", "u8", Signature(value="index")),
    (LANES, "auto", "u64", Signature(value="v8", **ALL)),
    (LANES, "radix", "u32", Signature()),
    (LANES, "scan-look", "u64", Signature()),
]


@pytest.fixture(params=SORTS, ids=lambda c: f"{Path(c[0]).stem}-{c[1]}-{c[2]}-{c[3].value}")
def sort(request: pytest.FixtureRequest) -> Sort:
    """A sort with a signature."""
    where, label, key, signature = request.param
    return target.find(where).sort(label, key, signature)


def signature(text: str) -> str:
    """From the attribute of a kernel to the end of its parameters."""
    return text[text.index("[[max_total") : text.index(")\n{\n", text.index("kernel void"))]


def test_kernels_take_what_their_buffers_are(sort: Sort) -> None:
    source = render(sort, "metal")
    assert source.path.endswith(f"kernels/metal/{sort.file}.metal")
    for kernel in sort.kernels:
        said = signature(source.parts[kernel.name])
        assert said.startswith(
            f"[[max_total_threads_per_threadgroup({kernel.work_group})]]\nkernel void {kernel.name}("
        )
        for number, buffer in enumerate(kernel.buffers):
            words = "device " + "const " * buffer.read_only
            assert re.search(rf"\n    {words}\w+ \*{buffer.name} \[\[buffer\({number}\)\]\],\n", said), (said, buffer)
        assert said.count("[[buffer(") == len(kernel.buffers) + 1
        assert ("thread_index_in_simdgroup" in said) == (sort.lanes > 1)


def test_nothing_wider_than_a_word_is_exchanged(sort: Sort) -> None:
    """There are no 64-bit shuffles and broadcasts: 64-bit values are exchanged as vectors of u32."""
    text = render(sort, "metal").text
    assert ("simd_shuffle_xor" in text) == (sort.lanes > 1)
    for line in text.splitlines():
        if "ulong" in line and "simd_shuffle_xor" in line:
            assert "simd_shuffle_xor(as_type<uint2>(" in line


def test_the_shim_keeps_bodies(sort: Sort) -> None:
    """Except vector constructors, which the languages write differently."""
    source, other = render(sort, "metal"), metal_shim.source(sort)
    assert list(other.parts) == list(source.parts) and other.option == metal_shim.OPTION and not source.option
    for name, text in source.parts.items():
        begin = text.index("\n{\n") + 3
        body = re.sub(r"(?<!\w)uint([24])\(", r"(uint\1)(", text[begin:])
        assert other.parts[name].endswith(body) and len(body) > 100
    assert "[[" not in other.text and "metal_stdlib" not in other.text
    text = re.sub(r"//.*|^#define .*$", "", other.text, flags=re.MULTILINE)
    for word in ("kernel void", "uint2(", "uint4(", "as_type<uint2> ("):
        assert not re.search(rf"(?<![\w(]){re.escape(word)}", text), word


def test_a_kernel_has_the_parameters_of_opencl(sort: Sort) -> None:
    """In the same order, so that one engine calls both."""
    other, opencl = metal_shim.source(sort), render(sort, "opencl")
    for name, text in other.parts.items():
        (mine,) = re.findall(rf"__kernel void {name}\((.*)\)\n", text)
        (its,) = re.findall(rf"__kernel void {name}\((.*)\)\n", opencl.parts[name])
        words = [re.sub(r"^device ", "__global ", p).removesuffix("_").replace(" *", " *") for p in mine.split(", ")]
        assert [w.split()[-1] for w in words] == [w.split()[-1].removeprefix("hs_") for w in its.split(", ")]
        assert [w.split()[0] for w in words] == [w.split()[0] for w in its.split(", ")]
