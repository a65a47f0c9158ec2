"""``hsgen targets``: list the targets and their evidence."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hsgen.apis import APIS
from hsgen.bundle.choosing import offered
from hsgen.cli import terminal
from hsgen.cli.options import json_option
from hsgen.cli.output import emit_json, emit_table
from hsgen.cli.target_file import replace
from hsgen.core.errors import shown
from hsgen.core.keys import KEYS
from hsgen.system import documents
from hsgen.targets import evidence, schema, upgrade
from hsgen.targets import target as target_files
from hsgen.targets.json_schema import target_schema


@click.command()
@click.option("--details", is_flag=True, help="Also list the sorts and the evidence of each target.")
@click.option("--markdown", is_flag=True, help="Print the table of docs/reference/targets.md.")
@click.option(
    "--upgrade",
    "file",
    metavar="FILE",
    help="Rewrite a target file of schema 2 in schema 3, in place.",
)
@click.option("--schema", "as_schema", is_flag=True, help="Print the JSON Schema of target files, for editors.")
@json_option
def targets(details: bool, markdown: bool, file: str | None, as_schema: bool, as_json: bool) -> None:
    """List the targets that come with hsgen, a line each.

    --details adds their APIs, their sorts and the evidence for each, as does output that is no terminal.

    There are three levels: compiled for the device's instruction set, run on a CPU runtime, run on the device itself.
    "(older shapes)" marks evidence that predates the present shapes.  A sort of a width of keys can also sort signed
    and float keys of that width, in either order.
    """
    if file is not None:
        _upgrade(Path(file))
        return
    if as_schema:
        click.echo(json.dumps(target_schema(), indent=1))
        return
    every = [target_files.find(n) for n in target_files.names()]
    if as_json:
        emit_json([_listed(t) for t in every])
        return
    if terminal.is_terminal(sys.stdout) and not details and not markdown:
        _list(every)
        return
    levels = list(evidence.LEVELS)
    shown = {t.name: [evidence.cell(t.evidence, t.shapes, level) for level in levels] for t in every}
    if markdown:
        rows = [[f"`{t.name}`", f"{t.summary}: {_apis(t)}", *shown[t.name]] for t in every]
        head = ["target", "is for", *evidence.LEVELS.values()]
        click.echo("\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)))
        return
    sorting = {t.name: " ".join(f"{a}/{','.join(keys)}" for a, keys in _by_label(t).items()) for t in every}
    rows = [[t.name, " ".join(t.apis), sorting[t.name], *shown[t.name], t.summary] for t in every]
    emit_table(["target", "apis", "sorts", *evidence.LEVELS.values(), "summary"], rows)


def _list(every: Sequence[target_files.Target]) -> None:
    """Print a line for each target, no wider than the terminal: its name and its summary."""
    name = max(len(t.name) for t in every)
    room = max(terminal.width() - name - 2, 10)
    for t in every:
        head = terminal.styled(f"{t.name:{name}}", sys.stdout, bold=True)
        click.echo(f"{head}  {textwrap.shorten(t.summary, room, placeholder='...')}")


def _upgrade(file: Path) -> None:
    """Upgrade a target file to the present schema, completely or not at all, and print a line about it."""
    text = documents.text(file, "give the path of a target file", name=f"target {shown(file)}")
    after = upgrade.upgraded(text, file.stem, shown(file))
    if after is None:
        click.echo(f"{shown(file)}: is of schema {schema.SCHEMA} already; nothing to do")
        return
    replace(file, after, "nothing was changed")
    click.echo(f"{shown(file)}: rewritten in schema {schema.SCHEMA}; it makes the same choices")


def _apis(target: target_files.Target) -> str:
    return ", ".join(APIS[api].title for api in target.apis)


def _listed(t: target_files.Target) -> dict[str, Any]:
    return {
        "name": t.name,
        "apis": list(t.apis),
        "shapes": t.shapes,
        "standing": {level: evidence.standing(t.evidence, t.shapes, level) for level in evidence.LEVELS},
        "evidence": [dict(e) for e in t.evidence],
        "summary": t.summary,
        "sorts": [{"algorithm": a, "key": k} for k, a in _offers(t)],
        "types": list(offered(t)),
    }


def _offers(target: target_files.Target) -> list[tuple[str, str]]:
    """Return each (key width, label) that a target supports."""
    types = offered(target)
    have = [k for k in KEYS if k in types]
    return [(k, a) for k in have for a in (*target.labels(k), *target.derived(k), *target.implicit(k))]


def _by_label(target: target_files.Target) -> dict[str, list[str]]:
    """Return the key widths that each label of a target supports."""
    out: dict[str, list[str]] = {}
    for key, label in _offers(target):
        out.setdefault(label, []).append(key)
    return out
