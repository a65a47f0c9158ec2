"""``hsgen targets`` and ``hsgen show``: what targets there are and what follows from one."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, cast

import click

from hsgen import target as target_files
from hsgen.algorithms import ALGORITHMS
from hsgen.cli.common import Count, emit_json, emit_table, json_option, key_option
from hsgen.plan import launches
from hsgen.spec import Sort, Step


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
                    "sorts": [{"algorithm": a, "key": k} for a, k in t.choices],
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
                " ".join(f"{a}/{k}" for a, k in t.choices),
                *("yes" if level in levels else "-" for level in target_files.LEVELS),
                t.summary,
            ]
        )
    emit_table(["target", "apis", "sorts", *target_files.LEVELS, "summary"], rows)


@click.command()
@click.argument("target")
@key_option
@click.option("--plan", "count", type=Count(), metavar="N", help="Print the launches that sort N keys.")
@json_option
def show(target: str, keys: tuple[str, ...], count: int | None, as_json: bool) -> None:
    """Print what follows from TARGET: parameters, kernels, local memory, and the launch plan.

    TARGET is a name that `hsgen targets` lists or the path of a target file.
    """
    found = target_files.find(target)
    records = [_record(found.sort(a, k), count) for a, k in found.choices if not keys or k in keys]
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
        "params": _params(sort),
        "derived": dict(ALGORITHMS[sort.algorithm].notes(sort.params)),
        "kernels": [
            {
                "name": k.name,
                "work_group": k.work_group,
                "subgroup": k.subgroup,
                "local_bytes": k.shared * sort.key.bytes,
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
                "bytes": _moved(sort, x.step, count),
            }
            for x in launches(sort.plan, count)
        ]
    return record


def _params(sort: Sort) -> dict[str, object]:
    """The parameters of a sort, defaults filled in."""
    return {f.name: getattr(sort.params, f.name) for f in fields(cast(Any, sort.params)) if f.name != "key"}


def _moved(sort: Sort, step: Step, n: int) -> int:
    return ALGORITHMS[sort.algorithm].moved(sort.params, step, n)


def _print(record: dict[str, Any]) -> None:
    click.echo(f"{record['sort']}: up to {record['max_n']} keys")
    click.echo("  parameters: " + ", ".join(f"{name} {value}" for name, value in record["params"].items()))
    for name, value in record["derived"].items():
        click.echo(f"  {name}: {value}")
    columns = ("name", "work_group", "subgroup", "local_bytes", "summary")
    emit_table(
        ["kernel", "lanes", "subgroup", "local bytes", "does"], [[k[c] for c in columns] for k in record["kernels"]]
    )
    if "n" in record:
        _print_plan(record["n"], record["launches"])


def _print_plan(n: int, rows: list[dict[str, Any]]) -> None:
    total = sum(row["bytes"] for row in rows)
    click.echo(f"plan for {n} keys: {len(rows)} launches, {total} bytes of memory read and written")
    if rows:
        emit_table(["step", *rows[0]], [[i, *row.values()] for i, row in enumerate(rows, 1)])
