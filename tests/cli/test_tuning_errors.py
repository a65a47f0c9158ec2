"""Impossible requests to `hsgen tune`: one clear line each, the right exit code, no file changed."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import missing

from hsgen.cli import main, tune
from hsgen.cli.target_file import replace
from hsgen.core.errors import Usage
from hsgen.engines.hosts import Host
from hsgen.system import resources, toolchain
from hsgen.tools.tune import spread

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(arguments: list[str], code: int, line: str, capsys: Capture) -> None:
    """Run a command that must fail with one line on stderr and nothing on stdout."""
    assert main(["tune", *arguments]) == code
    out, err = capsys.readouterr()
    assert line in err and err.count("\n") == 1 and not out, err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "Missing option '-t' / '--target'"),
        (["-t", "gen9"], "target gen9: unknown; known are adreno-6xx"),
        (["-t", "gen9.toml"], "target gen9.toml: cannot be read (No such file or directory)"),
        (["-t", "cpu", "--budget", "soon"], "'soon' is no time; write for example 90s, 10m or 2h"),
        (["-t", "cpu", "--budget", "0s"], "'0s' is no time; write for example 90s, 10m or 2h"),
        (["-t", "cpu", "--budget", "1d"], "'1d' is no time"),
        (["-t", "cpu", "--budget", "5"], "'5' has no unit; write 5s, 5m or 5h"),
        (["-t", "cpu", "--limit", "-1s"], "'-1s' is no time"),
        (["-t", "cpu", "--sizes", "many"], "sizes many: 'many' is no count; write for example 1000,2^16"),
        (["-t", "cpu", "--sizes", "0"], "a count of 0 cannot be timed"),
        (["-t", "cpu", "--key", "f32"], "'f32' is not one of"),
        (["-t", "cpu", "--key", "u8"], "target cpu: no table for u8; name an --algorithm to find one for"),
        (["-t", "cpu", "--algorithm", "bogus"], "algorithm bogus: unknown; name bitonic, radix, scan, gather, pack,"),
        (["-t", "cpu", "--algorithm", "radix-A B"], "algorithm radix-A B: unknown"),
        (["-t", "cpu", "--algorithm", "scan-x3"], "target cpu: no scan-x3 for u32, whose columns a table must say"),
        (["-t", "cpu", "--seed", "-1"], "-1 is not in the range x>=0"),
        (["-t", "cpu", "--api", "cuda"], "target cpu: has no kernels for cuda; it has opencl"),
        (["-t", "cpu", "--option", "poison=1"], "option poison=1: is for the C runtime; add --runtime c"),
    ],
)
def test_wrong_usage(arguments: list[str], line: str, folder: Path, capsys: Capture) -> None:
    refused(arguments, 2, line, capsys)
    assert list(folder.iterdir()) == []


def test_a_target_of_an_installation_is_not_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    place = folder / "data" / "targets"
    before = (resources.targets() / "cpu.toml").read_bytes()
    shutil.copytree(resources.targets(), place)
    monkeypatch.setattr(resources, "targets", lambda: place)
    line = f"target cpu: is part of the installed hsgen; copy {place}/cpu.toml, rename it, and name the copy"
    refused(["-t", "cpu", "--write"], 2, line, capsys)
    assert (place / "cpu.toml").read_bytes() == before


def without(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    real: Callable[[str], bool] = toolchain.has_module
    monkeypatch.setattr(toolchain, "has_module", lambda name: name != module and real(name))


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ([], "--budget 20s: is too small, since a race needs 30s; allow 4m, or 50s with one --key and --algorithm"),
        (["--key", "u32"], "allow 100s, or 50s with one --key and --algorithm"),
        (["--key", "u32", "--algorithm", "radix"], "--budget 20s: is too small, since a race needs 30s; allow 50s"),
    ],
)
def test_a_budget_without_time_for_a_race(more: list[str], line: str, folder: Path, capsys: Capture) -> None:
    """Refused before a device is opened; what it advises is as long as all tables need."""
    refused(["-t", "cpu", "--budget", "20s", *more], 2, line, capsys)
    assert list(folder.iterdir()) == []


def test_without_tomlkit(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Reported before the first measurement, not hours later when the results are written."""
    without(monkeypatch, "tomlkit")
    refused(["-t", "cpu"], 3, "editing target files needs tomlkit; install it with pip install 'hsgen[tune]'", capsys)
    refused(["-t", "cpu", "--require"], 1, "editing target files needs tomlkit", capsys)
    assert list(folder.iterdir()) == []


def test_without_a_device(folder: Path) -> None:
    (folder / "none").mkdir()
    env = {**os.environ, "OCL_ICD_VENDORS": str(folder / "none")}
    for more, code in (([], 3), (["--require"], 1)):
        command = [sys.executable, "-m", "hsgen", "tune", "-t", "cpu", *more]
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
        assert done.returncode == code and done.stderr.count("\n") == 1 and "no OpenCL device; " in done.stderr
    assert [p.name for p in folder.iterdir()] == ["none"]


def test_without_such_a_device(embedded: Host, folder: Path, capsys: Capture) -> None:
    refused(["-t", "cpu", "--device", "Voodoo 2"], 3, "no OpenCL device like 'Voodoo 2'; there is", capsys)
    assert list(folder.iterdir()) == []


def journal_of(embedded: Host, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Start a journal like the command does; stop before the first race, as if killed there."""

    class Ended(Exception):
        pass

    def ended(*_: object) -> None:
        raise Ended

    with monkeypatch.context() as patch, pytest.raises(Ended):
        patch.setattr(tune.Tuning, "perform", ended)
        main(["tune", "-t", "cpu", "--key", "u32", "--device", embedded.platform, "--journal", "j"])
    found: dict[str, Any] = json.loads((folder / "j").read_text(encoding="utf-8"))
    return found


def test_journals_of_something_else(
    embedded: Host, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    head = journal_of(embedded, folder, monkeypatch)
    capsys.readouterr()
    assert head["what"] == "journal" and head["target"] == "cpu" and head["seed"] == 1
    given = ["-t", "cpu", "--key", "u32", "--device", embedded.platform, "--journal", "j"]
    refused([*given, "--seed", "2"], 2, "journal j: has seed 1, not 2; name another journal with --journal", capsys)
    more = [*given, "--algorithm", "radix"]
    refused(more, 2, "journal j: tunes bitonic u32 radix u32, not radix u32; name another journal", capsys)
    refused([*given, "--merge", "j"], 2, "journal j: exists; name a new file for the merged journal", capsys)
    elsewhere = [*given[:-1], "k", "--merge", "j", "--merge", "l"]
    refused(elsewhere, 2, "journal l: cannot be read (No such file or directory); name a file that hsgen", capsys)
    for name, value, line in (
        ("device", "H100", "its device is H100, not "),
        ("target", "generic", "its target is generic, not cpu"),
        ("schema", 9, "has schema 9, this hsgen reads 2"),
        ("facts", {}, "its facts differ from what is to be tuned"),
    ):
        (folder / "j").write_text(json.dumps({**head, name: value}) + "\n", encoding="utf-8")
        before = (folder / "j").read_bytes()
        refused(given, 2, f"journal j: {line}", capsys)
        assert (folder / "j").read_bytes() == before
    (folder / "j").write_text("dear diary\n")
    refused(given, 2, "journal j: is not a journal; name a file that hsgen tune wrote", capsys)
    refused([*given[:-1], "no/j"], 2, "journal no/j: cannot be written (No such file or directory)", capsys)
    refused([*given[:-1], "."], 2, "journal .: cannot be read (Is a directory)", capsys)
    assert sorted(p.name for p in folder.iterdir()) == ["j"]


def test_an_interrupt_says_how_to_resume(
    embedded: Host, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The printed command continues the same journal; journals that are merged already are not named again."""
    seen: list[str] = []

    def interrupted(tuning: tune.Tuning) -> None:
        seen.append(tuning.journal.head["date"])
        raise KeyboardInterrupt

    monkeypatch.setattr(tune.Tuning, "perform", interrupted)
    command = ["tune", "-t", "cpu", "--key", "u32", "--device", embedded.platform, "--journal", "a b"]
    assert main(command) == 130
    out, err = capsys.readouterr()
    assert not out and err.endswith("hsgen: interrupted\n")
    notice = f"hsgen: 0 records are in a b; resume here with: {shlex.join(['hsgen', *command])}\n"
    assert notice in err and err.startswith(f"device: {embedded.label}, API opencl\n")
    before = Path("a b").read_bytes()
    assert main(shlex.split(notice.partition("hsgen tune")[2].join(["tune", ""]))) == 130
    assert Path("a b").read_bytes() == before and len(seen) == 2
    assert main([*command[:-1], "c", "--merge", "a b", "--merge=a b"]) == 130
    assert "resume here with: hsgen tune " in (err := capsys.readouterr().err) and "--merge" not in err


def test_clusters_that_are_not_there(
    embedded: Host, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    given = ["-t", "cpu", "--device", embedded.platform, "--dask", "tcp://127.0.0.1:1"]
    with monkeypatch.context() as patch:
        without(patch, "distributed")
        refused(given, 3, "spreading races needs Dask; install it with pip install 'hsgen[dask]'", capsys)
    if importlib.util.find_spec("distributed") is None:
        missing("Dask is not installed (pip install 'hsgen[dask]')")
    monkeypatch.setattr(spread, "SECONDS", 1)
    refused(given, 3, "no Dask scheduler answers at tcp://127.0.0.1:1 (", capsys)
    refused([*given[:-1], "nowhere"], 3, "no Dask scheduler answers at nowhere (", capsys)
    assert list(folder.iterdir()) == []


def test_a_target_file_that_cannot_be_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "mine.toml"
    file.write_text("old")

    def full(self: Path, goal: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(Usage, match=r"cannot be written \(No space left on device\); run it again"):
        replace(file, "new", "run it again")
    assert file.read_text() == "old" and list(folder.iterdir()) == [file]
