"""CUDA kernels of prefix sums that no target has: they compile, and those of usual rows spill no registers."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from nightly import thinned
from test_cuda import ARCHS, compilers

from hsgen.algorithms import scan
from hsgen.core.keys import KEYS
from hsgen.core.sort import Part, Sort
from hsgen.emit.kernels import render
from hsgen.targets import assembly

CASES = list(product(["scan", "lookback", "alone"], [1, 3, 16], ["u32", "u64"], ARCHS))


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
    kernels, plan, parts = assembly.assemble([Part(algorithm="scan", params=p, min_n=0, max_n=2**62)], "shape")
    made: dict[str, Any] = {"kernels": kernels, "plan": plan, "parts": parts, "columns": columns}
    text = render(Sort(target="shape", algorithm="scan", operation="scan", key=p.key, **made), "cuda").text
    for compiler in compilers(arch):
        found = compiler.compile(text, arch)
        assert set(found) == {k.name for k in kernels}
        assert all(u.registers > 0 and u.shared == 0 for u in found.values())
        if columns < 16 and way != "alone":
            assert {k: u for k, u in found.items() if u.spills} == {}, compiler.name
