"""What becomes of a bundle on disk: write it, compare it, verify it, remove from it.

Writing is all or nothing as far as a file system allows: every new file is first written beside its place, then
all are renamed, the manifest last; what fails or is interrupted is taken back.  Files that did not change are not
touched.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hsgen import spirv_file
from hsgen.bundle import Files
from hsgen.errors import Usage
from hsgen.manifest import MANIFEST, Manifest, digest, parse_manifest

_TEMPORARY, _ASIDE = ".hsgen-new", ".hsgen-old"


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """How a folder departs from a bundle, as paths within it."""

    stale: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stale or self.missing or self.unexpected)

    def lines(self) -> list[str]:
        """Return one line for each file."""
        named = (("stale", self.stale), ("missing", self.missing), ("unexpected", self.unexpected))
        return [f"{word} {path}" for word, paths in named for path in paths]


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of the bundle in `folder`; None where the folder is missing or empty.

    Raises:
        Usage: the folder cannot be read, holds other things, or its manifest is none.
    """
    path = folder / MANIFEST
    try:
        if path.is_file():
            return parse_manifest(path.read_bytes(), str(path))
        if folder.exists() and not folder.is_dir():
            raise Usage(f"{folder}: is a file; name a folder")
        if folder.exists() and any(p.is_file() and not p.name.endswith(_TEMPORARY) for p in folder.rglob("*")):
            raise Usage(f"{folder}: not empty and without {MANIFEST}, so no bundle; name a new folder or a bundle")
    except OSError as e:
        raise Usage(f"{folder}: cannot be read ({e.strerror}); name a folder that can") from None
    return None


def present(folder: Path) -> dict[str, Path]:
    """Return every file under `folder`, by its path in the bundle."""
    return {p.relative_to(folder).as_posix(): p for p in sorted(folder.rglob("*")) if p.is_file()}


def compare(folder: Path, expected: Mapping[str, str]) -> Differences:
    """Compare `folder` with the hashes in `expected` (without the manifest)."""
    found = present(folder)
    found.pop(MANIFEST, None)
    shared = sorted(set(found) & set(expected))
    return Differences(
        stale=tuple(p for p in shared if digest(found[p].read_bytes()) != expected[p]),
        missing=tuple(sorted(set(expected) - set(found))),
        unexpected=tuple(sorted(set(found) - set(expected))),
    )


def foreign(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """Return the files of SPIR-V that hold anything but words, whatever hash the manifest has for them."""
    found = []
    for path in filter(spirv_file.holds_words, manifest.hashes):
        try:
            if not spirv_file.well_formed((folder / path).read_bytes()):
                found.append(path)
        except OSError:
            continue  # `compare` says that it is missing
    return tuple(found)


def changes(folder: Path, files: Files, manifest: Manifest, old: Manifest | None) -> tuple[Files, list[str]]:
    """Return what bringing `folder` up to the bundle means: files to write, and paths to remove.

    Removed is what the old manifest lists and the new one does not; what no manifest names is left alone.
    """
    wanted = {**files, MANIFEST: manifest.bytes()}
    changed = {p: data for p, data in wanted.items() if _differs(folder / p, data)}
    gone = sorted(p for p in set(old.hashes if old else {}) - set(manifest.hashes) if (folder / p).is_file())
    return changed, gone


def write(folder: Path, changed: Files, gone: list[str]) -> None:
    """Write and remove what `changes` said.

    Raises:
        Usage: something cannot be written; the folder is then as it was.
    """
    undo = _Undo()
    try:
        for path, data in changed.items():
            undo.folder((folder / path).parent)
            undo.new(folder / path, data)
        for path in sorted(changed, key=lambda p: p == MANIFEST):
            undo.put(folder / path)
        for path in gone:
            undo.set_aside(folder / path)
    except BaseException as e:
        undo.all()
        if isinstance(e, OSError):
            raise Usage(f"{e.filename or folder}: cannot be written ({e.strerror}); name a folder that can") from None
        raise
    undo.forget()
    for path in gone:
        _prune(folder, path)


class _Undo:
    """The steps of a write, each of which can be taken back by renaming or removing."""

    def __init__(self) -> None:
        self._folders: list[Path] = []
        self._new: list[Path] = []
        self._put: list[Path] = []
        self._aside: list[Path] = []

    def folder(self, folder: Path) -> None:
        """Make a folder and what lies above it."""
        missing = [p for p in (folder, *folder.parents) if not p.exists()]
        for path in reversed(missing):
            path.mkdir()
            self._folders.append(path)

    def new(self, place: Path, data: bytes) -> None:
        """Write `data` beside `place`."""
        if place.is_dir():
            raise IsADirectoryError(21, "a folder stands where a file must be", str(place))
        path = place.with_name(place.name + _TEMPORARY)
        self._new.append(path)
        path.write_bytes(data)

    def put(self, place: Path) -> None:
        """Bring the new file to its place."""
        if place.exists():
            self.set_aside(place)
        place.with_name(place.name + _TEMPORARY).replace(place)
        self._put.append(place)

    def set_aside(self, place: Path) -> None:
        """Take an old file out of the way."""
        place.replace(place.with_name(place.name + _ASIDE))
        self._aside.append(place)

    def all(self) -> None:
        """Take everything back."""
        for path in (*self._put, *self._new):
            path.unlink(missing_ok=True)
        for place in self._aside:
            place.with_name(place.name + _ASIDE).replace(place)
        for folder in reversed(self._folders):
            folder.rmdir()

    def forget(self) -> None:
        """Keep everything: the old files go."""
        for place in self._aside:
            place.with_name(place.name + _ASIDE).unlink()


def _differs(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() != data
    except OSError:
        return True


def _prune(folder: Path, path: str) -> None:
    """Remove the folders that a removed file leaves empty."""
    for parent in Path(path).parents:
        if str(parent) != "." and (folder / parent).is_dir() and not any((folder / parent).iterdir()):
            (folder / parent).rmdir()


def unified(folder: Path, files: Files, names: tuple[str, ...]) -> str:
    """Return what would change in the files `names`, as a unified diff."""
    out: list[str] = []
    for name in names:
        path = folder / name
        have = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
        want = files.get(name, b"").decode().splitlines()
        out += difflib.unified_diff(have, want, f"{name} in {folder.as_posix()}", f"{name} as generated", lineterm="")
    return "\n".join(out)
