"""CUDA kernels of merge path, which bundles contain only on request: they compile without register spills."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cuda_compilers import ARCHS, compilers
from nightly import thinned
from sorts import sort_by

from hsgen.algorithms import bitonic
from hsgen.core.keys import KEYS, Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.targets import target

SPILLED = {("NVRTC 12.9", 120, "nvidia-hopper", "u64", 4): {"merge": 8}}
"""Bytes that a compiler spills of a kernel, by architecture, target, key and value bytes."""


def compiled(sort: Sort, arch: int) -> None:
    """Compile each kernel separately: all exist, and none spills but those stated."""
    for compiler in compilers(arch):
        found = compiler.compile(render(sort, "cuda").text, arch)
        assert set(found) == {k.name for k in sort.kernels}
        known = SPILLED.get((compiler.name, arch, sort.target, sort.key.name, sort.signature.value_bytes), {})
        assert {k: u.spill_stores for k, u in found.items() if u.spills} == known, (compiler.name, found)


KINDS = [("nvidia-sm90", "u32"), ("nvidia-hopper", "u32"), ("nvidia-hopper", "u64"), ("generic", "u8")]
ARRAYS = [(*kind, value, arch) for kind in KINDS for arch in ARCHS for value in ("none", "v4", "v16")]
RUNS = [(key, value, arch) for arch in ARCHS for value in ("none", "v4") for key in ("u32", "u64")]


@pytest.mark.parametrize(("name", "key", "value", "arch"), thinned(ARRAYS, 5))
def test_merges_of_two_arrays(name: str, key: str, value: str, arch: int) -> None:
    compiled(target.find(name).sort("merge_path", key, Signature(value=value, key_transform=True)), arch)


@pytest.mark.parametrize(("key", "value", "arch"), thinned(RUNS, 3))
def test_merges_of_runs(key: str, value: str, arch: int) -> None:
    found, signature = target.find("generic"), Signature(value=value)
    own = {k: replace(p, path_from=1) for (a, k), p in found.choices.items() if a == "bitonic"}
    p = bitonic.specialize(own, KEYS[key], signature, found.device)
    sort = sort_by("bitonic", p, signature)
    assert "path" in {k.name for k in sort.kernels}
    compiled(sort, arch)
