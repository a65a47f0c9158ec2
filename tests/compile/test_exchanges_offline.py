"""Atomic exchanges and minima, in digests that use them (`exchanging`), compiled offline; CUDA's run on the host."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import missing
from exchanging import Change, planted
from isa_requests import needed, real
from on_host import GUARD, compiled
from wgsl_compilers import Compiler, files, naga, tint

from hsgen.core.interpreter import PLAIN
from hsgen.emit.kernels import render
from hsgen.operations import digest
from hsgen.targets import target
from hsgen.tools.compile import nvrtc
from hsgen.tools.compile.amdgcn import Amdgcn
from hsgen.tools.compile.base import Compiler as Offline
from hsgen.tools.compile.hip import Hip

__all__ = ["planted"]  # a fixture
WORDS = ("hs_local_atomic_cas(", "hs_local_atomic_min(", "hs_atomic_cas(", "hs_atomic_min(")
APIS = ("opencl", "vulkan", "cuda", "hip", "metal", "hlsl")


@pytest.mark.parametrize("api", APIS)
def test_only_kernels_that_use_the_words_have_their_definitions(api: str) -> None:
    text = render(target.find("generic").sort("digest", "u32"), api).text
    assert ("report_atomic_add(" if api == "hlsl" else "hs_atomic_add(") in text
    assert not any(word in text for word in ("atomic_cas", "atomic_min", "hs_exchanged"))


@pytest.mark.parametrize("api", APIS)
def test_kernels_that_use_the_words_have_all_definitions(api: str, planted: Change) -> None:
    source = render(target.find("generic").sort("digest", "u32"), api)
    if api == "hlsl":  # which has a function of each buffer and each array instead
        made = (f"uint {memory}_atomic_{word}(int i" for memory in ("sums", "report") for word in ("cas", "min"))
        assert all(function in source.parts["digest"] for function in made)
        return
    assert all(f"#define {word}" in source.prelude and word in source.parts["digest"] for word in WORDS)


@pytest.mark.parametrize("arch", [50, 90])
def test_cuda(arch: int, planted: Change) -> None:
    found = [c for c in nvrtc.compilers() if arch in c.archs]
    if not found:
        missing(f"a CUDA compiler for sm_{arch} ({nvrtc.INSTALL})")
    for compiler in found:
        assert "digest" in compiler.compile(render(target.find("generic").sort("digest", "u32"), "cuda").text, arch)


@pytest.mark.parametrize(("compiler", "device"), [(Amdgcn(), "gfx906"), (Hip(), "gfx906"), (Hip(), "gfx1030")])
def test_amd(compiler: Offline, device: str, planted: Change, tmp_path: Path) -> None:
    needed(compiler, device)
    assert "digest" in compiler.compile(real(compiler, device, "amd-gcn", "digest", "digest"), tmp_path, 60)


@pytest.mark.parametrize("compiler", [naga, tint])
def test_wgsl(compiler: Compiler, planted: Change, tmp_path: Path) -> None:
    sort = target.find("webgpu").sort("digest", "u32")
    assert compiler(files([sort], tmp_path)) == {}
    text = render(sort, "webgpu").text
    assert text.count("atomicCompareExchangeWeak(&") == 3  # once for each array and each buffer of a kind
    assert re.search(r"atomicMin\(&report\w*\[6\]", text) and re.search(r"atomicMin\(&sums\w*\[0\]", text)


@pytest.mark.parametrize("n", [0, 1, 20000])
def test_cuda_on_the_host(n: int, planted: Change, tmp_path: Path) -> None:
    sort = target.find("generic").sort("digest", "u32")
    made = compiled(sort, tmp_path)
    keys = np.random.default_rng(n).integers(0, 1 << 32, n, np.uint32)
    report = np.full(digest.WORDS + GUARD, 0xC5C5C5C5, np.uint32)
    buffers = {"source": keys.view(np.uint8), "report": report.view(np.uint8)}
    made._launch(buffers, n, PLAIN, in_place=False, seed=n)
    assert digest.read(report[: digest.WORDS]) == digest.model(sort, keys, None, n, PLAIN)
    assert (report[digest.WORDS :] == 0xC5C5C5C5).all()
