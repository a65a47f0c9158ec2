"""Updates of bundles on disk that are interrupted: by a kill at any system call, by errors, by other processes."""

from __future__ import annotations

import errno
import fcntl
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import killed
import pytest
import tiny
from conftest import missing
from nightly import nightly
from tools import tool

import hsgen
from hsgen.bundle import store, transaction, update
from hsgen.bundle.manifest import digest
from hsgen.core.errors import Usage, Wrong
from hsgen.system import lock, tree

OLD, NEW = killed.CASES["replace"]


def expected(folder: Path, targets: dict[str, str]) -> dict[str, bytes | None]:
    """The content of a bundle that was never interrupted."""
    if targets:
        tiny.write(folder, targets)
    return tiny.state(folder) if targets else {}


@pytest.mark.parametrize(
    ("case", "step", "first"), [("create", 5, 2), ("replace", 6, 3), *(nightly(case, 1, 1) for case in killed.CASES)]
)
def test_an_update_that_is_killed_at_any_call_is_healed_by_the_next(
    tmp_path: Path, case: str, step: int, first: int
) -> None:
    """The next update may be the same or another; it leaves no trace of the killed one."""
    strace = tool("strace")
    (tmp_path / "killed").mkdir()
    script = [sys.executable, killed.__file__, case, str(tmp_path / "killed"), str(step), str(first)]
    env = {**os.environ, "PYTHONPATH": str(Path(hsgen.__file__).parents[1])}
    done = subprocess.run([strace, *killed.options(), *script], capture_output=True, text=True, check=False, env=env)
    if done.returncode and "ptrace" in done.stderr:
        missing(f"strace may not trace here: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    codes = dict(line.split() for line in done.stdout.splitlines())
    assert {codes.pop(name) for name in list(codes) if codes[name] != "-9"} == {"0"}  # each kind to its last call
    assert len({name.split("-")[0] for name in codes}) >= 3 and len(codes) >= (6 if step > 1 else 60)
    before, after = killed.CASES[case]
    want = {name: expected(tmp_path / name, targets) for name, targets in (("before", before), ("after", after))}
    half = 0
    for name in codes:
        folder = tmp_path / "killed" / name
        have = tiny.state(folder) if folder.exists() else {}
        if transaction.WORK in have:
            half += 1
            with pytest.raises(Wrong, match="an update of it was interrupted; run: hsgen generate -o"):
                store.verify(folder)
            assert tiny.state(folder) == have  # which changes nothing
        else:
            assert have in ({}, *want.values()), name
        other = tmp_path / "other"
        if folder.exists():
            shutil.copytree(folder, other)
        tiny.write(folder, after)
        assert tiny.state(folder) == want["after"], name
        if before:
            tiny.write(other, before)
            assert tiny.state(other) == want["before"], name
            shutil.rmtree(other)
        shutil.rmtree(other, ignore_errors=True)
        assert not store.verify(folder)[1]
    assert half > len(codes) / 4


# Errors and signals

CREATE, MKDIR, RENAME, UNLINK, RMDIR = (
    (tree.Tree, "create"),
    (os, "mkdir"),
    (os, "replace"),
    (os, "unlink"),
    (os, "rmdir"),
)


def stop(monkeypatch: pytest.MonkeyPatch, call: tuple[Any, str], after: int, action: Callable[[], None]) -> list[int]:
    """Run `action` once, before the call that follows `after` others; the returned number is negative from then on."""
    real, left = getattr(*call), [after]

    def stopped(*arguments: Any, **more: Any) -> Any:
        left[0] -= 1
        if left[0] == -1:
            action()
        return real(*arguments, **more)

    monkeypatch.setattr(*call, stopped)
    return left


def no_space() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture(autouse=True)
def listening() -> Iterator[None]:
    """Shells start background programs with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A bundle to update."""
    tiny.write(tmp_path / "bundle", OLD)
    return tmp_path / "bundle"


@pytest.mark.parametrize("call", [(MKDIR, 0), (MKDIR, 1), (CREATE, 0), (CREATE, 3), (CREATE, 6), (RENAME, 0)])
def test_an_error_before_the_journal_is_in_place_leaves_the_folder_as_it_was(
    old: Path, monkeypatch: pytest.MonkeyPatch, call: tuple[Any, int]
) -> None:
    before = tiny.state(old)
    with monkeypatch.context() as patch, pytest.raises(Usage, match=r"cannot be written \(No space left"):
        stop(patch, *call, no_space)
        tiny.write(old, NEW)
    assert tiny.state(old) == before


@pytest.mark.parametrize("call", [(MKDIR, 0), (MKDIR, 2), (CREATE, 4)])
def test_an_error_while_a_bundle_is_created_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: tuple[Any, int]
) -> None:
    with monkeypatch.context() as patch, pytest.raises(Usage, match=r"cannot be written \(No space left"):
        stop(patch, *call, no_space)
        tiny.write(tmp_path / "a/b", NEW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", [(RENAME, n) for n in (1, 2, 5)] + [(UNLINK, n) for n in (0, 1, 2)] + [(RMDIR, 0)])
def test_the_next_run_completes_an_update_with_a_later_error(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: tuple[Any, int]
) -> None:
    with monkeypatch.context() as patch:
        left = stop(patch, *call, no_space)
        try:
            tiny.write(old, NEW)
        except Usage as e:
            assert "cannot be written (No space left" in str(e)
            assert transaction.WORK in tiny.state(old)
            with pytest.raises(Wrong, match="an update of it was interrupted"):
                store.read_manifest(old)
        else:
            assert call[0] == RMDIR  # an emptied folder may stay
        assert left[0] < 0
    notes: list[str] = []
    tiny.write(old, NEW, notes.append)
    assert {k: v for k, v in tiny.state(old).items() if v} == {
        k: v for k, v in expected(tmp_path / "new", NEW).items() if v
    }
    assert [n.split(": ")[1] for n in notes] in ([], ["an update that was interrupted has been completed"])


def test_a_disk_that_is_full_in_the_middle_of_a_file(old: Path) -> None:
    """The system refuses the rest of a partly written file."""
    before, limits = tiny.state(old), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
    try:
        with pytest.raises(Usage, match=r"cannot be written \(File too large\)"):
            tiny.write(old, NEW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert tiny.state(old) == before


@pytest.mark.parametrize("place", ["", "src", "targets", "targets/one/kernels/opencl"])
def test_folders_that_may_not_be_written(place: str) -> None:
    """As another user if this one is root, who may do everything."""
    own, other = os.geteuid(), 65534 if os.geteuid() == 0 else os.geteuid()
    with tempfile.TemporaryDirectory() as base:
        Path(base).chmod(0o755)
        folder = Path(base) / "bundle"
        tiny.write(folder, OLD)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, other, -1)
        before = tiny.state(folder)
        (folder / place).chmod(0o500)
        try:
            os.seteuid(other)
            with pytest.raises(Usage, match="cannot be written; name a folder that can"):
                tiny.write(folder, NEW)
            _, found = store.verify(folder)
            (folder / place).chmod(0o000)
            with pytest.raises(Usage, match=r"cannot be read \(Permission denied\)"):
                store.verify(folder)
        finally:
            os.seteuid(own)
            (folder / place).chmod(0o700)
        assert not found and tiny.state(folder) == before


@pytest.mark.parametrize("call", [*((c, n) for c in (MKDIR, CREATE, RENAME, UNLINK) for n in (0, 1, 2)), (CREATE, 6)])
def test_a_signal_waits_for_the_end_or_takes_everything_back(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: tuple[Any, int]
) -> None:
    before = tiny.state(old)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        left = stop(patch, *call, interrupt)
        tiny.write(old, NEW)
    assert left[0] < 0
    early = call[0] == CREATE or (call[0] == MKDIR and call[1] < 2)
    assert tiny.state(old) == (before if early else expected(tmp_path / "new", NEW))


# Content of a work folder


def interrupted(folder: Path, renames: int) -> None:
    """Leave an update to NEW with this number of files in place; None: without a journal."""
    if (child := os.fork()) == 0:
        real, left = os.replace, [renames]

        def kill(*arguments: Any, **more: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            real(*arguments, **more)

        os.replace = kill
        try:
            tiny.write(folder, NEW)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert (folder / transaction.WORK / "journal.json").exists() == bool(renames)


def edit(bundle: Path, **more: Any) -> None:
    """Edit the text of a journal."""
    path = bundle / transaction.WORK / "journal.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


HARMFUL: dict[str, Callable[[Path], None]] = {
    "no JSON": lambda b: (b / ".hsgen-work/journal.json").write_text("{"),
    "a list": lambda b: (b / ".hsgen-work/journal.json").write_text("[[]]"),
    "schema": lambda b: edit(b, schema=7),
    "types": lambda b: edit(b, puts=[["LICENSE", "0", "x", None]]),
    "no rows": lambda b: edit(b, puts=3),
    "nothing put": lambda b: edit(b, puts=[]),
    "outside": lambda b: edit(b, puts=[["../victim", 0, digest(b"x"), None]]),
    "absolute": lambda b: edit(b, puts=[["/etc/motd", 0, digest(b"x"), None]]),
    "not listed": lambda b: edit(b, puts=[[".git/config", 0, digest(b"x"), None]]),
    "itself": lambda b: edit(b, puts=[[".hsgen-work/journal.json", 0, digest(b"x"), None]]),
    "other content": lambda b: (b / ".hsgen-work/new/000002").write_text("x"),
    "a file is lost": lambda b: (b / ".hsgen-work/new/000002").unlink(),
    "a manifest of nothing": lambda b: (b / ".hsgen-work/new/000005").write_text("{}"),
    "what it removes": lambda b: edit(b, old='{"schema": 3, "files": {"../victim": "x"}, "targets": {}}'),
    "a surrogate": lambda b: edit(b, old="\ud800"),
    "deep": lambda b: (b / ".hsgen-work/journal.json").write_text("[" * 100_000),
    "a stranger": lambda b: (b / ".hsgen-work/mine").write_text("x"),
    "a stranger that waits": lambda b: (b / ".hsgen-work/new/mine").write_text("x"),
    "a file more": lambda b: (b / ".hsgen-work/new/000099").write_text("x"),
    "a link": lambda b: (b / ".hsgen-work/new/000007").symlink_to("../../../victim"),
    "a folder": lambda b: (b / ".hsgen-work/new/000007").mkdir(),
    "edited since": lambda b: (b / "targets/three/three.c").write_text("mine"),
}


@pytest.mark.parametrize("harm", HARMFUL)
def test_a_journal_that_is_not_believed_changes_nothing(old: Path, tmp_path: Path, harm: str) -> None:
    (tmp_path / "victim").write_text("precious")
    interrupted(old, 1 if harm == "edited since" else 3)
    if harm == "edited since":
        (old / "targets/three").mkdir()
    HARMFUL[harm](old)
    before = tiny.state(tmp_path)
    with pytest.raises(Usage) as raised:
        tiny.write(old, NEW)
    assert len(raised.value.lines) == 1 and str(old) in raised.value.lines[0], raised.value
    assert tiny.state(tmp_path) == before


def test_a_work_folder_without_a_journal_is_discarded_or_refused(old: Path, tmp_path: Path) -> None:
    before = tiny.state(old)
    interrupted(old, 0)
    (old / ".hsgen-work/new/notes").write_text("mine")
    with pytest.raises(Usage, match="new/notes: is not hsgen's; move it away"):
        tiny.write(old, OLD)
    assert (old / ".hsgen-work/new/000000").exists()  # nothing has been removed
    (old / ".hsgen-work/new/notes").unlink()
    notes: list[str] = []
    tiny.write(old, OLD, notes.append)
    assert tiny.state(old) == before and notes == [f"{old}: an update that was interrupted has been discarded"]


@pytest.mark.parametrize("what", ["file", "link", "fifo"])
def test_something_else_called_like_the_work_folder(old: Path, tmp_path: Path, what: str) -> None:
    place = old / transaction.WORK
    (tmp_path / "victim/new").mkdir(parents=True)
    (tmp_path / "victim/new/000000").write_text("precious")
    if what == "file":
        place.write_text("mine")
    elif what == "link":
        place.symlink_to("../victim")
    else:
        os.mkfifo(place)
    before = tiny.state(tmp_path)
    with pytest.raises(Usage, match=r"\.hsgen-work: is a "):
        tiny.write(old, NEW)
    assert tiny.state(tmp_path) == before


# Concurrent processes


def test_one_that_finds_another_at_work_says_so(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "PATIENCE", 0.1)
    before = tiny.state(old)
    holder = os.open(old, os.O_RDONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        for call in (lambda: tiny.write(old, NEW), lambda: store.verify(old), lambda: store.read_manifest(old)):
            with pytest.raises(Usage, match="another hsgen is at work there"):
                call()
        fcntl.flock(holder, fcntl.LOCK_SH)
        store.verify(old)  # several can read
        with pytest.raises(Usage, match="another hsgen is at work there"):
            tiny.write(old, NEW)
    finally:
        os.close(holder)
    assert tiny.state(old) == before


def test_an_update_restarts_after_a_concurrent_one(old: Path, tmp_path: Path) -> None:
    """The result contains both updates."""
    made: list[Any] = []

    def make(have: Any) -> Any:
        made.append(have)
        if len(made) == 1:
            tiny.write(old, {**OLD, "three": "c"})
        return tiny.bundle({**dict.fromkeys(have.targets, "a"), "four": "d"})

    update.update(old, make, note=print)
    assert [sorted(m.targets) for m in made] == [["one", "two"], ["one", "three", "two"]]
    assert tiny.state(old) == expected(tmp_path / "new", {"one": "a", "two": "a", "three": "a", "four": "d"})


def _rounds(folder: Path, name: str, rounds: int) -> None:
    for number in range(rounds):

        def make(have: Any, text: str = f"a{number}") -> Any:
            return tiny.bundle({**dict.fromkeys(have.targets if have else (), "a"), name: text})

        update.update(folder, make, note=lambda line: None)


@contextmanager
def nothing_yet() -> Iterator[None]:
    """The folder may be without a bundle, as before the first update."""
    try:
        yield
    except Usage as e:
        assert "no bundle there" in str(e)


@pytest.mark.parametrize("rounds", [5, nightly(100)])
def test_many_at_once_leave_a_bundle_of_one_piece(tmp_path: Path, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run without pauses, so one may wait for long."""
    monkeypatch.setattr(lock, "PATIENCE", 120.0)
    monkeypatch.setattr(update, "_TRIES", 1000)
    folder = tmp_path / "bundle"
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=_rounds, args=(folder, name, rounds)) for name in ("one", "two", "three")]
    for writer in writers:
        writer.start()
    while any(w.is_alive() for w in writers):
        with nothing_yet():
            assert not store.verify(folder)[1]
        time.sleep(0.02)
    assert [w.exitcode for w in writers] == [0, 0, 0]
    manifest, found = store.verify(folder)
    assert not found and sorted(manifest.targets) == ["one", "three", "two"]
    assert not (folder / transaction.WORK).exists()


# Without descriptors, as on Windows


def test_without_descriptors_the_same_is_written_and_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    want = expected(tmp_path / "new", NEW)
    monkeypatch.setattr(tree, "DESCRIPTORS", False)
    folder = tmp_path / "bundle"
    tiny.write(folder, OLD)
    tiny.write(folder, NEW)
    assert tiny.state(folder) == want
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim/three.c").write_text("precious")
    shutil.rmtree(folder / "targets/three")
    (folder / "targets/three").symlink_to("../../victim")
    before = tiny.state(tmp_path)
    for call in (lambda: tiny.write(folder, OLD), lambda: store.verify(folder)):
        with pytest.raises(Usage, match="targets/three: is a link"):
            call()
    with tree.opened(folder) as have, pytest.raises(Usage, match="targets/three: is a link"):
        assert have is not None
        have.read("targets/three/three.c")
    assert tiny.state(tmp_path) == before
