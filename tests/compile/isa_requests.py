"""Requests to offline compilers for test kernels, and the compilers of this machine."""

from __future__ import annotations

from dataclasses import replace

from conftest import missing

from hsgen.emit.kernels import Source, render
from hsgen.targets import target
from hsgen.tools.compile.base import Compiler, Request


def needed(compiler: Compiler, device: str) -> str:
    """The compiler for a device; without one the test is skipped."""
    found = compiler.identity(device)
    if found is None:
        missing(f"{compiler.name} for {device} ({compiler.install})")
    return found


def real(compiler: Compiler, device: str, name: str, label: str, *kernels: str) -> Request:
    """The kernels for u32 keys of a shipped target."""
    sort = target.find(name).sort(label, "u32")
    some = tuple(sort.kernel(k) for k in kernels)
    return Request(sort=sort, source=render(sort, compiler.api), kernels=some, device=device)


def own(
    compiler: Compiler, device: str, texts: dict[str, str], *, prelude: str = "", lanes: int = 1, group: int = 64
) -> Request:
    """Kernels of a test, by name: from a source to a destination of u32, in work-groups of `group` lanes."""
    sort = target.find("amd-gcn").sort("bitonic", "u32")
    like = next(k for k in sort.kernels if len(k.buffers) == 2)
    kernels = tuple(replace(like, name=name, work_group=group, subgroup=lanes, arrays=()) for name in texts)
    source = Source(path="kernels", header="", prelude=prelude, parts=texts)
    return Request(sort=replace(sort, kernels=kernels), source=source, kernels=kernels, device=device)
