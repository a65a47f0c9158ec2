"""Atomic updates of a bundle on disk, even if the process is killed at any moment.

An update has four phases:
1. hsgen writes the new files to a work folder in the bundle, and a journal that lists their destinations.
2. hsgen renames the journal to its final name.  The rename commits the update.
3. hsgen renames each new file to its destination, the manifest last.
4. hsgen removes the files that only the old manifest lists, then the journal and the work folder.
If a later run finds a work folder with a journal of that final name, it resumes the update at phase 3.  Without such a
journal, it discards the work folder.

A journal that is found on disk is untrusted.  It may put only files that the new manifest lists with the same hashes.
It may delete only files whose hashes match the old manifest, which the journal contains.
`hsgen.bundle.manifest_parser.refuse_names` checks the paths in both manifests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from hsgen.bundle.manifest import MANIFEST, Manifest, digest
from hsgen.bundle.manifest_parser import LARGEST, parse_manifest
from hsgen.core.errors import Usage, shown
from hsgen.system import documents
from hsgen.system.tree import Tree

WORK = ".hsgen-work"
_NEW = f"{WORK}/new"
_JOURNAL = f"{WORK}/journal.json"
_PART = f"{WORK}/journal.part"
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Put:
    """A *staged* file: a new file that waits in the work folder to be moved to its destination.

    path: the destination in the bundle.  number: the file's name in the work folder.  new: the file's hash.  before:
    the hash of the file that it replaces, or None.
    """

    path: str
    number: int
    new: str
    before: str | None

    @property
    def staged(self) -> str:
        """The path of the staged file."""
        return f"{_NEW}/{self.number:06d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The journal of an update, from which a later run can complete the update.

    old: the content of the previous manifest, or None.  puts: all staged files; the new manifest is the last.
    """

    old: bytes | None
    puts: tuple[Put, ...]

    def bytes(self) -> bytes:
        """Return the content of the journal file."""
        puts = [[p.path, p.number, p.new, p.before] for p in self.puts]
        old = None if self.old is None else self.old.decode()
        return json.dumps({"schema": _SCHEMA, "old": old, "puts": puts}, indent=0).encode()


def unfinished(tree: Tree) -> bool:
    """Whether the bundle still has the work folder of an update whose process was killed."""
    return tree.kind(WORK) is not None


def commit(tree: Tree, files: Mapping[str, bytes], old: bytes | None, check: Callable[[], None]) -> None:
    """Write `files`, and remove the files that only the manifest `old` lists.

    check: a function that is called repeatedly before the commit, and may raise to cancel the update.

    Raises:
        OSError: a file cannot be written.  The bundle is unchanged, or there is a journal from which `heal` resumes.
    """
    order = sorted(files, key=lambda p: (p == MANIFEST, p))
    puts = tuple(Put(p, i, digest(files[p]), tree.digest(p)) for i, p in enumerate(order))
    journal = Journal(old=old, puts=puts)
    tree.mkdir(WORK)
    try:
        tree.mkdir(_NEW)
        for put in puts:
            check()
            tree.create(put.staged, files[put.path])
        tree.create(_PART, journal.bytes())
        check()
        tree.rename(_PART, _JOURNAL)
    except BaseException:
        with suppress(OSError):  # the original error matters more; the next run discards what remains
            _discard(tree)
        raise
    _roll_forward(tree, journal)


def heal(tree: Tree) -> str | None:
    """Complete or discard an interrupted update; return a message about it, or None if no update was interrupted.

    Raises:
        Usage: the work folder has files that are not hsgen's, or the journal is damaged.
        OSError: a file cannot be written.
    """
    if not unfinished(tree):
        return None
    if not tree.is_file(_JOURNAL):
        _discard(tree)
        return "an update that was interrupted has been discarded"
    _roll_forward(tree, _read(tree))
    return "an update that was interrupted has been completed"


def _discard(tree: Tree) -> None:
    """Remove the work folder of an update that was not committed, with its staged files."""
    staged = _staged(tree)
    for path in staged:
        tree.unlink(path)
    if tree.kind(_NEW):
        tree.rmdir(_NEW)
    if tree.kind(_PART):
        tree.unlink(_PART)
    tree.rmdir(WORK)


def _staged(tree: Tree) -> list[str]:
    """Return the paths of the staged files in the work folder.

    Raises:
        Usage: the work folder has files that are not hsgen's.
    """
    for name in tree.names(WORK):
        path = f"{WORK}/{name}"
        if path not in (_NEW, _PART, _JOURNAL):
            raise _strange(tree, path)
        if path != _NEW:
            tree.is_file(path)
    inside = [f"{_NEW}/{name}" for name in (tree.names(_NEW) if tree.kind(_NEW) else ())]
    for path in inside:
        if not re.fullmatch(rf"{_NEW}/\d{{6}}", path):
            raise _strange(tree, path)
        tree.is_file(path)
    return inside


def _strange(tree: Tree, path: str) -> Usage:
    return Usage(f"{shown(tree.root / path)}: is not hsgen's; move it away")


def _damaged(tree: Tree, problem: str) -> Usage:
    hint = f"delete the folder {WORK} there and generate again"
    return Usage(f"{shown(tree.root / _JOURNAL)}: {problem}; {hint}")


def _read(tree: Tree) -> Journal:
    """Read the journal of an interrupted update, check it against the staged files, and return it.

    Raises:
        Usage: the journal is damaged.
    """
    try:
        name = shown(tree.root / _JOURNAL)
        raw = documents.parsed_json(documents.decoded(tree.read(_JOURNAL, 2 * LARGEST), name, ""), name, "")
        puts = tuple(Put(*row) for row in raw["puts"])
        old = None if raw["old"] is None else raw["old"].encode()
        key_transform = all(
            isinstance(p.path, str) and type(p.number) is int and 0 <= p.number < 10**6 and isinstance(p.new, str)
            for p in puts
        )
        if raw["schema"] != _SCHEMA or not key_transform:
            raise ValueError
    except (Usage, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _damaged(tree, "is no journal of this hsgen") from None
    if old is not None:
        parse_manifest(old, shown(tree.root / _JOURNAL))
    _check(tree, puts)
    return Journal(old=old, puts=puts)


def _check(tree: Tree, puts: tuple[Put, ...]) -> None:
    """Check that the new manifest lists all files of the journal, and that the journal lists all staged files.

    Raises:
        Usage: the journal is damaged.
    """
    staged = set(_staged(tree))
    last = puts[-1].staged if puts and puts[-1].path == MANIFEST and puts[-1].staged in staged else MANIFEST
    expected = _manifest(tree, last).hashes
    for put in puts[:-1] if puts and puts[-1].path == MANIFEST else puts:
        if expected.get(put.path) != put.new:
            raise _damaged(tree, f"puts a file at {shown(repr(put.path))} that the manifest does not list")
    if len({p.staged for p in puts}) < len(puts) or staged - {p.staged for p in puts}:
        raise _damaged(tree, "does not list the files that wait")


def _manifest(tree: Tree, path: str) -> Manifest:
    if not tree.is_file(path):
        raise _damaged(tree, "belongs to no manifest")
    return parse_manifest(tree.read(path, LARGEST), shown(tree.root / path))


def _roll_forward(tree: Tree, journal: Journal) -> None:
    """Move the files that are still staged to their destinations, and finish the update."""
    waiting = []
    for put in journal.puts:
        there = tree.digest(put.path)
        if tree.is_file(put.staged):
            if tree.digest(put.staged) != put.new:
                raise _damaged(tree, f"does not match the file that waits for {put.path}")
            if there not in (put.before, put.new):
                raise Usage(f"{shown(tree.root / put.path)}: was changed while an update was unfinished; move it away")
            waiting.append(put)
        elif there != put.new:
            raise _damaged(tree, f"does not match {put.path}, and no file waits for it")
    for put in waiting:
        tree.rename(put.staged, put.path)
    _drop(tree, journal.old)
    tree.unlink(_JOURNAL)
    tree.rmdir(_NEW)
    tree.rmdir(WORK)


def _drop(tree: Tree, old: bytes | None) -> None:
    """Remove the files that only the manifest `old` lists, and the folders that become empty.

    A file whose hash differs from that in `old` is kept.
    """
    if old is None:
        return
    before = parse_manifest(old, shown(tree.root / _JOURNAL)).hashes
    now = _manifest(tree, MANIFEST).hashes
    for path in sorted(set(before) - set(now)):
        if tree.kind(path) == "file" and tree.digest(path) == before[path]:
            tree.unlink(path)
        for folder in PurePosixPath(path).parents:
            with suppress(OSError):  # the folder is not empty, or is gone already
                if str(folder) != ".":
                    tree.rmdir(str(folder))
