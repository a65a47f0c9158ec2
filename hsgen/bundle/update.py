"""Updates of a bundle on disk.  An update writes changed files, and removes files that the new manifest lacks.

An update holds an exclusive lock on the folder while it writes; `hsgen.bundle.transaction` describes how it writes.
Unchanged files are not touched.  Files that no manifest lists are neither overwritten nor removed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hsgen.bundle import manifest_parser, transaction
from hsgen.bundle.build import Files
from hsgen.bundle.manifest import MANIFEST, Manifest, digest
from hsgen.bundle.store import parsed, reading, recorded, refusals
from hsgen.core.errors import Usage, shown
from hsgen.system.interrupts import deferred
from hsgen.system.lock import locked
from hsgen.system.tree import Tree

_TRIES = 5  # attempts; each fails if another writer changes the bundle meanwhile


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The paths that an update writes and removes, and the hash of each file after the update, by path."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    hashes: Mapping[str, str]


Make = Callable[[Manifest | None], tuple[Files, Manifest]]
"""A function that generates a bundle: it gets the old manifest, or None, and returns the new files and manifest."""


def update(folder: Path, make: Make, *, note: Callable[[str], None], dry_run: bool = False) -> Change:
    """Update the bundle in `folder` to the files that `make` returns, and return the changes; `dry_run`: write nothing.

    If an earlier update was interrupted, it is first completed or discarded; `note` receives a message about this.

    Raises:
        Usage: the folder cannot be read or written, or a file that hsgen did not write would be lost; the folder is
            then unchanged.  If the system refuses to move a new file to its destination, part of the update is done,
            and the next update resumes it.
        Wrong: an earlier update was interrupted, and `dry_run` forbids its completion.
        KeyboardInterrupt, Terminated: a signal arrived; the folder is either unchanged or completely updated.
    """
    for _ in range(_TRIES):
        if not dry_run:
            _healed(folder, note)
        with reading(folder) as tree:
            data = recorded(tree)
        files, manifest = make(parsed(folder, data))
        manifest_parser.refuse_names(manifest, shown(folder / MANIFEST))
        content = {**files, MANIFEST: manifest.bytes()}
        if dry_run:
            with reading(folder) as tree:
                return _change(folder, tree, content, parsed(folder, data), manifest)[0]
        if (change := _write(folder, content, data, manifest)) is not None:
            return change
    raise Usage(f"{shown(folder)}: others keep writing to it; run this again when they have ended")


def _healed(folder: Path, note: Callable[[str], None]) -> None:
    with refusals(folder, "written"), deferred() as check, locked(folder, write=True, check=check) as tree:
        if tree is not None and (done := transaction.heal(tree)):
            note(f"{shown(folder)}: {done}")


def _change(
    folder: Path, tree: Tree | None, content: Files, old: Manifest | None, new: Manifest
) -> tuple[Change, Files]:
    """Return the changes from the folder to `content`, and the content of the files that change.

    Raises:
        Usage: a file that hsgen did not write would be lost, or a path is not writable.
    """
    known = old.hashes if old else {}
    have = {p: tree.digest(p) if tree else None for p in {*content, *known} - (set(new.hashes) - set(content))}
    changed = {path: data for path, data in content.items() if have[path] != digest(data)}
    gone = sorted(p for p in set(known) - set(new.hashes) if have[p])
    foreign = [p for p in changed if have[p] and p not in known and p != MANIFEST]
    edited = [p for p in gone if have[p] != known[p]]
    _keep(folder, foreign, "is not listed in the manifest, and would be overwritten")
    _keep(folder, edited, "was changed since it was generated, and would be removed")
    if tree:
        for path in [*changed, *gone]:
            _look(tree, path)
    hashes = {**new.hashes, MANIFEST: digest(content[MANIFEST])}
    return Change(written=tuple(sorted(changed)), removed=tuple(gone), hashes=hashes), changed


def _keep(folder: Path, paths: list[str], why: str) -> None:
    """Refuse to overwrite or remove the files `paths`.

    Raises:
        Usage: `paths` is not empty; the message names the first path and the reason `why`.
    """
    if paths:
        more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
        raise Usage(f"{shown(folder / sorted(paths)[0])}{more}: {why}; move it away")


def _look(tree: Tree, path: str) -> None:
    """Check that the process may write to the bundle's folder, and to the nearest existing folder above `path`.

    Raises:
        Usage: one of the two folders is not writable.
    """
    above = path.rpartition("/")[0]
    while above and tree.kind(above) is None:
        above = above.rpartition("/")[0]
    for folder in {"", above}:
        if not tree.writable(folder):
            raise Usage(f"{shown(tree.root / folder)}: cannot be written; name a folder that can")


def _write(folder: Path, content: Files, data: bytes | None, manifest: Manifest) -> Change | None:
    """Write the update and return its changes.

    Return None, and write nothing, if another process has changed the bundle since its manifest `data` was read.
    """
    with refusals(folder, "written"), deferred() as check:
        folders = _make_folders(folder)
        try:
            with locked(folder, write=True, check=check) as tree:
                if tree is None or transaction.unfinished(tree) or recorded(tree) != data:
                    return None
                tree.files()
                change, files = _change(folder, tree, content, parsed(folder, data), manifest)
                if files or change.removed:
                    transaction.commit(tree, files, data, check)
                return change
        finally:
            for path in folders:
                with suppress(OSError):  # a folder that now has files remains
                    path.rmdir()


def _make_folders(folder: Path) -> list[Path]:
    """Create a folder and its missing parents; return the folders that were created, the deepest first."""
    folders: list[Path] = []
    try:
        for path in reversed([folder, *folder.parents]):
            if not path.exists():
                path.mkdir(exist_ok=True)
                folders.insert(0, path)
    except BaseException:
        for path in folders:
            path.rmdir()
        raise
    return folders
