"""Hostile bundles: nothing outside the bundle is read, written or removed, and one line gives the reason."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest
import tiny
from hsgen_process import run
from nightly import thinned

import hsgen
from hsgen.bundle import manifest_parser
from hsgen.bundle.manifest import digest
from hsgen.cli import main
from hsgen.system import tree

LANES = Path(hsgen.__file__).parents[1] / "tests/device/lanes"
TARGET = str(LANES / "lanes4.toml")
KERNEL = "targets/lanes4/kernels/opencl/bitonic_u32.cl"
GENERATE = ("generate", "-t", TARGET, "--api", "opencl", "--key", "u32", "--algorithm", "bitonic", "-o")
COMMANDS = {
    "generate": GENERATE,
    "dry run": (*GENERATE[:-1], "--dry-run", "-o"),
    "remove": ("generate", "--remove", "lanes4", "-o"),
    "check": ("check", "-t", TARGET, "-o"),
    "verify": ("verify",),
    "report": ("report", "-t", TARGET, "-o", "page.html", "--bundle"),
    "validate": ("validate", "-t", TARGET, "--api", "vulkan", "--key", "u32", "--bundle"),
}
"""Every command that reads a bundle, without its last argument, the folder."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of one sort; tests must not change it."""
    folder = tmp_path_factory.mktemp("made") / "bundle"
    assert main([*GENERATE, str(folder)]) == 0
    return folder


@pytest.fixture
def bundle(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of that bundle, next to a folder of unrelated files."""
    shutil.copytree(made, tmp_path / "bundle")
    victim = tmp_path / "victim"
    shutil.copytree(made / "src", victim / "src")
    shutil.copytree(made / "targets", victim / "targets")
    for name in ("precious.txt", "hs.c", "manifest.json"):
        (victim / name).write_text("precious")
    monkeypatch.chdir(tmp_path)
    before = tiny.state(victim)
    yield tmp_path / "bundle"
    assert tiny.state(victim) == before


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, list[str]]:
    """Run a command; return its exit code and stderr."""
    capsys.readouterr()
    code = main([str(a) for a in arguments])
    return code, capsys.readouterr().err.splitlines()


def instead(path: Path, to: str) -> None:
    """Replace something by a link."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    path.symlink_to(to)


def bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(os.path.relpath(path))


STRANGE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a folder is a link": ("src: is a link", lambda b: instead(b / "src", "../victim/src")),
    "a target is a link": ("targets: is a link", lambda b: instead(b / "targets", "../victim/targets")),
    "a file is a link": ("LICENSE: is a link", lambda b: instead(b / "LICENSE", "../victim/precious.txt")),
    "the manifest is a link": (
        "manifest.json: is a link",
        lambda b: instead(b / "manifest.json", "../victim/manifest.json"),
    ),
    "a link to nothing": ("src/new.c: is a link", lambda b: (b / "src/new.c").symlink_to("nothing")),
    "a link to itself": ("src/new.c: is a link", lambda b: (b / "src/new.c").symlink_to("new.c")),
    "a link to all": ("lnk: is a link", lambda b: (b / "lnk").symlink_to("/")),
    "a FIFO": ("src/fifo: is a FIFO", lambda b: os.mkfifo(b / "src/fifo")),
    "a socket": ("src/s: is a socket", lambda b: bind(b / "src/s")),
    "the manifest is a FIFO": (
        "manifest.json: is a FIFO",
        lambda b: ((b / "manifest.json").unlink(), os.mkfifo(b / "manifest.json")),
    ),
    "the manifest is a folder": (
        "manifest.json: is a folder where a file belongs",
        lambda b: ((b / "manifest.json").unlink(), (b / "manifest.json").mkdir()),
    ),
    "folders without end": (
        "is deeper than any folder of a bundle",
        lambda b: (b / "/".join("d" * 50)).mkdir(parents=True),
    ),
    "a name that is a message": (
        "b\\x1b[2J\\nhsgen: fine: is a link",
        lambda b: (b / "b\x1b[2J\nhsgen: fine").symlink_to("x"),
    ),
    "a name that is no text": ("\\udcff\\udcfe: is a link", lambda b: (b / "\udcff\udcfe").symlink_to("x")),
}


@pytest.mark.parametrize(("strange", "command"), thinned(product(STRANGE, COMMANDS), 3))
def test_special_files_are_refused_by_name(
    bundle: Path, strange: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line, put = STRANGE[strange]
    put(bundle)
    before = tiny.state(bundle)
    code, lines = said(capsys, *COMMANDS[command], bundle)
    assert code == 2 and len(lines) == 1 and line in lines[0], lines
    assert tiny.state(bundle) == before and not Path("page.html").exists()


@pytest.mark.parametrize("command", ["generate", "check", "verify", "report"])
def test_the_folder_itself_may_be_a_link(bundle: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("link").symlink_to("bundle")
    code, lines = said(capsys, *COMMANDS[command], "link")
    assert code == 0, lines


def test_a_link_that_comes_while_a_bundle_is_read_leads_nowhere(bundle: Path) -> None:
    with tree.opened(bundle) as have:
        assert have is not None and have.read("src/hs.c")
        instead(bundle / "src", "../victim/src")
        for act in (
            have.read,
            have.unlink,
            have.rmdir,
            lambda p: have.create(p, b""),
            lambda p: have.rename("LICENSE", p),
        ):
            with pytest.raises((hsgen.core.errors.Usage, OSError), match="src"):
                act("src/hs.c")


# Manifests


LISTED = {
    "outside": "../victim/precious.txt",
    "absolute": "{victim}/precious.txt",
    "a file of the user's": "precious.txt",
    "git": ".git/config",
    "itself": "manifest.json",
    "backslashes": "..\\victim\\precious.txt",
    "a drive": "C:\\precious.txt",
    "a NUL": "src/hs.c\0",
    "long": "a/" * 3000 + "b",
    "a long name": "targets/lanes4/plans/" + "a" * 4000 + "_u32.json",
    "a folder": "src",
}


@pytest.mark.parametrize(("listed", "command"), thinned(product(LISTED, COMMANDS), 3))
def test_listing_a_file_does_not_permit_changing_it(
    bundle: Path, listed: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (bundle / "precious.txt").write_text("precious")
    (bundle / ".git").mkdir()
    (bundle / ".git/config").write_text("precious")
    path = LISTED[listed].format(victim=bundle.parent / "victim")
    for table in ("common", "target"):
        shutil.copy(bundle / "manifest.json", "manifest.before")
        raw = json.loads((bundle / "manifest.json").read_text())
        (raw if table == "common" else raw["targets"]["lanes4"])["files"][path] = digest(b"precious")
        (bundle / "manifest.json").write_text(json.dumps(raw))
        before = tiny.state(bundle)
        code, lines = said(capsys, *COMMANDS[command], bundle)
        assert code == 2 and len(lines) == 1 and len(lines[0]) < 600, lines
        assert "which no such bundle holds" in lines[0] and lines[0].isprintable()
        assert tiny.state(bundle) == before
        shutil.move("manifest.before", bundle / "manifest.json")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_manifest_without_end(
    bundle: Path, command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest_parser, "LARGEST", 1000)
    code, lines = said(capsys, *COMMANDS[command], bundle)
    assert code == 2 and len(lines) == 1 and "manifest.json: has more than 1000 bytes" in lines[0]


# Files that would be lost


def test_an_edited_file_is_not_removed(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (bundle / KERNEL).write_text("mine")
    (bundle / "targets/lanes4/lanes4.c").write_text("mine")
    before = tiny.state(bundle)
    for command in ("remove", "dry run"):
        more = ("--remove", "lanes4") if command == "dry run" else ()
        code, lines = said(capsys, *("generate", *more, "--dry-run", "-o") if more else COMMANDS[command], bundle)
        assert code == 2 and len(lines) == 1
        assert f"{KERNEL} (and 1 more): was changed since it was generated, and would be removed" in lines[0]
        assert tiny.state(bundle) == before
    shutil.move(bundle / KERNEL, "mine.cl")
    (bundle / "targets/lanes4/lanes4.c").unlink()
    assert said(capsys, *COMMANDS["remove"], bundle)[0] == 0 and not (bundle / "targets").exists()


def test_an_edited_file_that_stays_is_written_again(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tiny.state(bundle)
    (bundle / KERNEL).write_text("mine")
    assert said(capsys, *GENERATE, bundle) == (0, []) and tiny.state(bundle) == before


def test_a_file_that_no_manifest_lists_is_not_overwritten(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = bundle / "targets/lanes4/kernels/opencl/bitonic_u64.cl"
    mine.write_text("mine")
    before = tiny.state(bundle)
    more = [w.replace("u32", "u64") for w in GENERATE]
    for command in (more, [*more[:-1], "--dry-run", "-o"]):
        code, lines = said(capsys, *command, bundle)
        assert code == 2 and len(lines) == 1
        assert "bitonic_u64.cl: is not listed in the manifest, and would be overwritten; move it away" in lines[0]
        assert tiny.state(bundle) == before
    mine.unlink()
    assert said(capsys, *more, bundle)[0] == 0
    (bundle / "manifest.json").unlink()
    code, lines = said(capsys, *more, bundle)
    assert code == 2 and "not empty and without manifest.json" in lines[0]


def test_files_that_are_called_like_work_files_stay(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = ("src/hs.c.hsgen-old", "src/hs.c.hsgen-new", "manifest.json.hsgen-new", f"{KERNEL}.hsgen-old")
    for name in mine:
        (bundle / name).write_text("mine")
    (bundle / "src/hs.c").write_text("edited")
    assert said(capsys, *GENERATE, bundle)[0] == 0
    assert said(capsys, *COMMANDS["remove"], bundle)[0] == 0
    assert [(bundle / name).read_text() for name in mine] == ["mine"] * 4
    for name in mine[:3]:
        (bundle / name).unlink()
    code, lines = said(capsys, "verify", bundle)
    assert code == 1 and f"unexpected {mine[3]}" in lines[0]


@pytest.mark.parametrize("place", ["src", "targets", "targets/lanes4/kernels", "include/hs"])
def test_a_file_where_a_folder_belongs(bundle: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(bundle / place)
    (bundle / place).write_text("mine")
    before = tiny.state(bundle)
    code, lines = said(capsys, *GENERATE, bundle)
    assert code == 2 and len(lines) == 1 and f"{place}: is a file where a folder belongs; move it away" in lines[0]
    code, lines = said(capsys, "verify", bundle)
    assert code == 1 and any(line.endswith(f"unexpected {place}") for line in lines)
    assert tiny.state(bundle) == before


def test_a_folder_where_a_file_belongs(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (bundle / KERNEL).unlink()
    (bundle / KERNEL).mkdir()
    code, lines = said(capsys, *GENERATE, bundle)
    assert code == 2 and len(lines) == 1 and f"{KERNEL}: is a folder where a file belongs; move it away" in lines[0]
    assert said(capsys, "verify", bundle)[0] == 1


# Errors of the system


@pytest.mark.parametrize(
    ("output", "command"),
    thinned(product(["a\0b", "a" * 300, "a/" * 3000, "manifest.json", "\ud800", ""], list(COMMANDS)[:-1]), 5),
)
def test_folders_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("manifest.json").write_text("mine")
    code, lines = said(capsys, *COMMANDS[command], output)
    assert code == 2 and len(lines) == 1 and lines[0].isprintable() and len(lines[0]) < 600, lines
    assert tiny.state(tmp_path) == {"manifest.json": b"mine"}


@pytest.mark.parametrize("command", ["generate", "check", "verify", "report"])
@pytest.mark.parametrize(
    ("name", "why"), [(KERNEL.rsplit("/", 1)[1], "Permission denied"), ("manifest.json", "I/O error")]
)
def test_a_file_that_cannot_be_read(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    real = os.open

    def denied(path: object, *arguments: object, **more: object) -> int:
        if path == name:
            raise OSError(13, why)
        return real(path, *arguments, **more)  # type: ignore[arg-type]

    before = tiny.state(bundle)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", denied)
        code, lines = said(capsys, *COMMANDS[command], bundle)
    if command == "report" and name != "manifest.json":
        assert code == 0  # only sizes are needed
    else:
        assert (
            code == 2 and len(lines) == 1 and f"{name}: cannot be read ({why})" in lines[0].replace("written", "read")
        )
    assert tiny.state(bundle) == before


def test_a_file_system_that_is_read_only(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reading works; everything else fails with one line."""

    def refused(*arguments: object, **more: object) -> None:
        raise OSError(30, "Read-only file system", "x")

    (bundle / KERNEL).write_text("mine")
    before = tiny.state(bundle)
    for names in (("mkdir",), ("mkdir", "access")):
        with monkeypatch.context() as patch:
            for name in names:
                patch.setattr(os, name, refused if name == "mkdir" else lambda *a, **k: False)
            code, lines = said(capsys, *GENERATE, bundle)
            assert code == 2 and len(lines) == 1 and "cannot be written" in lines[0]
            assert said(capsys, *GENERATE, Path("new/folder"))[0] == 2
            assert said(capsys, "verify", bundle)[0] == 1
    assert tiny.state(bundle) == before and not Path("new").exists()


def test_names_that_are_no_text_are_shown(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Escaped, even in a separate process with strict output encoding."""
    place = os.fsencode(bundle) + b"/src/\xff\xfe\n.c"
    os.close(os.open(place, os.O_CREAT | os.O_WRONLY))
    env = {"LC_ALL": "C.UTF-8", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = run("verify", bundle, env=env)
    assert (
        done.returncode == 1 and "unexpected src/\\udcff\\udcfe\\n.c" in done.stderr and "Traceback" not in done.stderr
    )
    capsys.readouterr()
    assert main(["verify", str(bundle), "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert rows == [{"path": "src/\udcff\udcfe\n.c", "state": "unexpected"}]


@pytest.mark.parametrize("command", ["check", "verify", "generate"])
def test_a_file_without_end(bundle: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is sparse: it occupies no disk space, but reading it would exhaust memory."""
    os.truncate(bundle / KERNEL, 1 << 40)
    code, lines = said(capsys, *COMMANDS[command], bundle)
    assert code == 2 and len(lines) == 1 and f"{KERNEL}: has more than {tree.LARGEST} bytes" in lines[0]
    assert (bundle / KERNEL).stat().st_size == 1 << 40
