"""``hsgen compile``: every kernel of targets through offline compilers, without a device."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

import click

from hsgen.cli.common import Wanted, json_option, progress, require_option, wanted_options
from hsgen.cli.compile_output import emit_evidence, emit_record, evidence_files, record, show_results
from hsgen.core.errors import Unavailable, Usage, Wrong
from hsgen.core.keys import KEYS
from hsgen.system import processes
from hsgen.targets import schema
from hsgen.targets import target as target_files
from hsgen.targets.isa import KINDS, SPIRV
from hsgen.targets.target import Target
from hsgen.tools.compile import budgets, implicit, jobs, markdown
from hsgen.tools.compile.budget import Budget
from hsgen.tools.compile.compilers import COMPILERS
from hsgen.tools.compile.jobs import Done, Job, Planner
from hsgen.tools.compile.results import Missing, Result, wrongs


class Seconds(click.FloatRange):
    """A time that the system can wait for."""

    def __init__(self) -> None:
        super().__init__(0, processes.LONGEST, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds; click reports what is none."""
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail(f"{value} is no number", param, ctx)
        return found


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The compilers and devices that a command line names; none: all."""

    compilers: tuple[str, ...]
    devices: tuple[str, ...]

    def __post_init__(self) -> None:
        known = {d for kind in KINDS.values() for d in kind.devices}
        known |= {f"vulkan{version}" for version in schema.VULKANS}
        for device in self.devices:
            if device not in known:
                close = difflib.get_close_matches(device, sorted(known), 1)
                hint = (
                    f"did you mean {close[0]}?" if close else "docs/guides/compile.md lists those that [isa] can name"
                )
                raise Usage(f"--device {device}: no compiler knows it; {hint}")

    def of(self, found: Target) -> list[tuple[str, str]]:
        """Return what is wanted of a target's (compiler, device).

        Raises:
            Usage: nothing.
        """
        have = jobs.devices_of(found)
        some = [(c, d) for c, d in have if c in (self.compilers or (c,)) and d in (self.devices or (d,))]
        if not some:
            listed = ", ".join(
                f"{c} {' '.join(d for x, d in have if x == c)}" for c in dict.fromkeys(c for c, _ in have)
            )
            hint = f"it has {listed}" if have else "give it a table [isa] (docs/guides/compile.md)"
            raise Usage(f"target {found.name}: names no such compiler and device to compile for; {hint}")
        return some


@dataclass(kw_only=True)
class Run:
    """What is compiled, and then what came of it."""

    targets: list[Target]
    jobs: list[Job] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)

    @property
    def results(self) -> list[Result]:
        """All kernels, in the order of the jobs."""
        return [r for d in self.done for r in d.results]


@click.command("compile")
@click.option("-t", "--target", "names", multiple=True, help="A target's name, or a file ending in .toml; else all.")
@wanted_options
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    metavar="NAME",
    help="This algorithm or variant, as `hsgen targets` lists it; by default all that a target has, those "
    "without tables also with values of 4 bytes.",
)
@click.option("--compiler", "only", multiple=True, type=click.Choice([*KINDS, SPIRV]), help="Only this compiler.")
@click.option("--device", "devices", multiple=True, metavar="NAME", help="Only this device, as [isa] names it.")
@click.option("--jobs", "workers", type=click.IntRange(1), help="Compilers that run at once; one a processor.")
@click.option("--timeout", type=Seconds(), default=jobs.SECONDS, show_default=True, help="Of a job, s.")
@click.option("--all", "every", is_flag=True, help="List every kernel, also of several targets.")
@click.option("--markdown", "as_page", is_flag=True, help="Print Markdown instead of a table.")
@click.option(
    "--budget", type=click.Path(path_type=Path), help="Compare with the numbers in this file, or folder of files."
)
@click.option(
    "--write-budget", "written", type=click.Path(path_type=Path), help="Write the numbers into this file, or folder."
)
@click.option("--record", "recorded", is_flag=True, help="Write what was shown into the targets' files, as evidence.")
@require_option
@json_option
def compile_(
    names: tuple[str, ...],
    wanted: Wanted,
    algorithms: tuple[str, ...],
    only: tuple[str, ...],
    devices: tuple[str, ...],
    workers: int | None,
    timeout: float,
    every: bool,
    as_page: bool,
    budget: Path | None,
    written: Path | None,
    recorded: bool,
    require: bool,
    as_json: bool,
) -> None:
    """Compile every kernel of targets for the devices in their [isa] tables, and print the resources of each.

    No device is needed: offline compilers report registers, spilled bytes, local memory, occupancy and instructions.
    A kernel that spills is an error, and so is one that a compiler refuses, crashes or hangs on.  For Vulkan targets,
    the SPIR-V is validated as well.
    """
    if as_page and as_json:
        raise Usage("--markdown and --json: only one of them can be printed; leave one out")
    files = evidence_files(names, narrowed=bool(wanted or algorithms or devices)) if recorded else []
    made = Run(targets=_targets(names))
    known = _budgets(made, wanted, algorithms, budget, written, narrowed=bool(only or devices))
    _plan(made, wanted, algorithms, Chosen(compilers=only, devices=devices), named=bool(names))
    for line in _lacking(made.missing):
        click.echo(f"hsgen: {line}", err=True)
    show = progress("compiling", len(made.jobs))
    made.done = jobs.ordered(show(jobs.run(made.jobs, workers or os.cpu_count() or 1, timeout)), made.jobs)
    if as_json:
        emit_record(record(made.done, made.missing), "kernels")
    elif as_page:
        words = {"target": names, "compiler": only, "device": devices, "algorithm": algorithms}
        command = _command(words, wanted) + " --all" * every
        click.echo(markdown.page(made.results, made.missing, command, kernels=every), nl=False)
    elif made.jobs:
        show_results(made.results, kernels=every or len(made.targets) == 1)
    lines = wrongs(made.results, spills=known is None)
    if known is not None:
        lines += _worse(known, made.results, whole=not wanted.keys)
    if written:
        lines += budgets.write(written, made.targets, made.results, made.missing)
    for found, file in zip(made.targets, files, strict=False):
        emit_evidence(file, found, made.results, made.missing)
    _end(lines, made, require)


def _command(words: Mapping[str, Sequence[str]], wanted: Wanted) -> str:
    """The command that makes a page, as far as what is on it depends on its options."""
    order = ("both",) if len(wanted.orders) > 1 else wanted.orders
    every = {**words, "key": wanted.keys, "value": wanted.values, "order": order, "feature": wanted.features}
    options = (f"--{word} {quote(name)}" for word, names in every.items() for name in names)
    return " ".join(["hsgen compile", *options, "--markdown"])


def _targets(names: Sequence[str]) -> list[Target]:
    """The targets that are named, or all that come with hsgen.

    Raises:
        Usage: one is named twice.
    """
    found = [target_files.find(name) for name in names or target_files.names()]
    for i, one in enumerate(found):
        if any(one.name == other.name for other in found[:i]):
            raise Usage(f"target {one.name}: named twice; name it once")
    return found


def _budgets(
    made: Run, wanted: Wanted, algorithms: Sequence[str], read: Path | None, written: Path | None, *, narrowed: bool
) -> dict[str, Budget | None] | None:
    """The recorded numbers to compare with, if any; looks at all that can be wrong before anything is compiled.

    Raises:
        Usage: the run is not about what budgets hold, or a budget cannot be read.
    """
    if (read or written) and not _plain(wanted, algorithms):
        only = f"only --key {', '.join(KEYS)} may narrow them"
        raise Usage(f"--budget and --write-budget are about plain sorts of all algorithms; {only}")
    if written:
        if read and read.resolve() == written.resolve():
            raise Usage(f"--budget and --write-budget: both are {read}; compare first, then write")
        if wanted.keys or narrowed:
            raise Usage("--write-budget: records all kernels of a target; leave out --key, --compiler and --device")
        budgets.place(written, made.targets)
    return budgets.load(read, made.targets) if read else None


def _plain(wanted: Wanted, algorithms: Sequence[str]) -> bool:
    """Whether a run is about everything that is compiled by default, or of that about some widths of keys."""
    widths = all(key in KEYS for key in wanted.keys)
    return widths and not (algorithms or wanted.values or wanted.orders or wanted.features or wanted.epilogue)


def _worse(known: dict[str, Budget | None], results: Sequence[Result], *, whole: bool) -> list[str]:
    """What is worse than recorded; what else there is to say of it goes to stderr."""
    worse, notes = budgets.compared(known, results, whole)
    for note in notes:
        click.echo(f"hsgen: {note}", err=True)
    return worse


def _end(lines: Sequence[str], made: Run, require: bool) -> None:
    """Raise what the exit code is to be."""
    if lines or (require and made.missing):
        raise Wrong(*lines, *(_lacking(made.missing) if require and not lines else ()))
    if not made.jobs and made.missing:
        raise Unavailable("nothing could be compiled here")


def _plan(made: Run, wanted: Wanted, algorithms: tuple[str, ...], chosen: Chosen, *, named: bool) -> None:
    """Add the jobs and the compilers that lack; targets that were not named may have nothing of what is wanted.

    Raises:
        Usage: a named target has nothing of it.
    """
    planner = Planner(COMPILERS)
    for found in made.targets:
        try:
            where = chosen.of(found)
            sorts = wanted.sorts(found, algorithms)
            if _plain(wanted, algorithms):
                sorts += implicit.derived(found, wanted.choice(found).widths)
        except Usage:
            if named:
                raise
            continue
        some, lacking = planner.jobs(found, sorts, where)
        made.jobs += some
        made.missing += lacking
    if not made.jobs and not made.missing:
        raise Usage(
            "nothing to compile: no target has such kernels for such a compiler; ask for less with fewer options"
        )


def _lacking(missing: Sequence[Missing]) -> list[str]:
    """A line for each compiler that is not here, for whatever targets."""
    lines = []
    for name in dict.fromkeys(m.compiler for m in missing):
        some = [m for m in missing if m.compiler == name]
        devices = ", ".join(dict.fromkeys(d for m in some for d in m.devices))
        targets = ", ".join(m.target for m in some)
        lines.append(f"{name}: nothing here compiles for {devices} (target {targets}); {some[0].install}")
    return lines
