"""``hsgen tune``: the numbers of a target, found on a device."""

from __future__ import annotations

import datetime
import json
import math
import re
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from hsgen.cli import engines
from hsgen.cli.common import Wanted, emit_table, json_option, require_option, required
from hsgen.cli.device import choose, device_option
from hsgen.cli.sizes import parse_sizes
from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS
from hsgen.core.sort import Sort
from hsgen.targets import evidence
from hsgen.targets import target as target_files
from hsgen.targets.target import Target
from hsgen.tools.tune import edit, journal, request, spread
from hsgen.tools.tune.final import Row
from hsgen.tools.tune.run import Result, Tuning
from hsgen.tools.tune.runner import Field, of_host
from hsgen.tools.tune.search import CONTESTANTS

SCHEMA = 1
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


class Budget(click.ParamType):  # type: ignore[type-arg]  # (generic since click 8.5 only)
    """A time: 90s, 10m, 2h."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds; click reports what is none."""
        found = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)([smh]?)", str(value).strip())
        if found is None or float(found[1]) <= 0:
            self.fail(f"'{value}' is no time; write for example 90s, 10m or 2h", param, ctx)
        return float(found[1]) * _UNITS[found[2]]


@click.command()
@click.option("-t", "--target", "name", required=True, help="A target, or a file that ends in .toml.")
@device_option
@engines.api_option
@engines.runtime_option
@engines.option_option
@click.option("--key", "keys", multiple=True, type=click.Choice(list(KEYS)), help="Tune for keys of this width.")
@click.option(
    "--algorithm", "labels", multiple=True, metavar="NAME", help="Tune this table, which the file need not have yet."
)
@click.option(
    "--budget", type=Budget(), default="10m", show_default=True, help="The time to spend, about: 90s, 10m, 2h."
)
@click.option("--sizes", default="2^10,2^12,2^14,2^16,2^18,2^20,2^22", show_default=True, help="Counts to compare at.")
@click.option("--seed", type=click.IntRange(0), help="Seed of shapes and keys; 1, or that of the journal.")
@click.option("--journal", "path", type=click.Path(path_type=Path), help="The journal to write, and to resume from.")
@click.option("--merge", "parts", multiple=True, type=click.Path(path_type=Path), help="Join these journals first.")
@click.option(
    "--limit", type=Budget(), default="30s", show_default=True, help="The time that a step of a shape may take."
)
@click.option("--dask", metavar="ADDRESS", help="Race on the workers of this Dask scheduler.")
@click.option("--write", is_flag=True, help="Change the target file instead of only showing the change.")
@require_option
@json_option
def tune(
    name: str,
    device: str | None,
    api: str | None,
    runtime: str | None,
    options: tuple[str, ...],
    keys: tuple[str, ...],
    labels: tuple[str, ...],
    budget: float,
    sizes: str,
    seed: int | None,
    path: Path | None,
    parts: tuple[Path, ...],
    limit: float,
    dask: str | None,
    write: bool,
    require: bool,
    as_json: bool,
) -> None:
    """Find the shapes and the crossovers of a target on a device, and show what to change in its file.

    Shapes are drawn from the space that each algorithm declares, compiled and validated in processes of their own, and
    raced against each other and against the file's; then the best are compared with the file's at every power of two,
    validated as `hsgen validate` does, and each range of counts is assigned to an algorithm.  Every step is recorded
    in a journal, from which the same command resumes after an interruption.
    """
    target = target_files.find(name)
    file = engines.target_file(name, write=write)
    text = file.read_text(encoding="utf-8")
    wanted = request.Wish(keys=keys, labels=labels, budget=budget, sizes=tuple(sorted(set(parse_sizes(sizes)))))
    request.starts(text, target, wanted)
    with required(require):
        edit.available()
        field = _field(target, text, name, device, api, runtime, options, limit, keys, write=write)
        with closing(spread.Cluster(field, dask)) if dask else nullcontext() as cluster:
            book = _journal(target, text, wanted, field, seed, path, parts)
            field = replace(field, seed=book.head["seed"])
            with _showing(book, budget) as tell:
                runner = cluster.on(field) if cluster else spread.Here(field, lambda: tell(None))
                result = Tuning(text, target, wanted, book, runner, tell).perform()
    chosen = edit.applied(text, name, result.tables, result.autos, [])
    rows = _evidence(field, book, result, evidence.shapes(tomllib.loads(chosen)))
    after = edit.applied(text, name, result.tables, result.autos, rows)
    if write:
        engines.replace(file, after, "the journal holds all, so run this again")
    _show(result, text, after, file, book, write=write, as_json=as_json)


def _field(
    target: Target,
    text: str,
    name: str,
    device: str | None,
    api: str | None,
    runtime: str | None,
    options: tuple[str, ...],
    limit: float,
    keys: tuple[str, ...],
    *,
    write: bool,
) -> Field:
    """The device to tune on: the one on which `hsgen validate` with the same options runs."""
    wanted = Wanted(keys=keys)
    drive = engines.Drive(
        target=name, asked=api, runtime=runtime, options=options, folder=None, algorithm=None, wanted=wanted
    )
    drive.check()
    shown = engines.devices(replace(drive, target=None, asked=drive.api)) if drive.native else None
    sorts: Sequence[Sort] = ()
    with suppress(Usage):  # tables may be missing yet
        sorts = drive.sorts(target)
    host = choose(device, shown, target, sorts, able=False)  # shapes may be all wrong, which is what tuning is for
    field = of_host(target, text, name, drive.api, host, native=drive.native, options=drive.words, limit=limit)
    if write and not field.level:
        hint = "tune on one that is, or on a CPU runtime, or leave out --write"
        raise Usage(f"{host.label}: is no device of target {target.name}; {hint}")
    return field


def _journal(
    target: Target,
    text: str,
    wanted: request.Wish,
    field: Field,
    seed: int | None,
    path: Path | None,
    parts: tuple[Path, ...],
) -> journal.Journal:
    """The journal to go on from."""
    head = request.new_header(
        text,
        target,
        field.facts,
        wanted,
        api=field.api,
        device=field.device,
        driver=field.driver,
        seed=1 if seed is None else seed,
        contestants=max(CONTESTANTS, field.jobs - 1),
        date=datetime.date.today().isoformat(),
    )
    path = path or Path(f"tune-{target.name}-{field.api}.jsonl")
    book = journal.merged(parts, path) if parts else journal.opened(path, head)
    journal.differs(path, book.head, head, [x for x in journal.SAME if x not in ("start", "sizes", "autos")])
    tuned, wished = (" ".join(sorted(x["start"])) for x in (book.head, head))
    if tuned != wished:
        raise Usage(f"journal {path}: tunes {tuned}, not {wished}; name another journal with --journal")
    if seed is not None and book.head["seed"] != seed:
        raise Usage(f"journal {path}: has seed {book.head['seed']}, not {seed}; name another journal with --journal")
    return book


@contextmanager
def _showing(book: journal.Journal, budget: float) -> Iterator[Callable[[str | None], None]]:
    """Show on stderr how much of the time is spent, and the best so far; a line each where stderr is no terminal."""
    begin = time.monotonic() - book.spent
    said: list[str] = [""]
    shown: Any = click.progressbar(
        length=math.ceil(budget), label="tuning", file=sys.stderr, item_show_func=lambda _: said[0], show_eta=False
    )
    with shown as bar:

        def tell(text: str | None) -> None:
            if text is not None and text != said[0]:
                said[0] = text
                if not sys.stderr.isatty():
                    click.echo(f"{time.monotonic() - begin:6.0f} s  {text}", err=True)
            now = min(int(time.monotonic() - begin), math.ceil(budget))
            bar.update(max(now - bar.pos, 0), said[0])

        yield tell


def _evidence(field: Field, book: journal.Journal, result: Result, shapes: str) -> list[dict[str, str]]:
    """What the tuning says for itself in the target's file, a row for each width of keys; none of a foreign GPU."""
    if not field.level:
        return []
    row = {"level": field.level, "api": field.api, "device": field.name, "driver": field.driver}
    row |= {"date": book.head["date"], "shapes": shapes}
    return [{**row, "result": f"{edit.TUNED}{found}"} for found in result.evidence.values()]


def _show(
    result: Result, before: str, after: str, file: Path, book: journal.Journal, *, write: bool, as_json: bool
) -> None:
    """Print what was found."""
    change = edit.difference(before, after, file.name)
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
    click.echo(f"\nwritten to {file}:\n\n{change}" if write else f"\n{change}" if change else "")


_FAILED = ("label", "key", "table", "kind", "why")


def _rate(x: float | None) -> str:
    return "-" if x is None else f"{x:.1f}"


def _cells(row: Row) -> list[object]:
    between = "-" if row.low is None or row.high is None else f"{row.low:.2f} to {row.high:.2f}"
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f} x"
    return [row.key, row.n, row.before or "-", _rate(row.rate_before), row.after, _rate(row.rate_after), ratio, between]
