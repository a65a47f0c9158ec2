"""Shapes whose kernels exceed the registers of NVIDIA GPUs, found by NVRTC or nvcc before they race."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from hsgen.core.errors import HsgenError
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.targets.target import Target
from hsgen.tools.compile import nvrtc

API = nvrtc.API


def family(found: Target, compute: int) -> list[int]:
    """Return the compute capabilities of the target's devices that installed compilers support, and this one."""
    low, high = (*found.match.compute, compute, compute)[:2]
    return sorted({*(a for c in nvrtc.compilers() for a in c.archs if low <= a <= high), compute})


def found(sort: Sort, archs: Sequence[int]) -> str | None:
    """Return which kernel of a sort spills registers on one of these, or None; None also without a compiler."""
    archs = [arch for arch in archs if arch]
    if not archs:
        return None
    text = render(sort, API.name).text

    def one(arch: int) -> str | None:
        try:
            found = nvrtc.compile(text, arch)
        except HsgenError:
            return None
        worst = [f"{x}, {u.spill_stores} bytes are stored" for x, u in found.items() if u.spills]
        return f"sm_{arch}: registers do not suffice for {worst[0]}" if worst else None

    with ThreadPoolExecutor(len(archs)) as pool:
        return next((said for said in pool.map(one, archs) if said), None)
