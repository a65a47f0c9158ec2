"""Impossible requests to `hsgen suggest` and `hsgen probe`: one clear line each, the right exit code, no file
changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hsgen.cli import main
from hsgen.core.device import Device
from hsgen.tools.suggest import query

SMALL = {
    "name": "Tiny",
    "type": "gpu",
    "vendor": 1,
    "work_group": 1,
    "local_bytes": 4,
    "subgroups": [1],
    "shuffle": False,
    "int64": True,
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("tiny.json").write_text(query.Query(api="opencl", properties=SMALL).text(), encoding="utf-8")
    Path("kept.toml").write_text("kept", encoding="utf-8")
    Path("broken.json").write_bytes(b"\xff")
    Path("broken.toml").write_text("[device", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["suggest"], "Missing option '-t' / '--target'"),
        (["suggest", "-t", "gen9"], "target gen9: unknown; known are"),
        (["suggest", "-t", "none.toml"], "target none.toml: cannot be read (No such file or directory)"),
        (["suggest", "-t", "broken.toml"], "broken.toml: Expected ']'"),
        (["suggest", "-t", "cpu", "--key", "u8"], "'u8' is not one of"),
        (["probe"], "probe: give --api for a device, or --query FILE for a recorded one"),
        (["probe", "--api", "opencl"], "probe: give -o FILE.toml to write a target, or --raw"),
        (["probe", "--api", "metal", "-o", "x.toml"], "'metal' is not one of"),
        (["probe", "--api", "opencl", "--query", "tiny.json", "-o", "x.toml"], "probe: give --api for a device, or"),
        (["probe", "--query", "tiny.json", "--raw"], "--raw and --device need --api"),
        (["probe", "--query", "tiny.json", "--device", "T", "-o", "x.toml"], "--raw and --device need --api"),
        (["probe", "--api", "opencl", "--raw", "-o", "x.toml"], "probe: give -o FILE.toml to write a target, or --raw"),
        (
            ["probe", "--query", "tiny.json", "-o", "x"],
            "x: is not the name of a target file; give one that ends in .toml",
        ),
        (
            ["probe", "--query", "tiny.json", "-o", "cpu.toml"],
            "target cpu: comes with hsgen; give the file another name",
        ),
        (
            ["probe", "--query", "tiny.json", "-o", "a b.toml"],
            "target 'a b': cannot name files; use lower-case letters",
        ),
        (
            ["probe", "--query", "tiny.json", "-o", "hs_x.toml"],
            "target 'hs_x': cannot name files; use lower-case letters",
        ),
        (["probe", "--query", "tiny.json", "-o", "kept.toml"], "kept.toml: exists; replace it with --force"),
        (["probe", "--query", "none.json", "-o", "x.toml"], "none.json: cannot be read (No such file or directory)"),
        (["probe", "--query", "broken.json", "-o", "x.toml"], "broken.json: is not UTF-8 text"),
        (["probe", "--query", "tiny.json", "-o", "x.toml"], "local_bytes = 4: no shape fits so little local memory"),
        (["probe", "--query", "tiny.json", "-o", "kept.toml", "--force"], "local_bytes = 4: no shape fits so little"),
        (["probe", "--query", "tiny.json", "-o", "no/x.toml"], "local_bytes = 4: no shape fits"),
    ],
)
def test_refused(arguments: list[str], line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert line in err and err.count("\n") == 1 and not out, err
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_a_folder_that_is_not_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {**SMALL, "local_bytes": 32768, "work_group": 256}
    Path("small.json").write_text(query.Query(api="opencl", properties=said).text(), encoding="utf-8")
    assert main(["probe", "--query", "small.json", "-o", "no/x.toml"]) == 2
    assert "no/x.toml: cannot be written (No such file or directory); name another with -o" in capsys.readouterr().err
    assert not Path("no").exists()
    assert main(["probe", "--query", "small.json", "-o", "kept.toml/x.toml"]) == 2
    assert "x.toml: cannot be written (Not a directory); name another with -o" in capsys.readouterr().err


def test_queries_and_facts_have_the_same_words() -> None:
    """A query can state every member of a target's table [device], except those that no API reports, or only CUDA, and
    that no suggestion depends on.
    """
    members = set(query._DEVICE)
    assert {f for f in Device.__slots__ if f not in members} == {"progress", "cooperative", "unroll"}
