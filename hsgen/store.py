"""What becomes of a bundle on disk: write it, compare it, verify it, remove from it.

Reading takes a lock that several can share, writing one of its own; see `hsgen.transaction` for what a write consists
of.  Files that did not change are not touched, and files that no manifest lists are neither overwritten nor removed.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from hsgen import manifest_parser, spirv_file, transaction
from hsgen.bundle import Files
from hsgen.errors import Usage, Wrong, printable, shown
from hsgen.interrupts import held
from hsgen.lock import locked
from hsgen.manifest import MANIFEST, Manifest, digest
from hsgen.tree import Tree

_TRIES = 5  # of an update that others get ahead of


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """How a folder departs from a bundle, as paths within it."""

    stale: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stale or self.missing or self.unexpected)

    def rows(self) -> list[tuple[str, str]]:
        """Return what is the matter with each file, and its path."""
        named = (("stale", self.stale), ("missing", self.missing), ("unexpected", self.unexpected))
        return [(word, path) for word, paths in named for path in paths]

    def lines(self) -> list[str]:
        """Return one line for each file."""
        return [f"{word} {shown(path)}" for word, path in self.rows()]


@contextmanager
def _errors(folder: Path, what: str) -> Iterator[None]:
    """Turn what the system refuses into one line."""
    try:
        yield
    except OSError as e:
        where, why = shown(e.filename or folder), e.strerror or e
        raise Usage(f"{where}: cannot be {what} ({why}); name a folder that can") from None


@contextmanager
def _reading(folder: Path) -> Iterator[Tree | None]:
    """A bundle at rest; None where nothing is there.

    Raises:
        Usage: it cannot be read, or holds what is neither a file nor a folder.
        Wrong: an update of it was interrupted.
    """
    with _errors(folder, "read"), locked(folder) as tree:
        if tree is not None:
            tree.files()
            if transaction.unfinished(tree):
                again = f"hsgen generate -o {quote(str(folder))}"
                raise Wrong(f"{shown(folder)}: an update of it was interrupted; run: {again}")
        yield tree


def no_bundle(folder: Path, hint: str = f"name a folder with a {MANIFEST}") -> Usage:
    """Return the error that a folder is missing, or empty, where a bundle was to be."""
    return Usage(f"{shown(folder)}: no bundle there; {hint}")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the bundle in `folder`.

    Raises:
        Usage: the folder cannot be read, holds no bundle, or its manifest is none.
        Wrong: an update of it was interrupted.
    """
    with _reading(folder) as tree:
        data = _recorded(tree)
    if (manifest := _parsed(folder, data)) is None:
        raise no_bundle(folder)
    return manifest


def _recorded(tree: Tree | None) -> bytes | None:
    """The text of a manifest; None where there is nothing at all."""
    if tree is None or tree.is_file(MANIFEST):
        return None if tree is None else tree.read(MANIFEST, manifest_parser.LARGEST)
    if any(not path.startswith(f"{transaction.WORK}/") for path in tree.files()):
        raise Usage(f"{shown(tree.root)}: not empty and without {MANIFEST}; name a new folder or a bundle")
    return None


def _parsed(folder: Path, data: bytes | None) -> Manifest | None:
    return None if data is None else manifest_parser.parse_manifest(data, shown(folder / MANIFEST))


def compare(folder: Path, expected: Mapping[str, str]) -> Differences:
    """Compare `folder` with hashes, that of the manifest among them or not.

    Raises:
        Usage: the folder cannot be read.
        Wrong: an update of it was interrupted.
    """
    with _reading(folder) as tree:
        return Differences(missing=tuple(sorted(expected))) if tree is None else _compared(tree, expected)


def verify(folder: Path) -> tuple[Manifest, Differences]:
    """Return the manifest of a bundle and how the folder departs from it.

    A file of SPIR-V that holds anything but words departs from it, whatever hash the manifest has.

    Raises:
        Usage: the folder cannot be read, holds no bundle, or its manifest is none.
        Wrong: an update of it was interrupted.
    """
    with _reading(folder) as tree:
        if tree is None or (manifest := _parsed(folder, _recorded(tree))) is None:
            raise no_bundle(folder)
        found = _compared(tree, manifest.hashes)
        foreign = spirv_file.foreign(set(manifest.hashes) - set(found.missing), tree.read)
        return manifest, replace(found, stale=tuple(sorted({*found.stale, *foreign})))


def _compared(tree: Tree, expected: Mapping[str, str]) -> Differences:
    found = set(tree.files(empty=True))
    shared = sorted(found & set(expected))
    return Differences(
        stale=tuple(p for p in shared if tree.digest(p) != expected[p]),
        missing=tuple(sorted(set(expected) - found)),
        unexpected=tuple(sorted(found - set(expected) - {MANIFEST})),
    )


def sizes(folder: Path, paths: Iterable[str]) -> list[tuple[str, int]]:
    """Return files of a bundle with their bytes on disk.

    Raises:
        Usage: one cannot be read.
        Wrong: an update of the bundle was interrupted.
    """
    with _reading(folder) as tree:
        return [(path, tree.size(path)) for path in sorted(paths)] if tree else []


def unified(folder: Path, files: Files, names: Iterable[str]) -> str:
    """Return what would change in the files `names`, as a unified diff."""
    out: list[str] = []
    with _reading(folder) as tree:
        for name in names:
            text = tree.read(name).decode(errors="backslashreplace") if tree and tree.is_file(name) else ""
            ends = f"{name} in {folder.as_posix()}", f"{name} as generated"
            want = files.get(name, b"").decode().split("\n")
            lines = difflib.unified_diff(text.split("\n"), want, *ends, lineterm="")
            out += ["\t".join(printable(part, 1 << 20) for part in line.split("\t")) for line in lines]
    return "\n".join(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an update writes and removes, paths in the bundle, and the hashes of all files, of the manifest too."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    hashes: Mapping[str, str]


Make = Callable[[Manifest | None], tuple[Files, Manifest]]
"""From the manifest that a folder has to the files of the bundle that it is to be, and their manifest."""


def update(folder: Path, make: Make, *, note: Callable[[str], None], dry_run: bool = False) -> Change:
    """Make the bundle in `folder` what `make` returns, or, with `dry_run`, say what that would change.

    An update that was interrupted is finished or taken back first; `note` gets a line about it.

    Raises:
        Usage: the folder cannot be read or written, or holds what would be lost; it is then as it was.  Where the
            system refuses to bring a file to its place, the next update goes on from there.
        Wrong: an update was interrupted, and with `dry_run` nothing is done about it.
        KeyboardInterrupt, Terminated: asked to end; the folder is as it was, or as it was to be.
    """
    for _ in range(_TRIES):
        if not dry_run:
            _healed(folder, note)
        with _reading(folder) as tree:
            data = _recorded(tree)
        files, manifest = make(_parsed(folder, data))
        manifest_parser.refuse_names(manifest, shown(folder / MANIFEST))
        wanted = {**files, MANIFEST: manifest.bytes()}
        if dry_run:
            with _reading(folder) as tree:
                return _change(folder, tree, wanted, _parsed(folder, data), manifest)[0]
        if (change := _write(folder, wanted, data, manifest)) is not None:
            return change
    raise Usage(f"{shown(folder)}: others keep writing to it; run this again when they have ended")


def _healed(folder: Path, note: Callable[[str], None]) -> None:
    with _errors(folder, "written"), held() as check, locked(folder, write=True, check=check) as tree:
        if tree is not None and (done := transaction.heal(tree)):
            note(f"{shown(folder)}: {done}")


def _change(
    folder: Path, tree: Tree | None, wanted: Files, old: Manifest | None, new: Manifest
) -> tuple[Change, Files]:
    """What has to change, and the new content of files that do.

    Raises:
        Usage: that would lose something, or something is in the way.
    """
    known = old.hashes if old else {}
    have = {p: tree.digest(p) if tree else None for p in {*wanted, *known} - (set(new.hashes) - set(wanted))}
    changed = {path: data for path, data in wanted.items() if have[path] != digest(data)}
    gone = sorted(p for p in set(known) - set(new.hashes) if have[p])
    foreign = [p for p in changed if have[p] and p not in known and p != MANIFEST]
    edited = [p for p in gone if have[p] != known[p]]
    _keep(folder, foreign, "is not listed in the manifest, and would be overwritten")
    _keep(folder, edited, "was changed since it was generated, and would be removed")
    if tree:
        for path in [*changed, *gone]:
            _look(tree, path)
    hashes = {**new.hashes, MANIFEST: digest(wanted[MANIFEST])}
    return Change(written=tuple(sorted(changed)), removed=tuple(gone), hashes=hashes), changed


def _keep(folder: Path, paths: list[str], why: str) -> None:
    """Refuse to lose files."""
    if paths:
        more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
        raise Usage(f"{shown(folder / sorted(paths)[0])}{more}: {why}; move it away")


def _look(tree: Tree, path: str) -> None:
    """Refuse, before anything is written, folders in which nothing can be."""
    above = path.rpartition("/")[0]
    while above and tree.kind(above) is None:
        above = above.rpartition("/")[0]
    for folder in {"", above}:
        if not tree.writable(folder):
            raise Usage(f"{shown(tree.root / folder)}: cannot be written; name a folder that can")


def _write(folder: Path, wanted: Files, data: bytes | None, manifest: Manifest) -> Change | None:
    """Do it; None where the folder is not what it was when the bundle was made."""
    with _errors(folder, "written"), held() as check:
        made = _make_folders(folder)
        try:
            with locked(folder, write=True, check=check) as tree:
                if tree is None or transaction.unfinished(tree) or _recorded(tree) != data:
                    return None
                tree.files()
                change, files = _change(folder, tree, wanted, _parsed(folder, data), manifest)
                if files or change.removed:
                    transaction.commit(tree, files, data, check)
                return change
        finally:
            for path in made:
                with suppress(OSError):  # it holds the bundle, or what others put there
                    path.rmdir()


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder and what lies above it; return what was missing, the lowest first."""
    made: list[Path] = []
    try:
        for path in reversed([folder, *folder.parents]):
            if not path.exists():
                path.mkdir(exist_ok=True)
                made.insert(0, path)
    except BaseException:
        for path in made:
            path.rmdir()
        raise
    return made
