"""The cache is used only in a folder that other users cannot write to; damaged entries are rebuilt."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

from hsgen.core.errors import Notice, Unavailable
from hsgen.system import folders, toolchain

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes of POSIX")


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this user's caches."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "base"))
    return tmp_path / "base"


def refused(what: str) -> None:
    """The cache is another, private folder, and one notice gives the reason."""
    with pytest.warns(Notice, match=what) as found:
        place = folders.cached("native")
        assert folders.cached("native") == place
    assert len(found) == 1
    assert place.is_dir() and place.stat().st_mode & 0o777 == 0o700
    assert folders.user_caches() not in place.parents


def test_folders_are_made_for_this_user_alone(base: Path) -> None:
    old = os.umask(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            place = folders.cached("native")
        folders.keep(place / "ab" / "abc", b"data")
    finally:
        os.umask(old)
    assert place == base / "hsgen/native-2"
    for path in (base, base / "hsgen", place, place / "ab"):
        assert path.stat().st_mode & 0o777 == 0o700
    assert (place / "ab/abc").stat().st_mode & 0o777 == 0o600
    assert [p.name for p in (place / "ab").iterdir()] == ["abc"]


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702])
@pytest.mark.parametrize("which", ["", "hsgen", "hsgen/native-2"])
def test_a_folder_that_others_can_write_to_is_not_used(base: Path, mode: int, which: str) -> None:
    (base / "hsgen/native-2").mkdir(parents=True)
    (base / which).chmod(mode)
    refused("others can write to")


def test_a_folder_of_another_user_is_not_used(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (base / "hsgen").mkdir(parents=True)
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    refused("belongs to another user")


def test_a_link_is_not_followed(base: Path, tmp_path: Path) -> None:
    base.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (base / "hsgen").symlink_to(tmp_path / "elsewhere")
    refused("hsgen is a link")
    assert [*(tmp_path / "elsewhere").iterdir()] == []


def test_a_file_in_its_place(base: Path) -> None:
    base.write_text("")
    refused("cannot be used")


def test_a_relative_path_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for named in ("cache", "./cache", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", named)
        assert folders.cached("isa") == tmp_path / "home/.cache/hsgen/isa-2"
    assert [p.name for p in tmp_path.iterdir()] == ["home"]


def test_damaged_entries_count_as_missing(base: Path) -> None:
    path = folders.cached("native") / "ab" / "entry"
    assert folders.load(path) is None
    folders.keep(path, b"the data")
    assert folders.load(path) == b"the data"
    whole = path.read_bytes()
    for damaged in (b"", whole[:-1], whole[1:], b"\0" * len(whole), bytes([whole[0] ^ 1]) + whole[1:]):
        path.write_bytes(damaged)
        assert folders.load(path) is None
    folders.keep(path, b"")
    assert folders.load(path) == b""


def test_links_pipes_and_files_of_others_are_no_entries(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folders.cached("native")
    folders.keep(place / "good", b"x")
    (place / "link").symlink_to(place / "good")
    os.mkfifo(place / "pipe")
    (place / "folder").mkdir()
    assert [folders.load(place / n) for n in ("link", "pipe", "folder")] == [None] * 3
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert folders.load(place / "good") is None


def test_a_write_that_fails_leaves_nothing(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folders.cached("native") / "entry"
    folders.keep(path, b"old")

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(Unavailable, match="No space left on device"):
        folders.keep(path, b"new")
    assert folders.load(path) == b"old" and [p.name for p in path.parent.iterdir()] == ["entry"]


def test_temporary_folders_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders.tempfile, "tempdir", str(tmp_path))
    with folders.scratch() as folder:
        (folder / "file").write_text("")
        assert folder.stat().st_mode & 0o777 == 0o700 and [*tmp_path.iterdir()] == [folder]
    assert [*tmp_path.iterdir()] == []
    folders.temporary()
    folders.sweep()
    assert [*tmp_path.iterdir()] == []
    monkeypatch.setattr(folders.tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(Unavailable, match="name a place for it in TMPDIR"):
        folders.temporary()


def test_pyopencl_gets_no_cache_that_others_can_write_to(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds pickled objects."""
    for name in ("PYOPENCL_NO_CACHE", "PYOPENCL_CACHE_FAILURE_FATAL", "POCL_CACHE_DIR"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    toolchain.prepare_caches()
    assert "PYOPENCL_NO_CACHE" not in os.environ and os.environ["PYOPENCL_CACHE_FAILURE_FATAL"] == ""
    assert (base / "pyopencl").stat().st_mode & 0o777 == (base / "pytools").stat().st_mode & 0o777 == 0o700
    (base / "pytools").chmod(0o777)
    with pytest.warns(Notice, match="pytools"):
        toolchain.prepare_caches()
    assert os.environ["PYOPENCL_NO_CACHE"] == "1"
