"""HLSL on Mesa's lavapipe: kernels that DXC compiles to SPIR-V, by Vulkan's runtime, in every width of subgroups.

A subgroup of an HLSL kernel may be a part of a wave, so that targets also run in longer ones.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from every import WHOLE
from lavapipe import Lavapipe, calls_of_worker, lanes, lavapipe
from nightly import nightly

from hsgen.cli import main
from hsgen.core.keys import Signature
from hsgen.emit import templates
from hsgen.engines import native
from hsgen.system import dxc, resources
from hsgen.targets import target

__all__ = ["lavapipe"]  # a fixture


@pytest.fixture(autouse=True)
def compiler() -> None:
    """Skip the tests where DXC is not installed."""
    if dxc.compiler() is None:
        missing(f"DXC is not installed ({dxc.INSTALL})")


def own(folder: Path, name: str) -> str:
    """The file of a tiny target, with HLSL only."""
    text = Path(lanes(name)).read_text(encoding="utf-8")
    assert text.count('apis = ["opencl", "vulkan"]') == 1
    file = folder / f"{name}.toml"
    file.write_text(text.replace('apis = ["opencl", "vulkan"]', 'apis = ["hlsl"]'), encoding="utf-8")
    return str(file)


def validated(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    """The rows of a validation without failures, under the validation layers."""
    capsys.readouterr()
    command = ["validate", "--api", "hlsl", "--json", "--device", "llvmpipe", "--option", "validation=1", *arguments]
    code = main(command)
    out, err = capsys.readouterr()
    if "VK_LAYER_KHRONOS_validation is not installed" in err:
        missing("the validation layers are not installed (apt-get install vulkan-validationlayers)")
    assert code == 0, err
    rows: list[dict[str, Any]] = json.loads(out)
    assert rows and all(row["api"] == "hlsl" and not row["failures"] for row in rows)
    assert all(row["device"].endswith(", as SPIR-V through Vulkan") for row in rows)
    return rows


@pytest.mark.device
@pytest.mark.parametrize(
    ("width", "name", "key"),
    [
        (4, "lanes4", "u32"),
        (16, "radix4", "u32"),  # four subgroups of a wave
        nightly(8, "lanes8", "u64"),
        nightly(8, "radix8", "u32"),
        nightly(16, "lanes16", "u32"),
        nightly(16, "radix16", "u64"),
        nightly(16, "lanes8", "u32"),
    ],
)
def test_validation(
    width: int, name: str, key: str, lavapipe: Lavapipe, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lavapipe(width)
    (row,) = validated(capsys, "-t", own(tmp_path, name), "--key", key)
    assert row["cases"] > 500


@pytest.mark.device
@pytest.mark.parametrize(
    ("width", "name", "algorithm", "key", "value"),
    [
        (4, "forms1", "auto", "u16", "v8"),
        nightly(8, "forms8", "auto", "u8", "index64"),
        nightly(8, "forms8", "auto", "u64", "v16"),
        nightly(16, "forms8", "radix-walk", "u32", "none"),
        nightly(16, "pairs8", "auto", "u64", "v4"),
        nightly(8, "several8", "auto", "u32", "v4"),
        nightly(8, "mixed8", "auto", "u32", "packed"),
    ],
)
def test_every_way_to_call_a_sort(
    width: int, name: str, algorithm: str, key: str, value: str, lavapipe: Lavapipe
) -> None:
    """Types, orders, values, bit ranges, device-side counts; arrays that begin within a word."""
    lavapipe(width)
    signature = Signature(value=value, **WHOLE)
    library = native.library("hlsl", [target.find(lanes(name))], key, algorithms=[algorithm], signature=signature)
    more = [f"{name}.toml", algorithm, key, value, "validation=1", "some"]
    assert calls_of_worker(library, *more) > 50


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Templates with a mistake: a subgroup takes the votes of the first one of its wave."""
    shutil.copytree(resources.templates(), tmp_path / "templates")
    file = tmp_path / "templates/dialects/hlsl/words.j2"
    text = file.read_text(encoding="utf-8")
    right = ">> (lane & {{ 32 - lanes }}u)"
    assert text.count(right) == 1
    file.write_text(text.replace(right, ">> 0"), encoding="utf-8")
    monkeypatch.setattr(resources, "templates", lambda: tmp_path / "templates")
    templates.environment.cache_clear()
    yield
    templates.environment.cache_clear()


@pytest.mark.device
@pytest.mark.nightly
def test_a_wrong_kernel_is_found(
    planted: None, lavapipe: Lavapipe, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lavapipe(16)
    command = ["validate", "--api", "hlsl", "-t", own(tmp_path, "radix4"), "--key", "u32", "--device", "llvmpipe"]
    assert main(command) == 1
    assert "failures" in "".join(capsys.readouterr())
