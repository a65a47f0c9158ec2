"""``hsgen targets`` and ``hsgen show``: what targets there are and what follows from one."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, cast

import click

from hsgen import sorts
from hsgen import target as target_files
from hsgen.cli.common import Count, emit_json, emit_table, json_option, key_option
from hsgen.errors import Usage
from hsgen.plan import launches
from hsgen.spec import KEYS, Sort


@click.command()
@json_option
def targets(as_json: bool) -> None:
    """List the targets that come with hsgen, with the evidence that each has.

    Evidence levels: compiled (for the device's instruction set), cpu (run on a CPU runtime), device (run on
    the device itself).
    """
    found = [target_files.find(n) for n in target_files.names()]
    if as_json:
        emit_json(
            [
                {
                    "name": t.name,
                    "apis": list(t.apis),
                    "evidence": [dict(e) for e in t.evidence],
                    "summary": t.summary,
                    "sorts": [{"algorithm": a, "key": k} for k in KEYS for a in t.labels(k)],
                }
                for t in found
            ]
        )
        return
    rows = []
    for t in found:
        levels = {e["level"] for e in t.evidence}
        rows.append(
            [
                t.name,
                " ".join(t.apis),
                " ".join(f"{a}/{k}" for k in KEYS for a in t.labels(k)),
                *("yes" if level in levels else "-" for level in target_files.LEVELS),
                t.summary,
            ]
        )
    emit_table(["target", "apis", "sorts", *target_files.LEVELS, "summary"], rows)


@click.command()
@click.argument("target")
@key_option
@click.option("--algorithm", metavar="NAME", help="Only this algorithm or variant, as `hsgen targets` lists it.")
@click.option("--plan", "count", type=Count(), metavar="N", help="Print the launches that sort N keys.")
@json_option
def show(target: str, keys: tuple[str, ...], algorithm: str | None, count: int | None, as_json: bool) -> None:
    """Print what follows from TARGET: parameters, kernels, local memory, and the launch plan.

    TARGET is a name that `hsgen targets` lists or the path of a target file.
    """
    found = target_files.find(target)
    pairs = [(a, k) for k in KEYS for a in found.labels(k) if (not keys or k in keys) and algorithm in (None, a)]
    if not pairs:
        raise Usage(f"target {found.name}: no {algorithm or 'sort'} for these keys; `hsgen targets` lists what it has")
    records = [_record(found.sort(a, k), count) for a, k in pairs]
    if as_json:
        emit_json(records)
        return
    for number, record in enumerate(records):
        if number:
            click.echo()
        _print(record)


def _record(sort: Sort, count: int | None) -> dict[str, Any]:
    record: dict[str, Any] = {
        "sort": sort.name,
        "algorithm": sort.algorithm,
        "key": sort.key.name,
        "max_n": sort.plan.max_n,
        "parts": [
            {"algorithm": x.algorithm, "min_n": x.min_n, "max_n": x.max_n, "params": _params(x.params)}
            for x in sort.parts
        ],
        "derived": [list(note) for note in sorts.notes(sort)],
        "kernels": [
            {
                "name": k.name,
                "work_group": k.work_group,
                "subgroup": k.subgroup,
                "local_bytes": k.local_bytes(sort.key),
                "summary": k.summary,
            }
            for k in sort.kernels
        ],
    }
    if count is not None:
        record["n"] = count
        record["launches"] = [
            {
                "kernel": x.step.kernel,
                "argument": x.step.argument,
                "groups": x.groups,
                "bytes": sorts.moved(sort, x.step, count),
            }
            for x in launches(sort.plan, count, in_place=False)
        ]
        record["bytes"] = sorts.traffic(sort, count)
        # once in and once out is the least that any sort moves
        record["roof_share"] = round(2 * count * sort.item_bytes / max(record["bytes"], 1), 4)
    return record


def _params(params: object) -> dict[str, object]:
    """The parameters of one part of a sort, defaults filled in."""
    return {f.name: getattr(params, f.name) for f in fields(cast(Any, params)) if f.name != "key"}


def _print(record: dict[str, Any]) -> None:
    click.echo(f"{record['sort']}: up to {record['max_n']} keys")
    for part in record["parts"]:
        shown = ", ".join(f"{name} {value}" for name, value in part["params"].items() if value is not None)
        click.echo(f"  {part['algorithm']}, {part['min_n'] + 1} to {part['max_n']}: {shown}")
    for name, value in record["derived"]:
        click.echo(f"  {name}: {value}")
    columns = ("name", "work_group", "subgroup", "local_bytes", "summary")
    emit_table(
        ["kernel", "lanes", "subgroup", "local bytes", "does"], [[k[c] for c in columns] for k in record["kernels"]]
    )
    if "n" in record:
        _print_plan(record)


def _print_plan(record: dict[str, Any]) -> None:
    rows, n = record["launches"], record["n"]
    click.echo(
        f"plan for {n} keys: {len(rows)} launches, {record['bytes']} bytes of memory read and written; a sort that is "
        f"bound by memory alone then runs at {100 * record['roof_share']:.1f} % of the rate of a copy"
    )
    if rows:
        emit_table(["step", *rows[0]], [[i, *row.values()] for i, row in enumerate(rows, 1)])
