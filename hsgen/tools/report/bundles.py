"""Collects what a report about a bundle shows: its targets with their generated sorts, and its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hsgen.bundle.choosing import again
from hsgen.bundle.manifest import Entry, Manifest
from hsgen.bundle.selection import sorts
from hsgen.bundle.store import read_manifest, sizes
from hsgen.core.errors import Usage
from hsgen.targets import target as target_files
from hsgen.targets.target import Target
from hsgen.tools.report.page import Contents, Subject


def epilogues(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the epilogues of the targets that a page would show, by target name, without rendering them.

    Raises:
        Usage: as for `contents`.
    """
    manifest = read_manifest(folder)
    return {t.name: manifest.targets[t.name].choice.epilogue for t in _targets(folder, manifest, names)}


def contents(folder: Path, names: Sequence[str]) -> Contents:
    """Return the contents of a page about the bundle in `folder`.

    The page shows the targets in `names`, or all targets of the bundle if `names` is empty.

    Raises:
        Usage: there is no bundle, it lacks a target or a file, or a target does not come with hsgen and `names` lacks
            its file.
    """
    manifest = read_manifest(folder)
    if not manifest.targets:
        raise Usage(f"{folder}: holds no target; generate one into it")
    subjects = [_subject(folder, manifest.targets[t.name], t) for t in _targets(folder, manifest, names)]
    common = sizes(folder, manifest.common)
    rows = [
        ("made by", f"hsgen {manifest.version}"),
        ("prefix of C names", manifest.prefix),
        ("targets", ", ".join(manifest.targets)),
        ("files", f"{len(manifest.hashes)} and the manifest"),
    ]
    one = subjects[0].target.name if names and len(subjects) == 1 else "all targets"
    return Contents(title=f"Bundle: {one}", subjects=subjects, bundle=rows, common=common)


def _targets(folder: Path, manifest: Manifest, names: Sequence[str]) -> list[Target]:
    """Return the targets to show, in the order of the manifest."""
    named = {t.name: t for t in map(target_files.find, names)}
    for name in named:
        if name not in manifest.targets:
            raise Usage(f"{folder}: holds no target {name}; it has {', '.join(manifest.targets)}")
    shown = [name for name in manifest.targets if name in named or not named]
    for name in shown:
        if name not in named and name not in target_files.names():
            raise Usage(f"{folder}: target {name} does not come with hsgen; give its file with -t {name}.toml")
    return [named[name] if name in named else target_files.find(name) for name in shown]


def _subject(folder: Path, entry: Entry, target: Target) -> Subject:
    have = entry.choice
    return Subject(
        target=target, sorts=sorts(target, again(target, have)), apis=have.apis, files=sizes(folder, entry.files)
    )
