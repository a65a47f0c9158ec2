"""The options by which commands name a bundle and its targets, and the choices that a manifest records."""

from __future__ import annotations

from pathlib import Path

import click

from hsgen.bundle.manifest import Choice, Manifest, again
from hsgen.cli.options import Folder
from hsgen.core.errors import Usage
from hsgen.targets import target as target_files
from hsgen.targets.target import Target

folder_option = click.option(
    "-o",
    "--output",
    "folder",
    type=Folder(),
    default=Path("generated"),
    show_default=True,
    help="The folder of the bundle.",
)
targets_option = click.option(
    "-t", "--target", "names", multiple=True, help="A target's name, or a file ending in .toml."
)


def recorded(folder: Path, manifest: Manifest, names: tuple[str, ...] = ()) -> dict[str, tuple[Target, Choice]]:
    """Return the targets of a bundle with the choices that its manifest records.

    `names` may hold the files of targets.

    Raises:
        Usage: a target neither comes with hsgen nor is among `names`.
    """
    given = {t.name: t for t in (target_files.find(n) for n in names)}
    parts = {}
    for name, entry in manifest.targets.items():
        if name not in given and name not in target_files.names():
            raise Usage(f"{folder}: target {name} does not come with hsgen; give its file with -t {name}.toml")
        found = given.get(name) or target_files.find(name)
        parts[name] = (found, again(found, entry.choice))
    return parts
