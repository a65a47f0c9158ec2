"""What becomes of a bundle on disk: write it, compare it, verify it, remove from it.

Writing is all or nothing as far as a file system allows: every new file is first written beside its place, then
all are renamed, the manifest last.  Files that did not change are not touched.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hsgen.bundle import MANIFEST, Files, Manifest, digest, parse_manifest
from hsgen.errors import Usage

_TEMPORARY = ".hsgen-new"


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
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
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


def write(folder: Path, files: Files, manifest: Manifest, old: Manifest | None) -> list[str]:
    """Bring `folder` up to the bundle; return the paths written or removed, sorted.

    Removes what the old manifest lists and the new one does not; touches nothing that no manifest names.

    Raises:
        Usage: the folder cannot be written; it is then as it was.
    """
    wanted = {**files, MANIFEST: manifest.bytes()}
    changed = {p: data for p, data in wanted.items() if _differs(folder / p, data)}
    gone = sorted(set(old.hashes if old else {}) - set(manifest.hashes))
    made: list[Path] = []
    try:
        for path, data in changed.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            new = place.with_name(place.name + _TEMPORARY)
            made.append(new)
            new.write_bytes(data)
        for path in sorted(changed, key=lambda p: p == MANIFEST):
            place = folder / path
            place.with_name(place.name + _TEMPORARY).replace(place)
        for path in gone:
            _remove(folder, path)
    except OSError as e:
        for new in made:
            new.unlink(missing_ok=True)
        raise Usage(f"{folder}: cannot be written ({e.strerror}); name a folder that can") from None
    return sorted([*changed, *gone])


def _differs(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() != data
    except OSError:
        return True


def _remove(folder: Path, path: str) -> None:
    place = folder / path
    place.unlink(missing_ok=True)
    for parent in place.relative_to(folder).parents:
        if str(parent) != "." and (folder / parent).is_dir() and not any((folder / parent).iterdir()):
            (folder / parent).rmdir()


def unified(folder: Path, files: Files, names: tuple[str, ...]) -> str:
    """Return what would change in the files `names`, as a unified diff."""
    out: list[str] = []
    for name in names:
        path = folder / name
        have = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
        want = files.get(name, b"").decode().splitlines()
        out += difflib.unified_diff(have, want, f"{folder.as_posix()}/{name}", f"generated/{name}", lineterm="")
    return "\n".join(out)
