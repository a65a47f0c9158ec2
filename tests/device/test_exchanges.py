"""Atomic exchanges and minima on devices, in digests that use them (`exchanging`)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import missing
from exchanging import Change, planted
from lavapipe import Lavapipe, lavapipe
from nightly import NIGHTLY, nightly
from webgpu_lavapipe import lavapipe as webgpu

from hsgen.cli import main
from hsgen.engines import metal_shim
from hsgen.engines.hosts import Host
from hsgen.system import dxc
from hsgen.tools.validate import validation
from hsgen.tools.validate.validation import plan_cases

__all__ = ["lavapipe", "planted", "webgpu"]  # fixtures


@pytest.fixture(autouse=True)
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast run validates a third of the cases, where that is in this process: one work-group shows what a word
    does."""
    if not NIGHTLY:
        monkeypatch.setattr(validation, "plan_cases", lambda *a, **more: plan_cases(*a, **more)[::3])


def validated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The row of a validation."""
    capsys.readouterr()
    main(["validate", "--algorithm", "digest", "--key", "u32", "--json", *arguments])
    out, err = capsys.readouterr()
    assert out, err
    (row,) = json.loads(out)
    assert row["cases"] > 1000
    return dict(row)


@pytest.mark.device
def test_opencl(planted: Change, pocl: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert validated(capsys, "-t", "generic", "--api", "opencl", "--device", pocl.platform)["failures"] == 0


@pytest.mark.device
@pytest.mark.parametrize(
    ("word", "right", "wrong"),
    [
        nightly("hs_local_atomic_min(x, y)", "atomic_min(&(x)", "atomic_max(&(x)"),
        nightly("hs_local_atomic_min(x, y)", "atomic_min(&(x)", "atomic_min((__local int *)&(x)"),
        nightly("hs_atomic_min(x, y)", "atomic_min(&(x)", "atomic_xchg(&(x)"),
        nightly("hs_local_atomic_cas(x, old, y)", "atomic_cmpxchg(&(x), old, y)", "(old)"),
        ("hs_atomic_cas(x, old, y)", "atomic_cmpxchg(&(x), old, y)", "(old)"),
    ],
)
def test_other_words_are_noticed(
    word: str, right: str, wrong: str, planted: Change, embedded: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    planted("dialects/opencl/words.j2", f"#define {word} {right}", f"#define {word} {wrong}")
    assert validated(capsys, "-t", "generic", "--api", "opencl", "--device", embedded.platform)["failures"] > 100


FLAKY = """
__global uint hs_turn;
#define atomic_compare_exchange_weak_explicit(at, was, y, yes, no) \\
    ((hs_turn++ & 1u) != 0u && atomic_compare_exchange_strong_explicit(at, was, y, yes, no))
"""
"""An exchange that fails every other time although the words are equal."""


@pytest.mark.device
@pytest.mark.parametrize("more", [nightly(""), FLAKY])
def test_metal(
    more: str, planted: Change, embedded: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(metal_shim, "_PRELUDE", metal_shim._PRELUDE + more)
    assert validated(capsys, "-t", "apple-m1", "--api", "metal")["failures"] == 0


@pytest.mark.device
def test_hip(planted: Change, embedded: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert validated(capsys, "-t", "amd-gcn", "--api", "hip", "--runtime", "python")["failures"] == 0


@pytest.mark.device
@pytest.mark.parametrize("api", ["vulkan", nightly("hlsl")])
def test_vulkan_and_hlsl(api: str, planted: Change, lavapipe: Lavapipe, capsys: pytest.CaptureFixture[str]) -> None:
    if api == "hlsl" and dxc.compiler() is None:
        missing(f"DXC is not installed ({dxc.INSTALL})")
    lavapipe(8)
    assert validated(capsys, "-t", "generic", "--api", api, "--device", "llvmpipe")["failures"] == 0


@pytest.mark.device
def test_webgpu(planted: Change, webgpu: Lavapipe, capsys: pytest.CaptureFixture[str]) -> None:
    webgpu(8)
    assert validated(capsys, "-t", "webgpu", "--api", "webgpu", "--device", "llvmpipe")["failures"] == 0
