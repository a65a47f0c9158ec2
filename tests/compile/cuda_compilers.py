"""Finds the CUDA compilers for an architecture."""

from __future__ import annotations

from conftest import missing
from nightly import NIGHTLY

from hsgen.tools.compile import nvrtc

ARCHS = (35, 50, 60, 70, 75, 80, 86, 89, 90, 100, 120) if NIGHTLY else (35, 90)


def compilers(arch: int) -> list[nvrtc.Compiler]:
    """The compilers for an architecture: nightly all, otherwise the first."""
    found = [c for c in nvrtc.compilers() if arch in c.archs]
    if not found:
        missing(f"a CUDA compiler for sm_{arch} ({nvrtc.INSTALL})")
    return found if NIGHTLY else found[:1]
