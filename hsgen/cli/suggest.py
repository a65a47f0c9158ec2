"""``hsgen suggest`` and ``hsgen probe``: first shapes from facts, and a target file from a device at hand."""

from __future__ import annotations

from pathlib import Path

import click

from hsgen.apis import APIS
from hsgen.cli import engines
from hsgen.cli.common import Wanted, emit_json, json_option, require_option, required
from hsgen.cli.device import choose, device_option
from hsgen.core.errors import Unavailable, Usage
from hsgen.engines import hosts
from hsgen.engines import query as queries
from hsgen.tools.suggest import WIDTHS, probing, reading, text
from hsgen.tools.suggest import query as asked
from hsgen.tools.suggest import suggest as suggested


@click.command()
@click.option("-t", "--target", "name", required=True, help="A target, or a file that ends in .toml; facts suffice.")
@click.option("--key", "keys", multiple=True, type=click.Choice(WIDTHS), help="Only for keys of this width.")
@json_option
def suggest(name: str, keys: tuple[str, ...], as_json: bool) -> None:
    """Print first shapes for a target as TOML tables, by a rule from the facts in its table [device].

    Comments give the reason of each value, and what the file has where that differs.  A suggestion is where to begin;
    `hsgen tune` measures.
    """
    found, file = reading.read(name)
    tables = suggested(found, keys or WIDTHS)
    if as_json:
        emit_json(text.rows(tables, file))
        return
    blocks = [text.block(at, table, file.get(at, {}) if file else None) for at, table in tables.items()]
    click.echo("\n".join(blocks), nl=False)


@click.command()
@click.option("--api", type=click.Choice(asked.PROBED), help="The API to query the device through.")
@device_option
@click.option(
    "--query", "recorded", type=click.Path(path_type=Path), help="Read this output of --raw instead of a device."
)
@click.option("--raw", is_flag=True, help="Print what the device reports, as JSON, and write no file.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The target file to write; ends in .toml.")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@engines.bundle_option
@require_option
@json_option
def probe(
    api: str | None,
    device: str | None,
    recorded: Path | None,
    raw: bool,
    output: Path | None,
    force: bool,
    bundle: Path | None,
    require: bool,
    as_json: bool,
) -> None:
    """Write a new target file for a device: its facts, each with its source, and first shapes.

    A fact that the API does not report gets a safe value, marked as such.  The target has no evidence yet.
    """
    if (recorded is None) == (api is None) or (recorded and (device or raw)):
        raise Usage(
            "probe: give --api for a device, or --query FILE for what one said; --raw and --device go with --api"
        )
    if raw == (output is not None):
        raise Usage("probe: give -o FILE.toml to write a target, or --raw to print what the device says")
    if output is not None:
        _check(output, force)
    with required(require):
        found = asked.read(recorded) if recorded else _ask(str(api), device, bundle)
    if output is None:
        click.echo(found.text(), nl=False)
        return
    engines.replace(output, probing.written(found, output.stem), "name another with -o")
    if as_json:
        emit_json([{"path": str(output), "target": output.stem, "api": found.api, "device": found.said["name"]}])
        return
    click.echo(f"wrote {output} for {found.said['name']}; next:")
    click.echo(f"  hsgen validate -t {output} --api {found.api}")
    click.echo(f"  hsgen tune -t {output} --api {found.api} --write")


def _check(output: Path, force: bool) -> None:
    """Refuse a file that cannot be written before a device is asked."""
    if output.suffix != ".toml":
        raise Usage(f"{output}: is no name of a target file; give one that ends in .toml")
    probing.check(output.stem)
    if output.exists() and not force:
        raise Usage(f"{output}: is there already; replace it with --force, or name another")


def _ask(api: str, device: str | None, bundle: Path | None) -> asked.Query:
    """What a device of an API says of itself."""
    found = None
    if not APIS[api].python:
        drive = engines.Drive(
            target=None, asked=api, runtime=None, options=(), folder=bundle, algorithm=None, wanted=Wanted()
        )
        found = engines.devices(drive)
    host = choose(device, found)
    if problem := hosts.unsound(host):
        raise Unavailable(f"{host.label}: {problem}")
    return asked.Query(api=api, said=queries.asked(host))
