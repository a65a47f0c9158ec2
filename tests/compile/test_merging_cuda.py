"""CUDA kernels of merges by paths, which no bundle has unless asked: they compile, and spill no registers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_cuda import ARCHS, compilers

from hsgen import sorts, target
from hsgen.algorithms import merge
from hsgen.keys import KEYS, Form
from hsgen.render import render
from hsgen.spec import Part, Sort


def compiled(sort: Sort, arch: int) -> None:
    """Compile every kernel by itself: all are there, and none spills."""
    for compiler in compilers(arch):
        found = compiler.compile(render(sort, "cuda").text, arch)
        assert set(found) == {k.name for k in sort.kernels}
        assert {k: u for k, u in found.items() if u.spills} == {}, compiler.name


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("value", ["none", "v4", "v16"])
@pytest.mark.parametrize(("name", "key"), [("nvidia-sm90", "u32"), ("nvidia-hopper", "u64"), ("generic", "u8")])
def test_merges_of_two_arrays(name: str, key: str, value: str, arch: int) -> None:
    compiled(target.find(name).sort("mergepath", key, Form(value=value, typed=True)), arch)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("key", "value"), [("u32", "none"), ("u64", "none"), ("u32", "v4"), ("u64", "v4")])
def test_merges_of_runs(key: str, value: str, arch: int) -> None:
    found, form = target.find("generic"), Form(value=value)
    own = {k: replace(p, path_from=1) for (a, k), p in found.choices.items() if a == "merge"}
    p = merge.formed(own, KEYS[key], form, found.device)
    kernels, plan, parts = sorts.assemble([Part(algorithm="merge", params=p, min_n=0, max_n=2**62)], "shape", form)
    sort = Sort(target="shape", algorithm="merge", key=KEYS[key], kernels=kernels, plan=plan, parts=parts, form=form)
    assert "path" in {k.name for k in kernels}
    compiled(sort, arch)
