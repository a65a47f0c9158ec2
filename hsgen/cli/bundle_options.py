"""The command-line options that name a bundle and its targets.  The module also reads which sorts of each target a
bundle's manifest records.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from hsgen.bundle.manifest import Choice, Manifest
from hsgen.cli.options import Folder, gathered
from hsgen.core.errors import Usage

if TYPE_CHECKING:
    from hsgen.targets.target import Target

T = TypeVar("T")
DEFAULT = Path("generated")

folder_option = click.option(
    "-o",
    "--output",
    "folder",
    type=Folder(),
    default=DEFAULT,
    show_default=True,
    help="The folder of the bundle.",
)


def _either(place: Path | None, output: Path | None) -> Path:
    if place is not None and output is not None and place != output:
        raise Usage(f"{place} and --output {output}: are two folders; name one bundle")
    return place or output or DEFAULT


def place_options(command: Callable[..., T]) -> Callable[..., T]:
    """Let a command's user name the folder of a bundle, as an argument or with -o.

    The command receives the folder as its argument `folder`.
    """
    argument = click.argument("place", metavar="[FOLDER]", type=Folder(), required=False)
    option = click.option(
        "-o", "--output", type=Folder(), help=f"The folder of the bundle, as FOLDER.  [default: {DEFAULT}]"
    )
    return gathered("folder", _either, argument, option)(command)


targets_option = click.option(
    "-t", "--target", "names", multiple=True, help="A target's name, or a file ending in .toml."
)


def recorded(folder: Path, manifest: Manifest, names: tuple[str, ...] = ()) -> dict[str, tuple[Target, Choice]]:
    """Return the targets of a bundle by name, each with a `Choice`: the sorts of the target that the bundle contains,
    as its manifest records.

    names: the targets that the command line names.  A target that does not come with hsgen must be named by its file.

    Raises:
        Usage: a target neither comes with hsgen nor is among `names`.
    """
    from hsgen.bundle.choosing import again
    from hsgen.targets import target as target_files

    named = {t.name: t for t in (target_files.find(n) for n in names)}
    parts = {}
    for name, entry in manifest.targets.items():
        if name not in named and name not in target_files.names():
            raise Usage(f"{folder}: target {name} does not come with hsgen; give its file with -t {name}.toml")
        target = named.get(name) or target_files.find(name)
        parts[name] = (target, again(target, entry.choice))
    return parts
