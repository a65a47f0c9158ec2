"""``hsgen suggest``: first shapes (tuning parameters of sorts) for a target, derived from the facts about its
device.
"""

from __future__ import annotations

import click

from hsgen.cli.options import json_option
from hsgen.cli.output import emit_json
from hsgen.tools.suggest import WIDTHS, reading, text
from hsgen.tools.suggest import suggest as suggested


@click.command()
@click.option("-t", "--target", "name", required=True, help="A target, or a file that ends in .toml; facts suffice.")
@click.option("--key", "keys", multiple=True, type=click.Choice(WIDTHS), help="Only for keys of this width.")
@json_option
def suggest(name: str, keys: tuple[str, ...], as_json: bool) -> None:
    """Print first shapes for a target as TOML tables, by a rule from the facts in its table [device].

    Comments give the reason for each value, and the value in the file where it differs.  A suggestion is a start;
    `hsgen tune` measures.
    """
    facts, file = reading.read(name)
    tables = suggested(facts, keys or WIDTHS)
    if as_json:
        emit_json(text.rows(tables, file))
        return
    blocks = [text.block(at, table, file.get(at, {}) if file else None) for at, table in tables.items()]
    click.echo("\n".join(blocks), nl=False)
