"""``hsgen show``: print parameters, kernels and launch plans of a target."""

from __future__ import annotations

from typing import Any

import click

from hsgen.algorithms import operation
from hsgen.cli.options import Count, json_option
from hsgen.cli.output import emit_json, emit_table, emit_text
from hsgen.cli.sort_options import Wanted, wanted_options
from hsgen.core.errors import Usage
from hsgen.core.interpreter import launches
from hsgen.core.keys import VALUES, Signature
from hsgen.core.records import flat
from hsgen.core.sort import Sort
from hsgen.targets import assembly
from hsgen.targets import target as target_files


@click.command()
@click.argument("target")
@wanted_options
@click.option("--algorithm", metavar="NAME", help="Only this algorithm or variant, as `hsgen targets` lists it.")
@click.option("--plan", "count", type=Count(), metavar="N", help="Print the launches that sort N keys.")
@json_option
def show(target: str, selection: Wanted, algorithm: str | None, count: int | None, as_json: bool) -> None:
    """Print the parameters, kernels, local memory and launch plan that follow from TARGET.

    TARGET is a name that `hsgen targets` lists or the path of a target file.  With --plan, a sort of fewer keys than N,
    such as bitonic alone, has no launches.
    """
    known = target_files.find(target)
    sorts = selection.sorts(known, (algorithm,) if algorithm else ())
    sorting = [sort for sort in sorts if operation(sort.algorithm).by_count] or sorts
    if count is not None and all(count > sort.plan.max_n for sort in sorting):
        most = max(sorting, key=lambda sort: sort.plan.max_n)
        raise Usage(f"count {count}: this plan sorts 0 to {most.plan.max_n} keys; no other of {target} sorts more")
    records = [_record(known, sort, count) for sort in sorts]
    if as_json:
        emit_json(records)
        return
    for number, record in enumerate(records):
        if number:
            click.echo()
        _print(record)
        if count is not None and "n" not in record:
            emit_text(f"no plan for {count} keys: it sorts up to {record['max_n']}")


def _serves(target: target_files.Target, sort: Sort) -> list[str]:
    """Return the kinds of values and the features that a target supports for the algorithm and key width of `sort`."""
    signatures = {value: Signature(value=value) for value in VALUES if value != "none"}
    signatures |= {
        "types": Signature(key_transform=True),
        "bit-range": Signature(bit_range=True),
        "device-count": Signature(device_count=True),
    }
    return [name for name, signature in signatures.items() if _has(target, sort, signature)]


def _has(target: target_files.Target, sort: Sort, signature: Signature) -> bool:
    try:
        target.sort(sort.algorithm, sort.label, signature)
    except Usage:
        return False
    return True


def _record(target: target_files.Target, sort: Sort, count: int | None) -> dict[str, Any]:
    signature = sort.signature
    record: dict[str, Any] = {
        "sort": sort.name,
        "algorithm": sort.algorithm,
        "key": sort.label,
        "value": None if signature.value == "none" else signature.value,
        "key_transform": signature.key_transform,
        "features": list(signature.features),
        "serves": _serves(target, sort),
        "max_n": sort.plan.max_n,
        "parts": [
            {"algorithm": x.algorithm, "min_n": x.min_n, "max_n": x.max_n, "params": _params(x.params)}
            for x in sort.parts
            if x.min_n < x.max_n
        ],
        "derived": [list(note) for note in assembly.notes(sort)],
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
    return record if count is None or count > sort.plan.max_n else {**record, **_launches(sort, count)}


def _launches(sort: Sort, count: int) -> dict[str, Any]:
    """Return the launches that sort `count` keys, with the bytes that each reads and writes, as an object for JSON.

    The field `roof_share` is the bytes that a copy of keys and values moves, divided by the bytes of all launches.
    """
    moved = assembly.traffic(sort, count)
    least = (
        2 * count * (sort.item_bytes + sort.signature.value_bytes)
    )  # a copy reads and writes each key and value once
    return {
        "n": count,
        "launches": [
            {
                "kernel": x.step.kernel,
                "argument": x.argument,
                "groups": x.groups,
                "bytes": assembly.moved(sort, x.step, count),
            }
            for x in launches(sort.plan, count, in_place=False)
        ],
        "bytes": moved,
        "roof_share": round(least / max(moved, 1), 4),
    }


def _params(params: object) -> dict[str, object]:
    """Return the parameters, by name, of one of the sorts of "auto", including parameters with default values."""
    return {name: value for name, value in flat(params).items() if name not in ("key", "signature")}


def _print(record: dict[str, Any]) -> None:
    features = [record["value"]] * bool(record["value"]) + ["all types of this width"] * record["key_transform"]
    emit_text(f"{record['sort']}: up to {record['max_n']} keys{_joined([*features, *record['features']])}", 2)
    for part in record["parts"]:
        shown = ", ".join(f"{name} {value}" for name, value in part["params"].items() if value is not None)
        emit_text(f"  {part['algorithm']}, {part['min_n'] + 1} to {part['max_n']}: {shown}", 4)
    for name, value in record["derived"]:
        emit_text(f"  {name}: {value}", 4)
    if record["serves"]:
        emit_text(f"  also with: {', '.join(record['serves'])}", 4)
    columns = ("name", "work_group", "subgroup", "local_bytes", "summary")
    emit_table(
        ["kernel", "lanes", "subgroup", "local bytes", "does"], [[k[c] for c in columns] for k in record["kernels"]]
    )
    if "n" in record:
        _print_plan(record)


def _joined(words: list[str]) -> str:
    return f", with {', '.join(words)}" if words else ""


def _print_plan(record: dict[str, Any]) -> None:
    rows, n = record["launches"], record["n"]
    emit_text(
        f"plan for {n} keys: {len(rows)} launches, {record['bytes']} bytes of memory read and written; a sort that is "
        f"bound by memory alone then runs at {100 * record['roof_share']:.1f} % of the rate of a copy"
    )
    if rows:
        emit_table(["step", *rows[0]], [[i, *row.values()] for i, row in enumerate(rows, 1)])
