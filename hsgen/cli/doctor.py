"""``hsgen doctor``: list devices and tools on this machine."""

from __future__ import annotations

import click

from hsgen.cli.options import json_option
from hsgen.cli.output import emit_json, emit_table
from hsgen.tools import doctor as doctors


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """List devices and tools on this machine, and what is unavailable without each missing one."""
    findings = doctors.findings()
    if as_json:
        emit_json([f.record() for f in findings])
        return
    emit_table(
        ["what", "found", "unavailable without it"],
        [[f.what, f.found or "-", f.costs if f.found is None else ""] for f in findings],
        {"found": lambda cell: "yellow" if cell == "-" else "green"},
    )
