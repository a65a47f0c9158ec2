"""The sample of shipped targets for tests that are slow per target."""

from __future__ import annotations

from pathlib import Path

from nightly import EVERY

from hsgen.targets import target

GENERATED = tuple(sorted(p.name for p in (Path(__file__).parents[1] / "generated/targets").iterdir()))
"""The targets in generated/, whose kernels are committed."""

APART = {
    "apple-m1": "no subgroup operations in one of its APIs, and variants by splits",
    "intel-apl18": "blocks of 18 slabs",
    "mali-bifrost4": "no 64-bit integers",
    "nvidia-sm35": "look-back in CUDA",
    "swiftshader": "neither 64-bit integers nor buffers of 8-bit and 16-bit elements",
}
"""Other targets, each with a feature that no target in generated/ has."""


def sampled() -> list[str]:
    """Return the targets in generated/ and the others above; with HSGEN_NIGHTLY=all all targets.

    tests/unit/test_targets.py covers all.
    """
    return [n for n in target.names() if EVERY or n in GENERATED or n in APART]
