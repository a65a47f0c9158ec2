"""``hsgen probe``: write a target file for a device."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from hsgen.apis import APIS
from hsgen.cli import engines
from hsgen.cli.device import choose, device_option, report
from hsgen.cli.drive import Drive, bundle_option
from hsgen.cli.options import json_option, require_option, required
from hsgen.cli.output import emit_json
from hsgen.cli.target_file import replace
from hsgen.core.errors import Unavailable, Usage
from hsgen.engines import hosts, selection
from hsgen.engines import query as queries
from hsgen.tools.suggest import probing
from hsgen.tools.suggest import query as asked


@click.command()
@click.option("--api", type=click.Choice(asked.PROBED), help="The API to query the device through.")
@device_option
@click.option(
    "--query", "recorded", type=click.Path(path_type=Path), help="Read this output of --raw instead of a device."
)
@click.option("--raw", is_flag=True, help="Print what the device reports, as JSON, and write no file.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The target file to write; ends in .toml.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@bundle_option
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
        raise Usage("probe: give --api for a device, or --query FILE for a recorded one; --raw and --device need --api")
    if raw == (output is not None):
        raise Usage("probe: give -o FILE.toml to write a target, or --raw to print what the device reports")
    if output is not None:
        _check(output, force)
    with required(require):
        query, named = (asked.read(recorded), "") if recorded else _ask(str(api), device, bundle)
    if output is None:
        click.echo(query.text(), nl=False)
        return
    replace(output, probing.written(query, output.stem), "name another with -o")
    if as_json:
        emit_json([{"path": str(output), "target": output.stem, "api": query.api, "device": query.properties["name"]}])
        return
    click.echo(f"wrote {output} for {query.properties['name']}; next:")
    options = f"-t {shlex.quote(str(output))} --api {query.api}" + (f" --device {shlex.quote(named)}" if named else "")
    click.echo(f"  hsgen validate {options}")
    click.echo(f"  hsgen tune {options} --write")


def _check(output: Path, force: bool) -> None:
    """Check that a target file may be written, before a device is queried.

    Raises:
        Usage: the name is not valid for a new target file; or the file exists, and `force` is False.
    """
    if output.suffix != ".toml":
        raise Usage(f"{output}: is not the name of a target file; give one that ends in .toml")
    probing.check(output.stem)
    if output.exists() and not force:
        raise Usage(f"{output}: exists; replace it with --force, or name another")


def _ask(api: str, device: str | None, bundle: Path | None) -> tuple[asked.Query, str]:
    """Return the properties that a device reports, and the value of --device that selects only this device."""
    listed = hosts.hosts() if APIS[api].python else engines.devices(Drive(named_api=api, folder=bundle))
    host = choose(device, listed or None)
    if problem := hosts.unsound(host):
        raise Unavailable(f"{host.label}: {problem}")
    report(host.label, api)
    return asked.Query(api=api, properties=queries.properties(host)), selection.specification(host, listed)
