"""CUDA kernels of segmented sorts compile without a warning, and lanes have registers for the keys they hold."""

from __future__ import annotations

import pytest
from cuda_compilers import ARCHS, compilers
from nightly import nightly

from hsgen.core.keys import Signature
from hsgen.emit.kernels import render
from hsgen.targets import target

FORMS = {
    "u32": Signature(),
    "u64": Signature(),
    "f32": Signature(value="v4", key_transform=True),
    "i64": Signature(value="v8", key_transform=True),
    "u16": Signature(value="v16", segment_count=True),
    "u8": Signature(value="index64"),
}


FAST = {"u32": ("nvidia-hopper", 90), "u64": ("generic", 35), "f32": ("generic", 35)}
FAST |= {"i64": ("nvidia-hopper", 90), "u16": ("generic", 90), "u8": ("nvidia-hopper", 35)}
"""The fast run compiles each signature for one target and one architecture; both of these for both."""

SPILLED = {("NVRTC 12.9", 90, "nvidia-hopper", "u64"): {"windows": 8}}
"""Bytes that a compiler spills of a kernel's 64 registers a lane, since networks sort tiny segments of 64-bit keys.

NVRTC 11.8 and nvcc 13.0 spill nothing there, and NVRTC 12.9 spills as much with networks for 10 keys instead of 12.
"""

CASES = [(key, name, arch) for key in FORMS for name in ("nvidia-hopper", "generic") for arch in ARCHS]


@pytest.mark.parametrize(("key", "name", "arch"), [x if FAST[x[0]] == x[1:] else nightly(*x) for x in CASES])
def test_every_kernel_compiles(name: str, key: str, arch: int) -> None:
    sort = target.find(name).sort("segmented_sort", key, FORMS[key])
    for compiler in compilers(arch):
        found = compiler.compile(render(sort, "cuda").text, arch)
        assert set(found) == {k.name for k in sort.kernels}
        if arch >= 80:
            known = SPILLED.get((compiler.name, arch, name, key), {})
            assert {k: u.spill_stores for k, u in found.items() if u.spills} == known, (compiler.name, found)
