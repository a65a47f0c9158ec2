"""Checks of epilogues, templates of user code that runs for every sorted key.  The epilogues are those in the manifest
of a bundle that are in no file that the user names.

The author of such an epilogue is unknown, so hsgen renders the epilogue only with the user's consent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from shlex import quote

import click

from hsgen.bundle.manifest import Manifest
from hsgen.cli.sort_options import fragment
from hsgen.core.errors import Usage, Wrong

_UNKNOWN = (
    "has an epilogue that only the manifest holds; give its file with --epilogue, or let --trust-epilogue render it"
)
trust_option = click.option(
    "--trust-epilogue",
    "trusted",
    is_flag=True,
    help="Render, in a sandbox, an epilogue that only the manifest of the bundle holds.",
)


def unknown(texts: Mapping[str, str], known: str = "", *, trusted: bool) -> tuple[str, ...]:
    """Return the names of the targets whose epilogue is unknown.

    texts: the epilogues by target name.  known: the epilogue that the user names.  An epilogue is unknown unless it is
    empty or equal to `known`.  With `trusted`, the result is empty.
    """
    return () if trusted else tuple(name for name, text in texts.items() if text not in ("", known))


def refuse(folder: Path, names: Collection[str]) -> None:
    """Refuse to render epilogues that are only in the manifest.

    Raises:
        Usage: `names`, the targets with such an epilogue, is not empty.
    """
    if names:
        raise Usage(*(f"{folder}: target {name}: {_UNKNOWN}" for name in names))


def same(folder: Path, manifest: Manifest, file: Path) -> None:
    """Check that all targets of a bundle have the epilogue in a file.

    Raises:
        Usage: the file cannot be read, or has no epilogue.
        Wrong: a target has another epilogue, or no epilogue.
    """
    text = fragment(file)
    for name, entry in manifest.targets.items():
        if entry.choice.epilogue != text:
            has = "another epilogue than" if entry.choice.epilogue else "no epilogue, not that of"
            again = f"hsgen generate -t {quote(name)} --epilogue {quote(str(file))} -o {quote(str(folder))}"
            raise Wrong(f"{folder}: target {name} has {has} {file}; run: {again}")
