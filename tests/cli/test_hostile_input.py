"""Hostile names, files and numbers: one line each, exit code 2, nothing written, no traceback."""

from __future__ import annotations

import json
import os
import time
import warnings
from pathlib import Path

import pytest

from hsgen.cli import main
from hsgen.cli.output import emit_table
from hsgen.core.errors import LINE, HsgenError, Usage, printable
from hsgen.engines.builds import build
from hsgen.engines.hosts import Host
from hsgen.system import documents, folders, resources, toolchain

CPU = (resources.targets() / "cpu.toml").read_text(encoding="utf-8")


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a command prints."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert not out and err.startswith("hsgen: ") and err.count("\n") == 1 and err.rstrip("\n").isprintable()
    assert len(err) < LINE + 200
    return err


def target_file(folder: Path, text: str | bytes, name: str = "bad") -> str:
    file = folder / f"{name}.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return str(file)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["show", "x" * 245], "unknown; known are adreno"),
        (["show", "x" * 5000], "unknown; known are adreno"),
        (["show", "x" * 260 + ".toml"], "cannot be read (File name too long)"),
        (["show", "d/" * 3000 + "x.toml"], "cannot be read (File name too long)"),
        (["show", "a\0b.toml"], "hold a null character"),
        (["verify", "a\0b"], "hold a null character"),
        (["generate", "-t", "cpu", "-o", "a\0b"], "hold a null character"),
        (["report", "-t", "cpu", "--bench", "y" * 300], "cannot be read (File name too long)"),
        (["report", "-t", "cpu", "--no-compile", "-o", "y" * 300], "File name too long"),
        (["compile", "-t", "cpu", "--budget", "y" * 300], "File name too long"),
        (["suggest", "-t", "y" * 300 + ".toml"], "cannot be read (File name too long)"),
        (["probe", "--query", "y" * 300, "-o", "q.toml"], "cannot be read (File name too long)"),
        (["show", "folder.toml"], "cannot be read (Is a directory)"),
        (["show", "\x1b[2J\nhsgen: cpu is fine"], r"target \x1b[2J\nhsgen: cpu is fine: unknown"),
        (["show", "\u202e.toml"], r"target \u202e.toml: cannot be read"),
        (["compile", "-t", "generic", "--timeout", "1e9"], "is not in the range 0<x<=1000000.0"),
        (["compile", "-t", "generic", "--timeout", "inf"], "is not in the range 0<x<=1000000.0"),
        (["compile", "-t", "generic", "--timeout", "nan"], "nan is no number"),
        (["compile", "-t", "generic", "--timeout", "-1"], "is not in the range 0<x<=1000000.0"),
    ],
    ids=range(19),
)
def test_names_and_numbers(
    arguments: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.toml").mkdir()
    assert line in refused(arguments, capsys)
    assert [p.name for p in tmp_path.iterdir()] == ["folder.toml"]


BAD = CPU.replace('name = "cpu"', 'name = "bad"', 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"\xef\xbb\xbf" + BAD.encode(), "starts with a byte order mark; save it as UTF-8 without one"),
        (BAD.encode() + b"# \xe9\n", "is not UTF-8 text (byte "),
        (BAD.replace("\ngroups = ", "\ngroups = " + "9" * 5000 + " #", 1), "has a number of too many digits"),
        (
            BAD.replace("\ngroups = ", "\ngroups = 0x" + "f" * 9000 + " #", 1),
            "device.groups: a number of 36000 bits is not b",
        ),
        (BAD + "\nx = " + "[" * 50000 + "]" * 50000, "is nested too deeply"),
        (BAD + "\n" + ".".join("a" * 20000) + " = 1", "has a key of more than 16 parts"),
        ("a" * 300000, "is longer than 262144 bytes"),
        (
            BAD.replace("\nprogress = ", '\nprogress = "\\u001b[31m\\nhsgen: x" #'),
            r'progress: "\x1b[31m\nhsgen: x" is not',
        ),
        (BAD + '\n["\\u001b[2J"]', r"\x1b[2J: unknown key"),
    ],
    ids=range(9),
)
def test_target_files(text: str | bytes, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin = time.monotonic()
    assert line in refused(["show", target_file(tmp_path, text)], capsys)
    assert time.monotonic() - begin < 5


def test_a_file_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def denied(*arguments: object) -> None:  # for all users except root
        raise PermissionError(13, "Permission denied")

    file = target_file(tmp_path, BAD)
    monkeypatch.setattr(documents.os, "open", denied)
    assert "cannot be read (Permission denied)" in refused(["show", file], capsys)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of POSIX")
def test_devices_are_no_files_and_pipes_are_read(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="cannot be read \\(no file\\)"):
        documents.text(Path("/dev/zero"), "give another")
    end, begin = os.pipe()
    os.write(begin, b"a\r\nb")
    os.close(begin)
    assert documents.text(Path(f"/dev/fd/{end}"), "give another") == "a\nb"  # such as bench --json passed to report
    os.close(end)


@pytest.mark.parametrize("more", [[], ["--plan", "5"], ["--arch", "80"]])
def test_a_bundle_without_targets(more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = {"schema": 3, "hsgen": "0.4.0", "prefix": "hs", "files": {}, "targets": {}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert "holds no target" in refused(["report", "--bundle", str(tmp_path), *more], capsys)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", "is no JSON (Expecting property name"),
        ('{"schema": NaN}', "is no JSON (NaN is no number of JSON)"),
        ('{"schema": ["\\ud800"]}', "holds half of a surrogate pair"),
        ('{"schema": ' + "9" * 5000 + "}", "has a number of too many digits"),
        ("[" * 100000, "is nested too deeply"),
        ('{"schema": "\\u001b[2J\\n"}', r"schema \x1b[2J\n is not known"),
        ("[]", "has no schema"),
    ],
    ids=range(7),
)
def test_benchmarks(text: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bench.json").write_text(text)
    assert line in refused(["report", "-t", "cpu", "--bench", str(tmp_path / "bench.json")], capsys)


def test_tables_and_lines_show_foreign_text_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    emit_table(["name"], [["\x1b[31mred\nfake row"], ["x" * 10**5], ["é 漢 \u00a0"]])
    lines = capsys.readouterr().out.split("\n")
    assert lines[1] == r"\x1b[31mred\nfake row" and len(lines) == 5 and len(lines[2]) == LINE
    assert printable("a\x85\u2028\ud800\x7f") == r"a\x85\u2028\ud800\x7f"
    assert len(printable("x" * 10**6, 200)) == 200 and "..." in printable("x" * 201, 200)


def test_unexpected_failures_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as a disappearing file system; and messages of other programs that contain line ends."""

    def gone(*arguments: object) -> None:
        raise OSError(5, "Input/output error", "/mnt/away\nhsgen: fine")

    monkeypatch.setattr("hsgen.cli.targets.target_files.find", gone)
    assert r"/mnt/away\nhsgen: fine: Input/output error" in refused(["show", "cpu"], capsys)

    def split(*arguments: object) -> None:
        raise HsgenError("one\ntwo")

    monkeypatch.setattr("hsgen.cli.targets.target_files.find", split)
    assert main(["show", "cpu"]) == 1 and capsys.readouterr().err == "hsgen: one\\ntwo\n"


@pytest.mark.device
def test_a_damaged_cache_of_pyopencl(embedded: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries that are not pickles, and a lock left by a killed process: kernels are still built."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PYOPENCL_CACHE_FAILURE_FATAL", "")
    monkeypatch.delenv("PYOPENCL_CACHE_FAILURE_FATAL")
    toolchain.prepare_caches()
    context = toolchain.pyopencl().Context([embedded.handle])
    text = "__kernel void nothing(__global int *x) { *x = 1; }"
    build(context, text, "x", ["nothing"], "-cl-std=CL1.2")
    (info,) = tmp_path.glob("pyopencl/*/*/info")
    info.write_bytes(b"damaged")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(build(context, text, "x", ["nothing"], "-cl-std=CL1.2")) == ["nothing"]
    lock = info.parents[1] / "lock"
    lock.write_text("")
    toolchain.prepare_caches()
    assert lock.exists()  # another process may hold it
    os.utime(lock, (0, 0))
    toolchain.prepare_caches()
    assert not lock.exists() and folders.problem("pyopencl") is None
