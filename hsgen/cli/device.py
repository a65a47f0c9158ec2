"""The device of a command: the one that ``--device`` names, or a choice; and whether the evidence names it."""

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
    found: Sequence[hosts.Host] | None = None,
    target: Target | None = None,
    sorts: Sequence[Sort] = (),
    *,
    able: bool = True,
) -> hosts.Host:
    """Return the choice of `selection.pick` among `found` (None: OpenCL's devices).

    Raises:
        Usage: the name is that of several devices, or empty.
        Unavailable: there is no such device, or none that can run the sorts.
    """
    shown = hosts.hosts() if found is None else found
    if found is None and not shown:
        raise Unavailable(f"no OpenCL device; {toolchain.how_to_get_one()}")
    return selection.pick(device, shown, target, sorts, able=able)


def report(device: str, api: str) -> None:
    """Name on stderr the device that a command uses, by its label, which has the platform and the driver."""
    line = f"device: {printable(device)}, API {api}"
    if terminal.is_terminal(sys.stderr):
        line = textwrap.fill(line, terminal.width(), subsequent_indent="        ")
    click.echo(line, err=True)


@contextmanager
def compared_with_evidence(target: str, api: str, host: hosts.Host, language: str) -> Iterator[None]:
    """Add to a failure, on a device that the target's evidence does not name, the devices that it names."""
    try:
        yield
    except Wrong as e:
        found = target_files.find(target)
        other = evidence.unnamed(found.evidence, api, hosts.evidence_device(host, language), host.driver)
        raise Wrong(*e.lines, *([f"target {found.name}: {other}"] if other else [])) from None
