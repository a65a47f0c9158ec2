"""``hsgen generate``, ``check`` and ``verify``: bundles on disk."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from shlex import quote

import click

from hsgen.bundle import store
from hsgen.bundle.build import Files, Modules, build, sorts
from hsgen.bundle.manifest import COMPANIONS, MANIFEST, Choice, Manifest, again, digest, shared_out, widened
from hsgen.bundle.store import compare, read_manifest, unified
from hsgen.bundle.update import Change, update
from hsgen.cli.common import Folder, Wanted, emit_json, json_option, require_option, required, wanted_options
from hsgen.cli.epilogues import refuse, same, trust_option, unknown
from hsgen.core.errors import Unavailable, Usage, Wrong, shown
from hsgen.emit.c_files import PREFIX, check_prefix
from hsgen.targets import target as target_files
from hsgen.targets.target import AUTO, Target

_folder = click.option(
    "-o",
    "--output",
    "folder",
    type=Folder(),
    default=Path("generated"),
    show_default=True,
    help="The folder of the bundle.",
)
_targets = click.option("-t", "--target", "names", multiple=True, help="A target's name, or a file ending in .toml.")


@click.command()
@_targets
@wanted_options
@click.option("--api", "apis", multiple=True, help="Only this API, for those of the targets that have it.")
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    metavar="NAME",
    help="This algorithm or variant, as `hsgen targets` lists it; by default auto, the sort for any "
    "count, and digest, the check of a result.",
)
@click.option("--remove", "removed", multiple=True, metavar="NAME", help="Take this target out of the bundle.")
@click.option("--prefix", help=f"What C names begin with; {PREFIX} if the bundle has none yet.")
@click.option("--dry-run", is_flag=True, help="List what would be written; write nothing.")
@trust_option
@_folder
@json_option
def generate(
    names: tuple[str, ...],
    wanted: Wanted,
    apis: tuple[str, ...],
    algorithms: tuple[str, ...],
    removed: tuple[str, ...],
    prefix: str | None,
    dry_run: bool,
    trusted: bool,
    folder: Path,
    as_json: bool,
) -> None:
    """Write kernels, plans and C files of the named targets into a bundle.

    Adds or replaces the files of these targets only.  The request is merged with what the bundle already holds;
    --remove removes a target.  Files that would not change are not written.  Without -t, all targets of the bundle are
    generated again.  The last line is the SHA-256 of the manifest, for `hsgen verify --expect`.
    """
    if (wanted or apis or algorithms) and not names:
        raise Usage(
            "--key, --value, --order, --feature, --epilogue, --api and --algorithm choose within a target; "
            "name it with -t"
        )

    def make(old: Manifest | None) -> tuple[Files, Manifest]:
        for name in removed:
            if old is None or name not in old.targets:
                raise Usage(f"{folder}: holds no target {name} that could be removed")
        kept = old.without(removed) if old else None
        parts = _named(names, wanted, apis, algorithms, kept)
        if not parts and not removed:
            if old is None:
                raise store.no_bundle(folder, "name targets with -t, `hsgen targets` lists them")
            parts = _recorded(folder, old)
        begin = check_prefix(prefix if prefix is not None else old.prefix if old else PREFIX)
        if kept and (begin != kept.prefix or not all(e.sorts for e in kept.targets.values())):
            parts = {**_recorded(folder, kept, names), **parts}  # all C files change
        texts = {name: choice.epilogue for name, (_, choice) in parts.items()}
        refuse(folder, unknown(texts, wanted.epilogue, trusted=trusted))
        return _built(folder, old, kept, parts, begin)

    change = update(folder, make, note=lambda line: click.echo(f"hsgen: {line}", err=True), dry_run=dry_run)
    _say(folder, change, dry_run, as_json)


def _say(folder: Path, change: Change, dry_run: bool, as_json: bool) -> None:
    """Print what was done, or would be."""
    if as_json:
        rows = [(p, "written") for p in change.written] + [(p, "removed") for p in change.removed]
        rows += [(MANIFEST, "unchanged")] * (MANIFEST not in change.written)
        emit_json([{"path": p, "state": s, "dry_run": dry_run, "sha256": change.hashes.get(p)} for p, s in rows])
        return
    for path in change.written:
        click.echo(f"{'would write' if dry_run else 'wrote'} {shown(folder / path)}")
    for path in change.removed:
        click.echo(f"{'would remove' if dry_run else 'removed'} {shown(folder / path)}")
    if not change.written and not change.removed:
        click.echo(f"{shown(folder)} is up to date")
    click.echo(f"SHA-256 of {MANIFEST}: {change.hashes[MANIFEST]}")


def _built(
    folder: Path, old: Manifest | None, kept: Manifest | None, parts: dict[str, tuple[Target, Choice]], prefix: str
) -> tuple[Files, Manifest]:
    """The files and the manifest of a bundle; says on stderr which SPIR-V could not be made.

    Raises:
        Unavailable: SPIR-V that the bundle has would be lost.
    """
    words = Modules(folder, old, prefix)
    files, manifest = build(parts, words, prefix, kept)
    if words.lost:
        reason = "must be made again, and no GLSL compiler is here; install"
        raise Unavailable(*(f"{folder / path}: {reason} {compiler}" for path, compiler in words.lost.items()))
    for path, compiler in words.missing.items():
        click.echo(f"hsgen: {path}: not made, GLSL alone: no GLSL compiler here; install {compiler}", err=True)
    return files, manifest


def _named(
    names: tuple[str, ...],
    wanted: Wanted,
    apis: tuple[str, ...],
    algorithms: tuple[str, ...],
    kept: Manifest | None,
) -> dict[str, tuple[Target, Choice]]:
    """The targets that the command line names, each with what it asks for and what the bundle has of it."""
    targets = [target_files.find(name) for name in names]
    parts: dict[str, tuple[Target, Choice]] = {}
    for found, own in zip(targets, shared_out(apis, targets), strict=True):
        if found.name in parts:
            raise Usage(f"target {found.name}: named twice; name it once")
        have = kept.targets.get(found.name) if kept else None
        chosen = wanted.choice(found, own, algorithms or (AUTO, *COMPANIONS))
        sorts(found, chosen, wanted.keys)  # what is asked for goes together, whatever the bundle has besides
        parts[found.name] = (found, widened(chosen, have.choice if have else None, found))
    return parts


def _recorded(folder: Path, old: Manifest, names: tuple[str, ...] = ()) -> dict[str, tuple[Target, Choice]]:
    """The targets of a bundle with the choices that its manifest records; `names` may give files for them."""
    given = {t.name: t for t in (target_files.find(n) for n in names)}
    parts = {}
    for name, entry in old.targets.items():
        if name not in given and name not in target_files.names():
            raise Usage(f"{folder}: target {name} does not come with hsgen; give its file with -t {name}.toml")
        found = given.get(name) or target_files.find(name)
        parts[name] = (found, again(found, entry.choice))
    return parts


@click.command()
@_folder
@_targets
@click.option("--diff", is_flag=True, help="Print what would change (not with --json).")
@click.option(
    "--epilogue", type=click.Path(path_type=Path), metavar="FILE", help="The epilogue that it must have been made with."
)
@trust_option
@require_option
@json_option
def check(
    folder: Path,
    names: tuple[str, ...],
    diff: bool,
    epilogue: Path | None,
    trusted: bool,
    require: bool,
    as_json: bool,
) -> None:
    """Say whether a bundle is what hsgen generates today; exit with 1 if not.

    Reads the targets and options from the bundle's manifest.  -t is needed only for targets that do not come with
    hsgen.  SPIR-V is compiled again and compared if the compiler that the manifest records is installed; if not,
    everything else is checked, and the exit code is 3.  If only the manifest has the epilogue of a target, everything
    else is checked, and the exit code is 2 unless something is stale.
    """
    with required(require):
        old = read_manifest(folder)
        if epilogue is not None:
            same(folder, old, epilogue)
        texts = {name: entry.choice.epilogue for name, entry in old.targets.items()}
        _check(folder, old, names, unknown(texts, trusted=trusted or epilogue is not None), diff, as_json)


def _check(
    folder: Path, old: Manifest, names: tuple[str, ...], unknown: tuple[str, ...], diff: bool, as_json: bool
) -> None:
    """Compare a bundle with what is generated today; of targets that are `unknown`, files with their hashes."""
    for name in names:
        if target_files.find(name).name not in old.targets:
            raise Usage(f"{folder}: holds no target {name}; it has {', '.join(old.targets)}")
    parts = _recorded(folder, old.without(unknown), names)
    words = Modules(folder, old, old.prefix, checking=True)
    files, manifest = build(parts, words, old.prefix, old)
    found = compare(folder, {**manifest.hashes, MANIFEST: digest(manifest.bytes())})
    found = replace(found, stale=tuple(sorted({*found.stale, *words.unsound} - set(found.missing))))
    if as_json:
        paths = [*words.missing, *(p for name in unknown for p in sorted(old.targets[name].files))]
        unchecked = [] if found else [("unchecked", p) for p in paths]
        emit_json([{"path": p, "state": s} for s, p in [*found.rows(), *unchecked]])
    elif diff:
        files[MANIFEST] = manifest.bytes()
        click.echo(unified(folder, files, (*found.stale, *found.missing)))
    if found:
        custom = "".join(f" -t {quote(n)}" for n in names)
        raise Wrong(
            *(f"{folder}: {line}" for line in found.lines()),
            f"{folder}: not up to date; run: hsgen generate -o {quote(str(folder))}{custom}"
            + (" and delete the unexpected files" if found.unexpected else ""),
        )
    refuse(folder, unknown)
    if words.missing:
        raise Unavailable(
            *(f"{folder}: {p}: was compiled by {c}, which is not here" for p, c in words.missing.items()),
            f"{folder}: all but this SPIR-V is up to date",
        )
    if not as_json:
        click.echo(f"{shown(folder)} is up to date ({len(manifest.hashes)} files)")


@click.command()
@click.argument("folder", type=Folder())
@click.option(
    "--expect", metavar="SHA256", help="The hash that the manifest must have, as `hsgen generate` printed it."
)
@json_option
def verify(folder: Path, expect: str | None, as_json: bool) -> None:
    """Say whether every file of the bundle in FOLDER has the hash that its manifest records.

    Needs neither templates nor targets.  The manifest lists the hash of every other file, so --expect with a hash from
    another source, such as a release, verifies the whole bundle.
    """
    if expect is not None and not re.fullmatch("[0-9A-Fa-f]{64}", expect):
        raise Usage(f"expect {expect[:80]!r}: is no SHA-256; give its 64 hexadecimal digits")
    manifest, found = store.verify(folder)
    if expect is not None and manifest.read != expect.lower():
        raise Wrong(
            f"{folder}: {MANIFEST} has the SHA-256 {manifest.read}, not {expect.lower()}; take it from its source"
        )
    if as_json:
        emit_json([{"path": p, "state": s} for s, p in found.rows()])
    if found:
        raise Wrong(
            *(f"{folder}: {line}" for line in found.lines()),
            f"{folder}: was changed after it was generated; run: hsgen generate -o {quote(str(folder))}",
        )
    if not as_json:
        click.echo(f"{shown(folder)} is as it was generated ({len(manifest.hashes)} files)")
