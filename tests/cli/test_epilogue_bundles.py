"""Bundles with an epilogue: generated, checked, regenerated from the manifest, and refused with one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools import GLSL, need

from hsgen.cli import main

COUNT = """{% set report_words = 1 %}
{% macro epilogue(key, report) %}
if ((hs_key_bits({{ key }}, 0) & 1u) != 0u) hs_atomic_add({{ report(0) }}, 1u);
{% endmacro %}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "odd.j2"
    path.write_text(COUNT, encoding="utf-8")
    return path


def generate(folder: Path, *more: str | Path) -> int:
    return main(["generate", "-o", str(folder), *map(str, more)])


def test_a_bundle_keeps_its_epilogue(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need(GLSL)  # for every API of the target
    folder = tmp_path / "bundle"
    target = ("-t", "generic", "--api", "opencl", "--api", "cuda", "--key", "u32")
    assert generate(folder, *target, "--epilogue", file) == 0
    entry = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["targets"]["generic"]
    assert entry["epilogue"] == COUNT.splitlines() and entry["sorts"] == ["auto_u32", "digest_u32"]
    plan = json.loads((folder / "targets/generic/plans/auto_u32.json").read_text(encoding="utf-8"))
    assert plan["epilogue"] == {"words": 1, "words_per_key": 0} and plan["steps"][-1]["kernel"] == "epilogue"
    assert "epilogue" in (folder / "targets/generic/kernels/cuda/auto_u32.cu").read_text(encoding="utf-8")
    for again in ([], target, ("-t", "generic", "--api", "opencl", "--key", "u64")):  # without the file
        assert generate(folder, *again, "--trust-epilogue") == 0
        for known in ("--trust-epilogue", f"--epilogue={file}"):
            assert main(["check", "-o", str(folder), known]) == 0
    file.write_text(COUNT.replace("!= 0u", "== 0u"), encoding="utf-8")
    capsys.readouterr()
    assert main(["check", "-o", str(folder), "--trust-epilogue"]) == 0
    assert main(["check", "-o", str(folder), "--epilogue", str(file)]) == 1
    said = capsys.readouterr().err
    assert f"has another epilogue than {file}; run: hsgen generate -t generic --epilogue {file} -o {folder}" in said
    assert generate(folder, "-t", "generic", "--epilogue", file) == 0
    assert main(["check", "-o", str(folder), "--epilogue", str(file)]) == 0
    assert main(["verify", str(folder)]) == 0


def test_windows_ends_of_lines_make_the_same_bundle(file: Path, tmp_path: Path) -> None:
    assert generate(tmp_path / "a", "-t", "generic", "--api", "opencl", "--epilogue", file) == 0
    file.write_bytes(COUNT.replace("\n", "\r\n").encode())
    assert generate(tmp_path / "b", "-t", "generic", "--api", "opencl", "--epilogue", file) == 0
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes(), path


def test_a_manifest_with_a_wrong_epilogue_is_refused(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate(tmp_path / "a", "-t", "generic", "--api", "opencl", "--epilogue", file) == 0
    manifest = tmp_path / "a" / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("endmacro", "end"), encoding="utf-8")
    capsys.readouterr()
    assert main(["check", "-o", str(tmp_path / "a"), "--trust-epilogue"]) == 2
    assert "epilogue: line" in capsys.readouterr().err


def test_a_bundle_without_one_does_not_pass_for_one_with_it(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate(tmp_path / "a", "-t", "generic", "--api", "opencl") == 0
    capsys.readouterr()
    assert main(["check", "-o", str(tmp_path / "a"), "--epilogue", str(file)]) == 1
    assert "has no epilogue" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["generate", "-t", "generic", "--epilogue", "none.j2"], "none.j2: cannot be read"),
        (["generate", "-t", "generic", "--epilogue", "."], ".: cannot be read"),
        (["generate", "--epilogue", "odd.j2"], "name it with -t"),
        (["generate", "-t", "generic", "--epilogue", "bytes.j2"], "bytes.j2: is not text"),
        (["generate", "-t", "generic", "--epilogue", "empty.j2"], "empty.j2: epilogue: has no macro"),
        (["generate", "-t", "generic", "--epilogue", "odd.j2", "--feature", "device-count"], "a device-side count"),
        (["generate", "-t", "generic", "--epilogue", "odd.j2", "--algorithm", "segmented_sort"], "segmented_sort"),
        (["generate", "-t", "generic", "--epilogue", "odd.j2", "--algorithm", "scan-x1"], "plain elements alone"),
        (["validate", "-t", "generic", "--epilogue", "odd.j2", "--record"], "omit --record"),
        (["validate", "-t", "generic", "--epilogue", "turn.j2"], "changes keys"),
        (["validate", "-t", "generic", "--epilogue", "odd.j2", "--large", "2^20"], "omit one of them"),
        (["check", "--epilogue", "none.j2"], "none.j2: cannot be read"),
    ],
)
def test_mistakes_get_one_line(
    arguments: list[str],
    said: str,
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["generate", "-t", "generic", "--api", "opencl", "-o", str(tmp_path / "generated")]) == 0
    (tmp_path / "bytes.j2").write_bytes(b"\xff\xfe")
    (tmp_path / "empty.j2").write_text("", encoding="utf-8")
    turned = "{% set changes_keys = true %}{% macro epilogue(key) %}{{ key }} = ~{{ key }};{% endmacro %}"
    (tmp_path / "turn.j2").write_text(turned, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert said in error and len(error.splitlines()) == 1, error
