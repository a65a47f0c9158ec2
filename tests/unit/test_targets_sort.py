"""Every shipped target sorts: the models execute its plans, and its text is rendered in each of its dialects.

test_model.py proves committed targets, and those of `shipped.APART`, at more counts.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from models.bitonic import model as merging
from models.radix import model as sorting
from numpy.typing import NDArray
from shipped import sampled
from tools import GLSL, need

from hsgen.algorithms import bitonic, radix
from hsgen.core.sort import Sort
from hsgen.emit import spirv
from hsgen.emit.kernels import render
from hsgen.emit.spirv import Module
from hsgen.targets import target

BITONIC = {name for name in target.names() if "bitonic" in target.find(name).labels("u32")}
OTHERS = sorted(BITONIC - set(sampled())) or ["mali-valhall"]
"""Nightly all are sampled, and one represents the others here."""


def keys_of(sort: Sort, n: int) -> NDArray[np.unsignedinteger]:
    """Return `n` keys: half of them random, half of few values including the greatest."""
    rng = np.random.default_rng(n)
    keys = rng.integers(0, sort.key.greatest, n, np.dtype(f"u{sort.key.bytes}"), endpoint=True)
    keys[::2] = np.where(keys[::2] % 3 == 0, sort.key.greatest, keys[::2] % 5)
    return keys


@pytest.mark.parametrize("key", ["u32", "u64"])
@pytest.mark.parametrize("name", OTHERS)
def test_merges_sort(name: str, key: str) -> None:
    """Around a slab, at a block plus one key, and with an odd rest of a flip."""
    sort = target.find(name).sort("bitonic", key)
    p = sort.parts[0].params
    assert isinstance(p, bitonic.Params)
    for n in (p.subgroup * p.height - 1, p.block + 1, 2 * p.block + p.block // 3):
        keys = keys_of(sort, n)
        out = merging.run(sort, keys[None].copy())[0]
        assert np.array_equal(out, np.sort(keys)), n


@pytest.mark.parametrize("key", ["u32", "u64"])
@pytest.mark.parametrize("name", target.names())
def test_radix_sorts_sort(name: str, key: str) -> None:
    """A single work-group, several tiles, and with look-back also failing passes."""
    found = target.find(name)
    p = found.choices["radix", key]
    assert isinstance(p, radix.Params)
    plan = radix.plan(p)
    for n in (p.tile // 2 + 1, p.tile + 1, 3 * p.tile - 1):
        keys = keys_of(found.sort("radix", key), n)
        for failing in [(), (1,)] if p.looks_back else [()]:
            out = sorting.run(p, plan, keys, failing=failing)
            assert np.array_equal(out.keys, np.sort(keys)), (n, failing)


@pytest.mark.parametrize(("name", "api"), [(n, api) for n in target.names() for api in target.find(n).apis])
def test_every_kernel_is_written_in_every_dialect(name: str, api: str) -> None:
    found = target.find(name)
    for key in ("u32", "u64"):
        sort = found.default(key)
        source = render(sort, api)
        assert set(source.parts) == {k.name for k in sort.kernels if not (k.index64 and api == "vulkan")}
        for kernel, text in source.parts.items():
            assert kernel in text and "{{" not in text and "{%" not in text


@pytest.mark.parametrize("name", [n for n in OTHERS if "vulkan" in target.find(n).apis])
def test_glsl_of_one_kernel_compiles(name: str, tmp_path: Path) -> None:
    """Of a merge of 64-bit keys, which are pairs of u32 on devices without 64-bit integers; `hsgen compile` takes
    all."""
    need(GLSL)
    using = spirv.compiler()
    assert using
    sort = target.find(name).sort("bitonic", "u64")
    kernel = min((k for k in sort.kernels if k.subgroup > 1), key=lambda k: k.work_group)
    source = render(sort, "vulkan")
    words = spirv.compile_one(source.text, "bitonic", Module(kernel.name, False), using)
    assert words[:4] == (0x07230203).to_bytes(4, "little")
