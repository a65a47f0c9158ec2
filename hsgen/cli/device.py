"""Chooses the device of a command: the one that ``--device`` names, or the best one of those that are listed."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from hsgen.cli import terminal
from hsgen.core.errors import Unavailable, Wrong, printable
from hsgen.core.sort import Sort
from hsgen.engines import hosts, selection
from hsgen.system import toolchain
from hsgen.targets import evidence
from hsgen.targets import target as target_files
from hsgen.targets.target import Target

device_option = click.option(
    "--device",
    metavar="NAME",
    help="The device: a part of its name, PLATFORM/DEVICE, or NAME#2 for the second of equal names; see doctor.",
)


def choose(
    device: str | None,
    listed: Sequence[hosts.Host] | None = None,
    target: Target | None = None,
    sorts: Sequence[Sort] = (),
    *,
    able: bool = True,
) -> hosts.Host:
    """Return the device that `selection.pick` chooses among `listed`, or among OpenCL's devices if `listed` is None.

    Raises:
        Usage: several devices have this name, or the name is empty.
        Unavailable: no device has this name, or no device can run the sorts.
    """
    shown = hosts.hosts() if listed is None else listed
    if listed is None and not shown:
        raise Unavailable(f"no OpenCL device; {toolchain.how_to_get_one()}")
    return selection.pick(device, shown, target, sorts, able=able)


def report(device: str, api: str) -> None:
    """Print on stderr which device and which API a command uses; `device` is the device's label."""
    line = f"device: {printable(device)}, API {api}"
    if terminal.is_terminal(sys.stderr):
        line = textwrap.fill(line, terminal.width(), subsequent_indent="        ")
    click.echo(line, err=True)


@contextmanager
def compared_with_evidence(target: str, api: str, host: hosts.Host, language: str) -> Iterator[None]:
    """If the block fails on a device without evidence, add a line to the error.

    The line names the devices from which the target has evidence.
    """
    try:
        yield
    except Wrong as e:
        known = target_files.find(target)
        named = evidence.unnamed(known.evidence, api, hosts.evidence_device(host, language), host.driver)
        raise Wrong(*e.lines, *([f"target {known.name}: {named}"] if named else [])) from None
