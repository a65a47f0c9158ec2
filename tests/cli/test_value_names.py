"""`--value` takes each name of a kind of values: hsgen's, its bytes, or a type of that size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hsgen.cli import main


@pytest.mark.parametrize(
    ("names", "kind"), [(("v4", "4", "u32", "i32", "f32"), "v4"), (("v8", "8", "u64", "f64"), "v8"), (("16",), "v16")]
)
def test_one_kind_of_values(names: tuple[str, ...], kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in names:
        assert main(["show", "cpu", "--key", "u32", "--algorithm", "auto", "--value", name, "--json"]) == 0
        (record,) = json.loads(capsys.readouterr().out)
        assert record["value"] == kind


def test_a_manifest_has_the_name(tmp_path: Path) -> None:
    assert main(["generate", "-t", "cpu", "--key", "u32", "--api", "opencl", "--value", "4", "-o", str(tmp_path)]) == 0
    entry = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))["targets"]["cpu"]
    assert entry["values"] == ["v4"] and "auto_u32_v4" in entry["sorts"]


@pytest.mark.parametrize("name", ["5", "u8", "v32", "0", "-4", "value"])
def test_no_kind_of_values(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "cpu", f"--value={name}"]) == 2
    assert f"'{name}' is not one of 'none', 'v4', 'v8', 'v16', 'index'" in capsys.readouterr().err
