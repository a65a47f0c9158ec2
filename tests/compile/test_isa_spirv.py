"""spirv-val: hsgen's modules are valid, and an invalid module is an error of its kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from isa_requests import needed, real

from hsgen.core.errors import Unavailable, Wrong
from hsgen.emit import spirv
from hsgen.tools.compile.modules import Spirv

SPIRV = Spirv()


def test_what_validates_is_named() -> None:
    assert needed(SPIRV, "vulkan1.1").startswith("spirv-val v20")
    assert SPIRV.identity("vulkan0.9") is None


def test_kernels_of_hsgen_are_valid_in_both_forms(tmp_path: Path) -> None:
    needed(SPIRV, "vulkan1.1")
    found = SPIRV.compile(real(SPIRV, "vulkan1.1", "amd-gcn", "bitonic", "clean", "flip_1"), tmp_path, 60)
    assert {name: use.local_bytes for name, use in found.items()} == {"clean": 65536, "flip_1": 0}
    assert all(use.registers is None and use.spill_bytes == 0 for use in found.values())
    assert len(list(tmp_path.glob("*.spv"))) == 4


def test_an_invalid_module_is_an_error_of_its_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed(SPIRV, "vulkan1.1")
    request = real(SPIRV, "vulkan1.1", "amd-gcn", "bitonic", "flip_1")
    using = spirv.compiler()
    assert using is not None
    good = spirv.compile_one(request.source.text, "flip", spirv.Module("flip_1", False), using)
    monkeypatch.setattr(spirv, "compile_one", lambda *_: good[: len(good) // 8 * 4])
    with pytest.raises(Wrong, match=r"^spirv-val for vulkan1\.1: kernel flip_1: refuses .*error"):
        SPIRV.compile(request, tmp_path, 60)


def test_modules_of_a_later_version_are_no_modules_of_vulkan_1_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPIR-V 1.6, of Vulkan 1.3, is too new for it: modules are checked against the requested version."""
    needed(SPIRV, "vulkan1.1")
    request, compile_one = real(SPIRV, "vulkan1.1", "amd-gcn", "bitonic", "flip_1"), spirv.compile_one
    monkeypatch.setattr(spirv, "compile_one", lambda *a: compile_one(*a[:4], "1.3"))
    with pytest.raises(Wrong, match=r"^spirv-val for vulkan1\.1: kernel flip_1: refuses"):
        SPIRV.compile(request, tmp_path, 60)


def test_no_validator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hsgen.tools.compile.modules.toolchain.tool", lambda name: None)
    assert SPIRV.identity("vulkan1.1") is None
    with pytest.raises(Unavailable, match="apt-get install spirv-tools"):
        SPIRV.compile(real(SPIRV, "vulkan1.1", "amd-gcn", "bitonic", "flip_1"), tmp_path, 60)
