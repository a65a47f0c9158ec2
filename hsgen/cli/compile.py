"""``hsgen compile``: compile every kernel of targets with offline compilers, without a device."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

import click

from hsgen.cli.compile_output import emit_evidence, evidence_files, record, show_results
from hsgen.cli.compile_request import Budgets, Request
from hsgen.cli.options import Seconds, gathered, json_option, require_option
from hsgen.cli.output import emit_document
from hsgen.cli.progress import progress
from hsgen.cli.sort_options import wanted_options
from hsgen.core.errors import Unavailable, Usage, Wrong
from hsgen.targets.isa import KINDS, SPIRV
from hsgen.targets.target import Target
from hsgen.tools.compile import jobs, markdown
from hsgen.tools.compile.budget import Budget, compared, write
from hsgen.tools.compile.compilers import COMPILERS
from hsgen.tools.compile.jobs import Done, Job, Planner
from hsgen.tools.compile.results import Missing, Result, wrongs


@dataclass(frozen=True, kw_only=True)
class Output:
    """How to print the results."""

    every: bool
    as_page: bool
    as_json: bool

    def check(self) -> None:
        """Check that only one format is selected.

        Raises:
            Usage: both formats are selected.
        """
        if self.as_page and self.as_json:
            raise Usage("--markdown and --json: only one of them can be printed; omit one")

    def emit(self, run: Run, request: Request) -> None:
        """Print the results of a run in the selected format."""
        if self.as_json:
            emit_document(record(run.done, run.missing), "kernels")
        elif self.as_page:
            command = _command(request) + " --all" * self.every
            click.echo(markdown.page(run.results, run.missing, command, kernels=self.every), nl=False)
        elif run.jobs:
            show_results(run.results, kernels=self.every or len(run.targets) == 1)


@dataclass(kw_only=True)
class Run:
    """The compilations of a command: the targets, the jobs, the missing compilers, and the results of finished jobs."""

    targets: list[Target]
    jobs: list[Job] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)

    @property
    def results(self) -> list[Result]:
        """The results of all kernels, in the order of the jobs."""
        return [r for d in self.done for r in d.results]

    def perform(self, workers: int | None, timeout: float) -> None:
        """Run all jobs, and show the progress."""
        show = progress("compiling", len(self.jobs))
        self.done = jobs.ordered(show(jobs.run(self.jobs, workers or os.cpu_count() or 1, timeout)), self.jobs)


@click.command()
@click.option("-t", "--target", "names", multiple=True, help="A target's name, or a file ending in .toml; else all.")
@wanted_options
@gathered(
    "request",
    Request,
    click.option(
        "--algorithm",
        "algorithms",
        multiple=True,
        metavar="NAME",
        help="This algorithm or variant, as `hsgen targets` lists it; by default all that a target has, those "
        "without tables also with values of 4 bytes.",
    ),
    click.option(
        "--compiler", "compilers", multiple=True, type=click.Choice([*KINDS, SPIRV]), help="Only this compiler."
    ),
    click.option("--device", "devices", multiple=True, metavar="NAME", help="Only this device, as [isa] names it."),
)
@click.option("--jobs", "workers", type=click.IntRange(1), help="Compilers that run at once; by default one per CPU.")
@click.option("--timeout", type=Seconds(), default=jobs.SECONDS, show_default=True, help="Seconds that a job may take.")
@gathered(
    "budget",
    Budgets,
    click.option(
        "--budget", type=click.Path(path_type=Path), help="Compare with the numbers in this file, or folder of files."
    ),
    click.option(
        "--write-budget",
        "written",
        type=click.Path(path_type=Path),
        help="Write the numbers into this file, or folder.",
    ),
)
@click.option("--record", "recorded", is_flag=True, help="Write the result into the targets' files, as evidence.")
@require_option
@gathered(
    "output",
    Output,
    click.option("--all", "every", is_flag=True, help="List every kernel, also of several targets."),
    click.option("--markdown", "as_page", is_flag=True, help="Print Markdown instead of a table."),
    json_option,
)
def compile(
    request: Request,
    workers: int | None,
    timeout: float,
    budget: Budgets,
    recorded: bool,
    require: bool,
    output: Output,
) -> None:
    """Compile every kernel of targets for the devices in their [isa] tables, and print the resources of each.

    No device is needed: offline compilers report registers, spilled bytes, local memory, occupancy and instructions.
    A kernel that spills is an error, and so is one that a compiler refuses, crashes or hangs on.  For Vulkan targets,
    the SPIR-V is validated as well.
    """
    output.check()
    narrowed = bool(request.selection or request.algorithms or request.devices)
    files = evidence_files(request.names, narrowed=narrowed) if recorded else []
    run = Run(targets=request.targets())
    known = budget.load(request, run.targets)
    request.check_devices()
    run.jobs, run.missing = request.plan(run.targets, Planner(COMPILERS))
    for line in _lacking(run.missing):
        click.echo(f"hsgen: {line}", err=True)
    run.perform(workers, timeout)
    output.emit(run, request)
    lines = wrongs(run.results, spills=known is None)
    if known is not None:
        lines += _worse(known, run.results, complete=not request.selection.keys)
    if budget.written:
        lines += write(budget.written, run.targets, run.results, run.missing)
    for target, file in zip(run.targets, files, strict=False):
        emit_evidence(file, target, run.results, run.missing)
    _end(lines, run, require)


def _command(request: Request) -> str:
    """Return the command that prints the same Markdown page again; the page shows this command.

    The command has only those options that change the page.
    """
    selection = request.selection
    order = ("both",) if len(selection.orders) > 1 else selection.orders
    every = {"target": request.names, "compiler": request.compilers, "device": request.devices}
    every |= {"algorithm": request.algorithms, "key": selection.keys, "value": selection.values, "order": order}
    every |= {"feature": selection.features}
    options = (f"--{word} {quote(name)}" for word, names in every.items() for name in names)
    return " ".join(["hsgen compile", *options, "--markdown"])


def _worse(known: dict[str, Budget | None], results: Sequence[Result], *, complete: bool) -> list[str]:
    """Return a line for each number of a kernel, such as its registers, that is worse than in the budget.

    Further notes about the comparison are printed on stderr.
    """
    worse, notes = compared(known, results, complete)
    for note in notes:
        click.echo(f"hsgen: {note}", err=True)
    return worse


def _end(lines: Sequence[str], run: Run, require: bool) -> None:
    """Raise the error that determines the exit code; `lines` are the problems found."""
    if lines or (require and run.missing):
        raise Wrong(*lines, *(_lacking(run.missing) if require and not lines else ()))
    if not run.jobs and run.missing:
        raise Unavailable("nothing could be compiled here")


def _lacking(missing: Sequence[Missing]) -> list[str]:
    """Return a line for each missing compiler, with all targets that need it."""
    lines = []
    for name in dict.fromkeys(m.compiler for m in missing):
        of_compiler = [m for m in missing if m.compiler == name]
        devices = ", ".join(dict.fromkeys(d for m in of_compiler for d in m.devices))
        targets = ", ".join(m.target for m in of_compiler)
        lines.append(f"{name}: nothing here compiles for {devices} (target {targets}); {of_compiler[0].install}")
    return lines
