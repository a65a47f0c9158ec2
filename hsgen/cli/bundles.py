"""``hsgen generate``, ``check`` and ``verify``: bundles on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from hsgen import target as target_files
from hsgen.algorithms import ALGORITHMS
from hsgen.bundle import MANIFEST, Choice, Manifest, build, choose
from hsgen.cli.common import emit_json, json_option, key_option
from hsgen.errors import Usage, Wrong
from hsgen.store import compare, read_manifest, unified, write
from hsgen.target import Target

_folder = click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("generated"),
    show_default=True,
    help="The folder of the bundle.",
)
_targets = click.option("-t", "--target", "names", multiple=True, help="A target's name, or a file ending in .toml.")


@click.command()
@_targets
@key_option
@click.option("--api", "apis", multiple=True, help="Only this API.")
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    type=click.Choice([*ALGORITHMS, "auto"]),
    help="Only this algorithm; auto takes all that the target has.",
)
@click.option("--remove", "removed", multiple=True, metavar="NAME", help="Take this target out of the bundle.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@_folder
@json_option
def generate(
    names: tuple[str, ...],
    keys: tuple[str, ...],
    apis: tuple[str, ...],
    algorithms: tuple[str, ...],
    removed: tuple[str, ...],
    dry_run: bool,
    folder: Path,
    as_json: bool,
) -> None:
    """Write kernels and launch plans of the named targets into a bundle.

    Adds or replaces the files of these targets and touches no other's; files that would not change are not
    written.  Without -t all targets that the bundle already holds are made again.
    """
    old = read_manifest(folder)
    for name in removed:
        if old is None or name not in old.choices:
            raise Usage(f"{folder}: holds no target {name} that could be removed")
    parts = {}
    for name in names:
        found = target_files.find(name)
        parts[found.name] = (found, choose(found, keys, apis, algorithms))
    if not parts and not removed:
        parts = _recorded(folder, old)
    files, manifest = build(parts, _without(old, removed))
    if dry_run:
        found_files = compare(folder, {**manifest.hashes}) if folder.is_dir() else None
        paths = [*found_files.stale, *found_files.missing] if found_files else sorted(files)
    else:
        paths = write(folder, files, manifest, old)
    if as_json:
        emit_json([{"path": p, "written": not dry_run} for p in paths])
        return
    word = "would write" if dry_run else "wrote"
    for path in paths:
        click.echo(f"{word} {folder / path}")
    if not paths:
        click.echo(f"{folder} is up to date")


def _recorded(folder: Path, old: Manifest | None, names: tuple[str, ...] = ()) -> dict[str, tuple[Target, Choice]]:
    """The targets of a bundle with the choices that its manifest records; `names` may give files for them."""
    if old is None:
        raise Usage(f"{folder}: no bundle there; name targets with -t, `hsgen targets` lists them")
    given = {t.name: t for t in (target_files.find(n) for n in names)}
    parts = {}
    for name, choice in old.choices.items():
        if name not in given and name not in target_files.names():
            raise Usage(f"{folder}: target {name} does not come with hsgen; give its file with -t {name}.toml")
        found = given.get(name) or target_files.find(name)
        parts[name] = (found, choose(found, choice.keys, choice.apis, choice.algorithms))
    return parts


def _without(old: Manifest | None, removed: tuple[str, ...]) -> Manifest | None:
    if old is None or not removed:
        return old
    return Manifest(
        version=old.version,
        common=old.common,
        choices={n: c for n, c in old.choices.items() if n not in removed},
        files={n: f for n, f in old.files.items() if n not in removed},
    )


@click.command()
@_folder
@_targets
@click.option("--diff", is_flag=True, help="Print what would change (not with --json).")
@json_option
def check(folder: Path, names: tuple[str, ...], diff: bool, as_json: bool) -> None:
    """Say whether a bundle is what hsgen generates today; exit with 1 if not.

    Reads the targets and options from the bundle's manifest.  -t is only for targets that do not come with hsgen.
    """
    old = read_manifest(folder)
    parts = _recorded(folder, old, names)
    files, manifest = build(parts, old)
    found = compare(folder, manifest.hashes)
    if manifest.bytes() != (folder / MANIFEST).read_bytes():
        found = replace(found, stale=(*found.stale, MANIFEST))
    if as_json:
        emit_json([{"path": p, "state": s} for s, p in (x.split(" ", 1) for x in found.lines())])
    elif diff:
        files[MANIFEST] = manifest.bytes()
        click.echo(unified(folder, files, (*found.stale, *found.missing)))
    if found:
        custom = "".join(f" -t {n}" for n in names)
        raise Wrong(
            *(f"{folder}: {line}" for line in found.lines()),
            f"{folder}: not up to date; run: hsgen generate -o {folder}{custom}"
            + (" and delete the unexpected files" if found.unexpected else ""),
        )
    if not as_json:
        click.echo(f"{folder} is up to date ({len(manifest.hashes)} files)")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
def verify(folder: Path, as_json: bool) -> None:
    """Say whether every file of the bundle in FOLDER has the hash that its manifest records.

    Needs neither templates nor targets.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        raise Usage(f"{folder}: no bundle there; name a folder with a manifest.json")
    found = compare(folder, manifest.hashes)
    if as_json:
        emit_json([{"path": p, "state": s} for s, p in (x.split(" ", 1) for x in found.lines())])
    if found:
        raise Wrong(
            *(f"{folder}: {line}" for line in found.lines()),
            f"{folder}: was changed after it was generated; run: hsgen generate -o {folder}",
        )
    if not as_json:
        click.echo(f"{folder} is as it was generated ({len(manifest.hashes)} files)")
