"""``hsgen verify``: compare the files of a bundle with its manifest."""

from __future__ import annotations

import re
from pathlib import Path
from shlex import quote

import click

from hsgen import __version__
from hsgen.bundle import store
from hsgen.bundle.manifest import MANIFEST
from hsgen.cli import terminal
from hsgen.cli.annotations import annotate, format_option
from hsgen.cli.bundle_options import place_options
from hsgen.cli.options import json_option
from hsgen.cli.output import emit_json
from hsgen.core.errors import Usage, Wrong, shown


@click.command()
@place_options
@click.option(
    "--expect", metavar="SHA256", help="The hash that the manifest must have, as `hsgen generate` printed it."
)
@format_option
@json_option
def verify(folder: Path, expect: str | None, style: str | None, as_json: bool) -> None:
    """Verify that every file of the bundle in FOLDER has the hash that its manifest records; exit with 1 if not.

    Needs neither templates nor targets.  The manifest lists the hash of every other file, so --expect with a hash from
    another source, such as a release, verifies the whole bundle.
    """
    if expect is not None and not re.fullmatch("[0-9A-Fa-f]{64}", expect):
        raise Usage(f"expect {expect[:80]!r}: is no SHA-256; give its 64 hexadecimal digits")
    manifest, differences = store.verify(folder)
    if expect is not None and manifest.read != expect.lower():
        raise Wrong(
            f"{folder}: {MANIFEST} has the SHA-256 {manifest.read}, not {expect.lower()}; take it from its source"
        )
    if as_json:
        emit_json([{"path": p, "state": s} for s, p in differences.rows()])
    if differences:
        remedy = differences.remedy(f"hsgen generate -o {quote(str(folder))}")
        annotate(folder, differences.rows(), f"run: {remedy}", "text" if as_json else style)
        lines = (f"{folder}: {line}" for line in differences.lines())
        version_note = f" by another version, hsgen {manifest.version}" if manifest.version != __version__ else ""
        raise Wrong(*lines, f"{folder}: was changed after it was generated{version_note}; run: {remedy}")
    if not as_json:
        terminal.echo_good(f"{shown(folder)} is as it was generated ({len(manifest.hashes)} files)")
