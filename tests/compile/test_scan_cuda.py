"""CUDA kernels of prefix sums that no target has: they compile; usual row sizes spill no registers."""

from __future__ import annotations

from itertools import product

import pytest
from cuda_compilers import ARCHS, compilers
from nightly import thinned
from sorts import sort_by

from hsgen.algorithms import scan
from hsgen.core.keys import KEYS
from hsgen.emit.kernels import render

CASES = list(product(["scan", "lookback", "alone"], [1, 3, 16], ["u32", "u64"], ARCHS))
KNOWN = {("lookback", 3, "u64", 70)}
"""Shapes of which a kernel spills 8 bytes, whichever the compiler."""


@pytest.mark.parametrize(("way", "columns", "key", "arch"), thinned(CASES, 5))
def test_every_kernel_compiles(way: str, columns: int, key: str, arch: int) -> None:
    p = scan.Params(
        key=KEYS[key],
        columns=columns,
        exclusive=columns == 3,
        items=max(1, 8 // columns) if way != "alone" else 64,
        work_group=256 if way != "alone" else 1,
        groups=512,
        coordination="scan" if way == "scan" else "lookback",
    )
    sort = sort_by("scan", p, columns=columns)
    text = render(sort, "cuda").text
    for compiler in compilers(arch):
        found = compiler.compile(text, arch)
        assert set(found) == {k.name for k in sort.kernels}
        assert all(u.registers > 0 and u.shared == 0 for u in found.values())
        if columns < 16 and way != "alone":
            spills = {k for k, u in found.items() if u.spills}
            known = (way, columns, key, arch) in KNOWN
            assert spills == ({"lookback"} if known else set()), (compiler.name, found)
