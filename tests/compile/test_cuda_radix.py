"""Radix sorts compile for NVIDIA's instruction sets, and those that vote spill no registers in the shapes of CUB."""

from __future__ import annotations

import os
from typing import Any

import pytest
from conftest import missing

from hsgen import nvrtc, sorts
from hsgen.algorithms import radix
from hsgen.keys import KEYS
from hsgen.render import render
from hsgen.spec import Part, Sort

NIGHTLY = os.environ.get("HSGEN_NIGHTLY") == "1"
ARCHS = (70, 90)
RANKERS: dict[str, dict[str, Any]] = {
    "ballot": {"ranker": "ballot", "subgroup": 32, "large": True},
    "ballot16": {"ranker": "ballot", "subgroup": 16},
    "broadcast": {"ranker": "broadcast", "subgroup": 8},
    "flags": {"ranker": "flags"},
    "split1": {"ranker": "split", "split": 1},
    "split2": {"ranker": "split"},
    "serial": {"ranker": "serial", "work_group": 32, "items": 64, "single": 100},
    "walk": {"ranker": "serial", "work_group": 32, "subgroup": 32, "items": 8, "bits": 4},
    "alone": {"ranker": "serial", "work_group": 1, "items": 64, "single": 100, "stream_from": 5000, "groups": 64},
}


def sort_of(key: str, **values: Any) -> Sort:
    """Return a sort of 8 bits, 128 lanes with 4 keys each; `values` change that."""
    small: dict[str, Any] = {"bits": 8, "items": 4, "work_group": 128, "subgroup": 1, "groups": 1024}
    p = radix.Params(key=KEYS[key], **{"coordination": "scan", **small, **values})
    kernels, plan, parts = sorts.assemble([Part(algorithm="radix", params=p, min_n=0, max_n=2**62)], "shape")
    return Sort(target="shape", algorithm="radix", key=KEYS[key], kernels=kernels, plan=plan, parts=parts)


def ways() -> list[tuple[str, str, str, int]]:
    """Return (ranker, coordination, key type, architecture): every ranker with both coordinations, nightly with all."""
    every = [
        (r, c) for r, v in RANKERS.items() for c in radix.shape.COORDINATIONS if c == "scan" or v["ranker"] != "serial"
    ]
    if NIGHTLY:
        return [(r, c, k, a) for r, c in every for k in KEYS for a in ARCHS]
    return [(r, c, ("u32", "u64")[i // 2 % 2], ARCHS[(i + i // 4) % 2]) for i, (r, c) in enumerate(every)]


def compilers(arch: int) -> list[nvrtc.Compiler]:
    """All that know an architecture; nightly every one of them is asked, else the first."""
    found = [c for c in nvrtc.compilers() if arch in c.archs]
    if not found:
        missing(f"a CUDA compiler for sm_{arch} ({nvrtc.INSTALL})")
    return found if NIGHTLY else found[:1]


@pytest.mark.parametrize(("ranker", "coordination", "key", "arch"), ways())
def test_every_ranker_compiles(ranker: str, coordination: str, key: str, arch: int) -> None:
    sort = sort_of(key, **{"coordination": coordination, **RANKERS[ranker]})
    for compiler in compilers(arch):
        found = compiler.compile(render(sort, "cuda").text, arch)
        assert set(found) == {k.name for k in sort.kernels}
        assert all(u.registers > 0 and u.shared == 0 for u in found.values())


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("key", "items"), [("u32", 15), ("u64", 10)])
def test_voting_in_large_tiles_spills_nothing(key: str, items: int, arch: int) -> None:
    """256 lanes with 60 or 80 bytes of keys each: what a target for such devices would choose."""
    shape = {"ranker": "ballot", "subgroup": 32, "coordination": "lookback", "work_group": 256, "items": items}
    sort = sort_of(key, single=None if NIGHTLY else 0, **shape)
    assert max(k.local_bytes(sort.key) for k in sort.kernels) <= 48 << 10
    text = render(sort, "cuda")
    for compiler in compilers(arch):
        some = text.text if NIGHTLY else text.only("histogram", "onesweep", "scatter")
        found = compiler.compile(some, arch)
        assert {k: u for k, u in found.items() if u.spills} == {} and found["onesweep"].registers <= 128
