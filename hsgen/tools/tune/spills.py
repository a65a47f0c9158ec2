"""Rejects shapes whose kernels spill registers on NVIDIA GPUs.  NVRTC or nvcc finds such shapes before they race."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from hsgen.core.errors import HsgenError
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.targets.target import Target
from hsgen.tools.compile import nvrtc

API = nvrtc.API


def family(target: Target, compute: int) -> list[int]:
    """Return the compute capabilities of the target that installed compilers support, and always `compute`."""
    low, high = (*target.match.compute, compute, compute)[:2]
    return sorted({*(a for c in nvrtc.compilers() for a in c.archs if low <= a <= high), compute})


def spilling(sort: Sort, archs: Sequence[int]) -> str | None:
    """Return a message that names a kernel that spills registers on one of `archs`; None if no kernel spills.

    The result is also None without a compiler.
    """
    archs = [arch for arch in archs if arch]
    if not archs:
        return None
    text = render(sort, API.name).text

    def one(arch: int) -> str | None:
        try:
            usage = nvrtc.compile(text, arch)
        except HsgenError:
            return None
        worst = [f"{x}, {u.spill_stores} bytes are stored" for x, u in usage.items() if u.spills]
        return f"sm_{arch}: registers do not suffice for {worst[0]}" if worst else None

    with ThreadPoolExecutor(len(archs)) as pool:
        return next((message for message in pool.map(one, archs) if message), None)
