"""Files in another encoding are refused in one line with exit code 2, and nothing is written."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hsgen.bundle import transaction
from hsgen.cli import main
from hsgen.system import resources
from hsgen.tools.tune import journal

Capture = pytest.CaptureFixture[str]
Damage = Callable[[bytes], bytes]


def _text(encoding: str) -> Damage:
    return lambda data: data.decode().encode(encoding)


DAMAGES: dict[str, Damage] = {
    "utf-16": _text("utf-16"),
    "utf-16-be": _text("utf-16-be"),
    "utf-32": _text("utf-32"),
    "utf-8-sig": _text("utf-8-sig"),
    "latin-1": lambda data: data[:20] + b"\xe9" + data[20:],
    "surrogate": lambda data: data[:20] + "\ud800".encode("utf-8", "surrogatepass") + data[20:],
    "nul": lambda data: data[:20] + b"\0" + data[20:],
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Bundles in folders and in a single file."""
    place = tmp_path_factory.mktemp("bundles")
    common = ["generate", "-t", "cpu", "--key", "u32", "--api", "opencl"]
    for name, more in (("folders", []), ("single", ["--single-file"])):
        assert main([*common, *more, "-o", str(place / name)]) == 0
    return {name: place / name for name in ("folders", "single")}


@pytest.fixture
def bundle(whole: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    shutil.copytree(whole["folders"], tmp_path / "b")
    monkeypatch.chdir(tmp_path)
    yield Path("b")


def content(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def refused(arguments: list[str], capsys: Capture) -> str:
    before = content(Path())
    capsys.readouterr()
    assert main(arguments) == 2, arguments
    out, err = capsys.readouterr()
    assert not out and err.startswith("hsgen: ") and err.count("\n") == 1, err
    assert {k: v for k, v in content(Path()).items() if not k.endswith(".lock")} == before
    return err


@pytest.mark.parametrize("damage", DAMAGES)
def test_manifests(bundle: Path, damage: str, capsys: Capture) -> None:
    file = bundle / "manifest.json"
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    commands = (
        ["check", "b"],
        ["verify", "b"],
        ["generate", "-o", "b"],
        ["generate", "-o", "b", "-t", "cpu", "--key", "u64"],
        ["generate", "-o", "b", "--remove", "cpu"],
        ["report", "--bundle", "b"],
    )
    for command in commands:
        err = refused(command, capsys)
        assert "manifest.json: is not" in err and "generate into another folder" in err, err
    if damage in ("utf-16", "latin-1", "surrogate"):
        assert "nor UTF-8 text (byte " in err


def test_half_a_surrogate_pair_in_a_manifest(bundle: Path, capsys: Capture) -> None:
    """JSON can escape what no UTF-8 can hold."""
    file = bundle / "manifest.json"
    raw = json.loads(file.read_text(encoding="utf-8"))
    raw["targets"]["cpu"]["epilogue"] = ["\ud800"]
    file.write_text(json.dumps(raw), encoding="utf-8")
    for command in (["check", "b", "--trust-epilogue"], ["generate", "-o", "b", "--trust-epilogue"], ["verify", "b"]):
        assert "manifest.json: is not a manifest of hsgen" in refused(command, capsys)


@pytest.mark.parametrize("damage", DAMAGES)
def test_journals_of_an_interrupted_update(bundle: Path, damage: str, capsys: Capture) -> None:
    work = bundle / transaction.WORK
    (work / "new").mkdir(parents=True)
    data = json.dumps({"schema": 1, "old": None, "puts": []}, indent=0).encode()
    (work / "journal.json").write_bytes(DAMAGES[damage](data))
    assert "journal.json: is no journal of this hsgen" in refused(["generate", "-o", "b"], capsys)


@pytest.mark.parametrize("damage", DAMAGES)
def test_target_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    text = (resources.targets() / "cpu.toml").read_text(encoding="utf-8").replace('name = "cpu"', 'name = "mine"')
    Path("mine.toml").write_bytes(DAMAGES[damage](text.encode()))
    for command in (
        ["show", "mine.toml"],
        ["generate", "-t", "mine.toml", "-o", "b"],
        ["targets", "--upgrade", "mine.toml"],
        ["suggest", "-t", "mine.toml"],
        ["validate", "-t", "mine.toml"],
        ["tune", "-t", "mine.toml", "--write"],
    ):
        assert "mine.toml" in refused(command, capsys)


@pytest.mark.parametrize("damage", DAMAGES)
def test_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, capsys: Capture) -> None:
    """What a device answered, measurements, and an epilogue."""
    monkeypatch.chdir(tmp_path)
    Path("answer.json").write_bytes(DAMAGES[damage](b'{"platform": "a platform", "device": "a device of it"}\n'))
    assert "answer.json" in refused(["probe", "--query", "answer.json", "-o", "x.toml"], capsys)
    assert "answer.json" in refused(["report", "--bench", "answer.json", "-t", "cpu"], capsys)
    Path("epilogue.j2").write_bytes(DAMAGES[damage](b"{% macro epilogue(key, value, at) %}{% endmacro %}\n"))
    if damage not in ("nul", "utf-8-sig", "utf-16-be"):  # these are text to Jinja
        assert "epilogue.j2: is not text" in refused(
            ["generate", "-t", "cpu", "--epilogue", "epilogue.j2", "-o", "b"], capsys
        )


@pytest.mark.parametrize("damage", DAMAGES)
def test_journals_of_a_tuning(tmp_path: Path, damage: str) -> None:
    head = {**journal.header(), "sizes": {}, "start": {}, "facts": {}, "seed": 1}
    path = tmp_path / "j.jsonl"
    path.write_bytes(DAMAGES[damage](json.dumps(head).encode() + b"\n"))
    with pytest.raises(journal.Usage) as e:
        journal.read(path)
    assert len(e.value.lines) == 1 and "j.jsonl: is not " in e.value.lines[0]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["folders", "single"])
def test_generated_files_in_another_encoding(
    whole: dict[str, Path], tmp_path: Path, kind: str, damage: str, capsys: Capture
) -> None:
    """They are changed files to `verify` and `check`, even if the manifest has their hashes; `generate` mends them."""
    folder = tmp_path / "b"
    shutil.copytree(whole[kind], folder)
    manifest = (folder / "manifest.json").read_text(encoding="utf-8")
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "manifest.json"):
        data = path.read_bytes()
        path.write_bytes(DAMAGES[damage](data) if len(data) > 20 else data)
        manifest = manifest.replace(*(hashlib.sha256(x).hexdigest() for x in (data, path.read_bytes())))
    capsys.readouterr()
    for command in (["verify", str(folder)], ["check", str(folder)], ["check", "--diff", str(folder)]):
        assert main(command) == 1
        assert "Traceback" not in capsys.readouterr().err
    (folder / "manifest.json").write_text(manifest, encoding="utf-8")
    assert main(["verify", str(folder)]) in (0, 1)
    assert main(["check", str(folder)]) == 1
    assert main(["generate", "-o", str(folder)]) == 0
    assert content(folder) == content(whole[kind])
