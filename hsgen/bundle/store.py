"""Functions that read, compare and verify a bundle on disk; `hsgen.bundle.update` writes bundles.

While a function reads, it holds a shared lock on the bundle's folder.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote

from hsgen.bundle import manifest_parser, transaction
from hsgen.bundle.manifest import MANIFEST, Manifest
from hsgen.core.errors import Usage, Wrong, printable, shown
from hsgen.emit import single_parts, spirv_file
from hsgen.system.lock import locked
from hsgen.system.tree import Tree

EDITED = "edited by hand"
"""The text in `Differences.reasons` for a file whose hash differs from that in the manifest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """The files in which a folder differs from an expected bundle, as paths in the bundle.

    stale: files whose content differs from that in the bundle.  missing: files of the bundle that the folder lacks.
    unexpected: files in the folder that the bundle lacks.  reasons: why files are stale, by path, where known.
    """

    stale: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.stale or self.missing or self.unexpected)

    def rows(self) -> list[tuple[str, str]]:
        """Return ("stale", "missing" or "unexpected", path) for each file that differs."""
        named = (("stale", self.stale), ("missing", self.missing), ("unexpected", self.unexpected))
        return [(word, path) for word, paths in named for path in paths]

    def lines(self) -> list[str]:
        """Return a line of text for each file that differs."""
        why = {path: f": {reason}" for path, reason in self.reasons.items()}
        return [f"{word} {shown(path)}{why.get(path, '')}" for word, path in self.rows()]

    def remedy(self, command: str) -> str:
        """Return advice to a user: what to do so that the folder equals the bundle.

        command: the command that generates the bundle.
        """
        files = "file" if len(self.unexpected) == 1 else "files"
        return f"{command} and delete the unexpected {files}" if self.unexpected else command


@contextmanager
def refusals(folder: Path, verb: str) -> Iterator[None]:
    """Convert an `OSError` in the context to `Usage`, with a message of one line.

    verb: "read" or "written", for the message.

    Raises:
        Usage: an `OSError` occurred.
    """
    try:
        yield
    except OSError as e:
        where, why = shown(e.filename or folder), e.strerror or e
        raise Usage(f"{where}: cannot be {verb} ({why}); name a folder that can") from None


@contextmanager
def reading(folder: Path) -> Iterator[Tree | None]:
    """Open the folder of a bundle, hold a shared lock on it, and yield it; yield None if the folder does not exist.

    Raises:
        Usage: the folder cannot be read, or an entry is neither a file nor a folder.
        Wrong: an update of the bundle was interrupted.
    """
    with refusals(folder, "read"), locked(folder) as tree:
        if tree is not None:
            tree.files()
            if transaction.unfinished(tree):
                again = f"hsgen generate -o {quote(str(folder))}"
                raise Wrong(f"{shown(folder)}: an update of it was interrupted; run: {again}")
        yield tree


def no_bundle(folder: Path, hint: str = f"name a folder with a {MANIFEST}") -> Usage:
    """Return the error for a folder that is missing or empty but should contain a bundle."""
    return Usage(f"{shown(folder)}: no bundle there; {hint}")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the bundle in `folder`.

    Raises:
        Usage: the folder cannot be read, holds no bundle, or its manifest is invalid.
        Wrong: an update of the bundle was interrupted.
    """
    with reading(folder) as tree:
        data = recorded(tree)
    if (manifest := parsed(folder, data)) is None:
        raise no_bundle(folder)
    return manifest


def recorded(tree: Tree | None) -> bytes | None:
    """Return the content of the manifest file; None if the folder is missing or empty.

    Raises:
        Usage: the folder has files but no manifest.
    """
    if tree is None or tree.is_file(MANIFEST):
        return None if tree is None else tree.read(MANIFEST, manifest_parser.LARGEST)
    if any(not path.startswith(f"{transaction.WORK}/") for path in tree.files()):
        raise Usage(f"{shown(tree.root)}: not empty and without {MANIFEST}; name a new folder or a bundle")
    return None


def parsed(folder: Path, data: bytes | None) -> Manifest | None:
    """Return the manifest parsed from the bytes that `recorded` returned.

    Raises:
        Usage: the manifest is invalid.
    """
    return None if data is None else manifest_parser.parse_manifest(data, shown(folder / MANIFEST))


def compare(folder: Path, expected: Mapping[str, str]) -> Differences:
    """Return the differences between the files in `folder` and the `expected` hashes by path.

    Raises:
        Usage: the folder cannot be read.
        Wrong: an update of the bundle was interrupted.
    """
    with reading(folder) as tree:
        return Differences(missing=tuple(sorted(expected))) if tree is None else _compared(tree, expected)


def verify(folder: Path) -> tuple[Manifest, Differences]:
    """Return the manifest of a bundle and the folder's differences from it.

    A SPIR-V file, or the SPIR-V section of a header, must also have exactly the syntax that hsgen writes.  Otherwise it
    counts as stale even if its hash is the one in the manifest.

    Raises:
        Usage: the folder cannot be read, holds no bundle, or its manifest is invalid.
        Wrong: an update of the bundle was interrupted.
    """
    with reading(folder) as tree:
        if tree is None or (manifest := parsed(folder, recorded(tree))) is None:
            raise no_bundle(folder)
        differences = _compared(tree, manifest.hashes)
        present = set(manifest.hashes) - set(differences.missing)
        foreign = (single_parts if manifest.single else spirv_file).foreign(present, tree.read)
        reasons = {
            **dict.fromkeys(foreign, "holds something other than SPIR-V"),
            **dict.fromkeys(differences.stale, EDITED),
        }
        return manifest, replace(differences, stale=tuple(sorted({*differences.stale, *foreign})), reasons=reasons)


def _compared(tree: Tree, expected: Mapping[str, str]) -> Differences:
    present = set(tree.files(empty=True))
    shared = sorted(present & set(expected))
    return Differences(
        stale=tuple(p for p in shared if tree.digest(p) != expected[p]),
        missing=tuple(sorted(set(expected) - present)),
        unexpected=tuple(sorted(present - set(expected) - {MANIFEST})),
    )


def sizes(folder: Path, paths: Iterable[str]) -> list[tuple[str, int]]:
    """Return (path, size in bytes) for each file of a bundle that `paths` names.

    Raises:
        Usage: a file cannot be read.
        Wrong: an update of the bundle was interrupted.
    """
    with reading(folder) as tree:
        return [(path, tree.size(path)) for path in sorted(paths)] if tree else []


def unified(folder: Path, files: Mapping[str, bytes], names: Iterable[str]) -> str:
    """Return a unified diff from the files `names` in `folder` to their content in `files`."""
    out: list[str] = []
    with reading(folder) as tree:
        for name in names:
            text = tree.read(name).decode(errors="backslashreplace") if tree and tree.is_file(name) else ""
            ends = f"{name} in {folder.as_posix()}", f"{name} as generated"
            want = files.get(name, b"").decode().split("\n")
            lines = difflib.unified_diff(text.split("\n"), want, *ends, lineterm="")
            out += ["\t".join(printable(part, 1 << 20) for part in line.split("\t")) for line in lines]
    return "\n".join(out)
