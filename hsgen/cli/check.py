"""``hsgen check``: compare a bundle with what hsgen generates today."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

import click

from hsgen import __version__
from hsgen.bundle.build import Files, Modules, build
from hsgen.bundle.manifest import MANIFEST, Manifest, digest
from hsgen.bundle.store import EDITED, Differences, compare, read_manifest, unified
from hsgen.cli import terminal
from hsgen.cli.annotations import annotate, format_option
from hsgen.cli.bundle_options import place_options, recorded, targets_option
from hsgen.cli.epilogues import refuse, same, trust_option, unknown
from hsgen.cli.options import json_option, require_option, required
from hsgen.cli.output import emit_json
from hsgen.core.errors import Unavailable, Usage, Wrong, shown
from hsgen.targets import target as target_files

MOST = 40
"""Without --diff, at most this number of lines of a diff is printed."""


@click.command()
@place_options
@targets_option
@click.option("--diff", is_flag=True, help="Print what would change (not with --json).")
@click.option(
    "--epilogue", type=click.Path(path_type=Path), metavar="FILE", help="The epilogue that all targets must have."
)
@trust_option
@require_option
@format_option
@json_option
def check(
    folder: Path,
    names: tuple[str, ...],
    diff: bool,
    epilogue: Path | None,
    trusted: bool,
    require: bool,
    style: str | None,
    as_json: bool,
) -> None:
    """Verify that the bundle in FOLDER is what hsgen generates today; exit with 1 if not.

    Reads the targets and options from the bundle's manifest.  -t is needed only for targets that do not come with
    hsgen.  The first lines of edits by hand are printed.  SPIR-V is compiled again and compared if the compiler that
    the manifest records is installed; if not, everything else is checked, and the exit code is 3.  If only the manifest
    has the epilogue of a target, everything else is checked, and the exit code is 2 unless something is stale.
    """
    with required(require):
        old = read_manifest(folder)
        if epilogue is not None:
            same(folder, old, epilogue)
        texts = {name: entry.choice.epilogue for name, entry in old.targets.items()}
        left = unknown(texts, trusted=trusted or epilogue is not None)
        _check(folder, old, names, left, diff=diff, style="text" if as_json else style, as_json=as_json)


def _check(
    folder: Path,
    old: Manifest,
    names: tuple[str, ...],
    unknown: tuple[str, ...],
    *,
    diff: bool,
    style: str | None,
    as_json: bool,
) -> None:
    """Compare a bundle with what hsgen generates today; compare files of `unknown` targets only with their hashes."""
    _refuse_others(folder, old, names)
    parts = recorded(folder, old.without(unknown), names)
    words = Modules(folder, old, old.prefix, checking=True, single=old.single)
    files, manifest = build(parts, words, old.prefix, old, single=old.single)
    differences = compare(folder, {**manifest.hashes, MANIFEST: digest(manifest.bytes())})
    missing = {*differences.missing, *words.missing}
    stale = {*differences.stale, *words.unsound} - missing
    edited = set(compare(folder, old.hashes).stale)
    differences = _explained(differences, stale, missing, edited, old.version)
    if as_json:
        paths = dict.fromkeys([*words.unchecked, *sorted(set(manifest.hashes) - set(files))])
        unchecked = [] if differences else [("unchecked", p) for p in paths]
        emit_json([{"path": p, "state": s} for s, p in [*differences.rows(), *unchecked]])
    elif diff:
        files[MANIFEST] = manifest.bytes()
        click.echo(unified(folder, files, (*differences.stale, *differences.missing)))
    if differences:
        annotate(folder, differences.rows(), f"run: {_remedy(folder, differences, names)}", style)
        edits = () if diff or as_json else sorted(edited & set(differences.stale) & set(files))
        raise _stale(folder, differences, names, _excerpt(folder, files, edits))
    refuse(folder, unknown)
    if words.unchecked:
        raise Unavailable(
            *(f"{folder}: {p}: was compiled by {c}, which is not here" for p, c in words.unchecked.items()),
            f"{folder}: all but this SPIR-V is up to date",
        )
    if not as_json:
        terminal.echo_good(f"{shown(folder)} is up to date ({len(manifest.hashes)} files)")


def _refuse_others(folder: Path, old: Manifest, names: Sequence[str]) -> None:
    """Check that a bundle contains all targets that the command line names.

    Raises:
        Usage: a target is not in the bundle; the message names the first.
    """
    for name in names:
        if target_files.find(name).name not in old.targets:
            raise Usage(f"{folder}: holds no target {name}; it has {', '.join(old.targets)}")


def _explained(
    differences: Differences, stale: Collection[str], missing: Collection[str], edited: Collection[str], version: str
) -> Differences:
    """Return a copy of `differences` with the given `stale` and `missing` files, and with the reasons why files are
    stale.

    A file is stale because it was `edited`, or because another version of hsgen wrote it.  If neither is the case, a
    target or a template has changed, and the file gets no reason.
    """
    version_note = f"generated by another version, hsgen {version}" if version != __version__ else ""
    reasons = {path: EDITED if path in edited else version_note for path in stale if path in edited or version_note}
    return replace(differences, stale=tuple(sorted(stale)), missing=tuple(sorted(missing)), reasons=reasons)


def _excerpt(folder: Path, files: Files, names: Sequence[str]) -> str:
    """Return the first `MOST` lines of a diff from the edited files `names` to what hsgen generates.

    The diff omits files that differ in at least half of their lines.
    """
    diffs = [unified(folder, files, [name]).splitlines() for name in names]
    lines = [line for diff, name in zip(diffs, names, strict=True) if _partial(diff, files[name]) for line in diff]
    more = [f"... and {len(lines) - MOST} more lines; --diff prints all"] if len(lines) > MOST else []
    return "\n".join([*lines[:MOST], *more])


def _partial(diff: Sequence[str], data: bytes) -> bool:
    """Return True if a diff adds less than half of a file's lines."""
    added = sum(line.startswith("+") for line in diff[2:])
    return 2 * added < data.count(b"\n")


def _stale(folder: Path, differences: Differences, names: tuple[str, ...], detail: str) -> Wrong:
    """Return the error for a bundle that is not up to date; it names the command that updates the bundle.

    `detail` is printed after the error.
    """
    lines = (f"{folder}: {line}" for line in differences.lines())
    return Wrong(*lines, f"{folder}: not up to date; run: {_remedy(folder, differences, names)}", detail=detail)


def _remedy(folder: Path, differences: Differences, names: tuple[str, ...]) -> str:
    """Return the command that updates a bundle."""
    custom = "".join(f" -t {quote(n)}" for n in names)
    return differences.remedy(f"hsgen generate -o {quote(str(folder))}{custom}")
