"""``hsgen tune``: measure the best shapes and crossovers of a target on a device. *Shapes* are the tuning parameters of
sorts; *crossovers* are the counts at which another sort becomes faster.
"""

from __future__ import annotations

import datetime
import json
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from hsgen.cli import engines
from hsgen.cli.device import choose, device_option, report
from hsgen.cli.drive import Drive, api_option, option_option, runtime_option
from hsgen.cli.help_format import ARGUMENTS
from hsgen.cli.options import Duration, gathered, json_option, require_option, required
from hsgen.cli.output import emit_table
from hsgen.cli.sizes import parse_sizes
from hsgen.cli.sort_options import Wanted
from hsgen.cli.target_file import replace as replace_file
from hsgen.cli.target_file import target_file
from hsgen.cli.tune_progress import showing
from hsgen.core.errors import Terminated, Usage
from hsgen.core.keys import KEYS
from hsgen.core.sort import Sort
from hsgen.targets import evidence
from hsgen.targets import target as target_files
from hsgen.targets.target import Target
from hsgen.tools.tune import budget, edit, journal, request, spread
from hsgen.tools.tune.detected import of_host
from hsgen.tools.tune.final import Result, Row
from hsgen.tools.tune.run import Tuning
from hsgen.tools.tune.runner import Field
from hsgen.tools.tune.search import CANDIDATES


@dataclass(frozen=True, kw_only=True)
class Request:
    """The command-line options of a tuning run."""

    name: str
    device: str | None
    api: str | None
    runtime: str | None
    options: tuple[str, ...]
    keys: tuple[str, ...]
    labels: tuple[str, ...]
    budget: float
    sizes: str
    seed: int | None
    path: Path | None
    parts: tuple[Path, ...]
    limit: float
    write: bool

    @cached_property
    def target(self) -> Target:
        """The target to tune."""
        return target_files.find(self.name)

    @cached_property
    def tables(self) -> request.Request:
        """What to tune: the tables of shapes in the target file, the time budget, and the numbers of keys."""
        sizes = tuple(sorted(set(parse_sizes(self.sizes))))
        return request.Request(keys=self.keys, labels=self.labels, budget=self.budget, sizes=sizes)

    def field(self, text: str) -> Field:
        """Return a `Field`: the device to tune on, and the target.  With the same options, `hsgen validate` chooses the
        same device.

        Raises:
            Usage: `write` is set, and the device is not a device of the target.
        """
        drive = Drive(
            target=self.name,
            named_api=self.api,
            runtime=self.runtime,
            options=self.options,
            selection=Wanted(keys=self.keys),
        )
        drive.check()
        shown = engines.devices(replace(drive, target=None, named_api=drive.api)) if drive.native else None
        sorts: Sequence[Sort] = ()
        with suppress(Usage):  # the file may lack tables that the tuning will add
            sorts = drive.sorts(self.target)
        host = choose(self.device, shown, self.target, sorts, able=False)  # the file's shapes need not fit the device
        more: dict[str, Any] = {"native": drive.native, "options": drive.words, "limit": self.limit}
        field = of_host(self.target, text, self.name, drive.api, host, **more)
        if self.write and not field.level:
            hint = "tune on one that is, or on a CPU runtime, or omit --write"
            raise Usage(f"{host.label}: is no device of target {self.target.name}; {hint}")
        return field

    def opened(self, text: str, field: Field) -> journal.Journal:
        """Open the journal, the file that records the steps of this tuning, or merge several journals into a new one;
        return it.

        Raises:
            Usage: the journal belongs to another tuning.
        """
        head = request.new_header(
            text,
            self.target,
            field.facts,
            self.tables,
            api=field.api,
            device=field.device,
            driver=field.driver,
            seed=1 if self.seed is None else self.seed,
            candidates=max(CANDIDATES, field.jobs - 1),
            date=datetime.date.today().isoformat(),
        )
        path = self.path or Path("-".join(["tune", self.target.name, field.api, *self.keys, *self.labels]) + ".jsonl")
        book = journal.merged(self.parts, path) if self.parts else journal.opened(path, head)
        journal.differs(path, book.head, head, [x for x in journal.SAME if x not in ("start", "sizes", "autos")])
        tuned, wished = (" ".join(sorted(x["start"])) for x in (book.head, head))
        hint = "name another journal with --journal"
        if tuned != wished:
            raise Usage(f"journal {path}: tunes {tuned}, not {wished}; {hint}")
        if self.seed is not None and book.head["seed"] != self.seed:
            raise Usage(f"journal {path}: has seed {book.head['seed']}, not {self.seed}; {hint}")
        return book


@click.command()
@gathered(
    "settings",
    Request,
    click.option("-t", "--target", "name", required=True, help="A target, or a file that ends in .toml."),
    device_option,
    api_option,
    runtime_option,
    option_option,
    click.option("--key", "keys", multiple=True, type=click.Choice(list(KEYS)), help="Tune for keys of this width."),
    click.option(
        "--algorithm",
        "labels",
        multiple=True,
        metavar="NAME",
        help="Tune this table, even if the file does not have it yet.",
    ),
    click.option(
        "--budget",
        type=Duration(),
        default="10m",
        show_default=True,
        help="The time of the whole run: 90s, 10m, 2h; only a validation that has begun may exceed it.",
    ),
    click.option(
        "--sizes", default="2^10,2^12,2^14,2^16,2^18,2^20,2^22", show_default=True, help="Counts to compare at."
    ),
    click.option("--seed", type=click.IntRange(0), help="Seed of shapes and keys; by default the journal's, or 1."),
    click.option(
        "--journal", "path", type=click.Path(path_type=Path), help="The journal to write, and to resume from."
    ),
    click.option(
        "--merge", "parts", multiple=True, type=click.Path(path_type=Path), help="Merge these journals first."
    ),
    click.option(
        "--limit", type=Duration(), default="30s", show_default=True, help="The time that a step of a shape may take."
    ),
    click.option("--write", is_flag=True, help="Change the target file instead of only showing the change."),
)
@click.option("--dask", metavar="ADDRESS", help="Race on the workers of this Dask scheduler.")
@require_option
@json_option
def tune(settings: Request, dask: str | None, require: bool, as_json: bool) -> None:
    """Find the shapes and the crossovers of a target on a device, and show what to change in its file.

    Shapes are drawn from the space that each algorithm declares, compiled and validated in separate processes, and
    raced against each other and against the shapes of the file.  Then the best shapes are compared with the shapes of
    the file at every power of two, and validated as `hsgen validate` does.  Each range of counts is assigned to an
    algorithm.  A journal records every step; after an interruption, the same command resumes from the journal.
    """
    target, name, tables = settings.target, settings.name, settings.tables
    file = target_file(name, write=settings.write)
    text = file.read_text(encoding="utf-8")
    count = len(request.starts(text, target, tables))
    if settings.budget < budget.LEAST:
        problem = (
            f"--budget {budget.words(settings.budget)}: is too small, since a race needs {budget.words(budget.LEAST)}"
        )
        one = f", or {budget.roomy(budget.enough(1))} with one --key and --algorithm" if count > 1 else ""
        raise Usage(f"{problem}; allow {budget.roomy(budget.enough(count))}{one}")
    with required(require):
        edit.available()
        field = settings.field(text)
        with closing(spread.Cluster(field, dask)) if dask else nullcontext() as cluster:
            book = settings.opened(text, field)
            field = replace(field, seed=book.head["seed"])
            report(field.device, field.api)
            with _resumable(book), showing(settings.budget) as progress:
                runner = cluster.on(field) if cluster else spread.Here(field, progress.beat)
                result = Tuning(text, target, tables, book, runner, progress.show).perform()
    chosen = edit.applied(text, name, result.tables, result.autos, [])
    rows = _evidence(field, book, result, evidence.shapes(tomllib.loads(chosen)))
    after = edit.applied(text, name, result.tables, result.autos, rows, result.notes)
    if settings.write:
        replace_file(file, after, "the journal holds all, so run this again")
    for head in edit.questionable(text, after, result.tables):
        click.echo(f"note: the comment above {head} may describe the numbers before", err=True)
    emit(result, edit.difference(text, after, file.name), book, file if settings.write else None, as_json=as_json)


def _resume(arguments: Sequence[str]) -> str:
    """Return the command that resumes a tuning: its command line without --merge, because the merge is done."""
    words, rest = [], iter(arguments)
    for word in rest:
        if word == "--merge":
            next(rest, "")
        elif not word.startswith("--merge="):
            words.append(word)
    return shlex.join(["hsgen", "tune", *words])


@contextmanager
def _resumable(book: journal.Journal) -> Iterator[None]:
    """If a signal ends the block, print the command that resumes the tuning."""
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        command = _resume(click.get_current_context().meta[ARGUMENTS])
        click.echo(f"\nhsgen: {len(book.records)} records are in {book.path}; resume here with: {command}", err=True)
        raise


def _evidence(field: Field, book: journal.Journal, result: Result, shapes: str) -> list[dict[str, str]]:
    """Return the rows of evidence that a tuning adds to the target file, one for each group of tables that were
    compared.

    The result is empty on a GPU that does not belong to the target.
    """
    if not field.level:
        return []
    row = {"level": field.level, "api": field.api, "device": field.name, "driver": field.driver}
    row |= {"date": book.head["date"], "shapes": shapes}
    return [{**row, "result": f"{edit.TUNED}{text}"} for text in result.evidence.values()]


SCHEMA = 1
_FAILED = ("label", "key", "table", "kind", "why")


def emit(result: Result, change: str, book: journal.Journal, written: Path | None, *, as_json: bool) -> None:
    """Print the result of a tuning.

    `change` is the diff of the target file.  `written` is the path of the file if it was changed, otherwise None.
    """
    if as_json:
        document = {
            "schema": SCHEMA,
            **{k: book.head[k] for k in ("hsgen", "target", "api", "device", "driver", "seed", "date")},
            "rows": [asdict(r) for r in result.rows],
            "tables": [{"algorithm": a, "key": k, "table": t} for (a, k), t in result.tables.items()],
            "sorts": result.autos,
            "failed": [{k: r[k] for k in _FAILED} for r in book.of("failed")],
            "diff": change,
        }
        click.echo(json.dumps(document))
        return
    emit_table(["key", "n", "before", "Mkeys/s", "after", "Mkeys/s", "ratio", "90 %"], map(_cells, result.rows))
    click.echo(f"\nwritten to {written}:\n\n{change}" if written else f"\n{change}" if change else "")


def _rate(x: float | None) -> str:
    return "-" if x is None else f"{x:.1f}"


def _cells(row: Row) -> list[object]:
    between = "-" if row.low is None or row.high is None else f"{row.low:.2f} to {row.high:.2f}"
    if row.same:
        return [row.key, row.n, row.before or "-", _rate(row.rate_before), row.after, "same", "-", "-"]
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f} x"
    return [row.key, row.n, row.before or "-", _rate(row.rate_before), row.after, _rate(row.rate_after), ratio, between]
