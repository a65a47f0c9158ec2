"""``hsgen targets`` and ``hsgen show``: what targets there are and what follows from one."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import click

from hsgen.apis import APIS
from hsgen.bundle.manifest import offered
from hsgen.cli import engines
from hsgen.cli.common import Count, Wanted, emit_json, emit_table, json_option, wanted_options
from hsgen.core.errors import Usage, shown
from hsgen.core.interpreter import launches
from hsgen.core.keys import KEYS, VALUES, Signature
from hsgen.core.sort import Sort
from hsgen.system import documents
from hsgen.targets import assembly, evidence, schema, upgrade
from hsgen.targets import target as target_files


@click.command()
@click.option("--markdown", is_flag=True, help="Print the table of docs/reference/targets.md.")
@click.option("--upgrade", "file", metavar="FILE", help="Rewrite a target file of schema 1 in schema 2, in place.")
@json_option
def targets(markdown: bool, file: str | None, as_json: bool) -> None:
    """List the targets that come with hsgen, and the evidence for each.

    There are three levels: compiled for the device's instruction set, run on a CPU runtime, run on the device itself.
    "(older shapes)" marks evidence that predates the present shapes.  Sorts of keys of a width also
    sort signed and float keys of it, in either order.
    """
    if file is not None:
        _upgrade(Path(file))
        return
    found = [target_files.find(n) for n in target_files.names()]
    if as_json:
        emit_json([_listed(t) for t in found])
        return
    levels = list(evidence.LEVELS)
    shown = {t.name: [evidence.cell(t.evidence, t.shapes, level) for level in levels] for t in found}
    if markdown:
        rows = [[f"`{t.name}`", f"{t.summary}: {_apis(t)}", *shown[t.name]] for t in found]
        head = ["target", "is for", *evidence.LEVELS.values()]
        click.echo("\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)))
        return
    sorting = {t.name: " ".join(f"{a}/{','.join(keys)}" for a, keys in _by_label(t).items()) for t in found}
    rows = [[t.name, " ".join(t.apis), sorting[t.name], *shown[t.name], t.summary] for t in found]
    emit_table(["target", "apis", "sorts", *evidence.LEVELS.values(), "summary"], rows)


def _upgrade(file: Path) -> None:
    """Rewrite a file in the present schema, at once or not at all, and say what was done."""
    text = documents.text(file, "give the path of a target file", name=f"target {shown(file)}")
    after = upgrade.upgraded(text, file.stem, shown(file))
    if after is None:
        click.echo(f"{shown(file)}: is of schema {schema.SCHEMA} already; nothing to do")
        return
    engines.replace(file, after, "nothing was changed")
    click.echo(f"{shown(file)}: rewritten from schema 1 to {schema.SCHEMA}; it makes the same choices")


def _apis(found: target_files.Target) -> str:
    return ", ".join(APIS[api].title for api in found.apis)


def _listed(t: target_files.Target) -> dict[str, Any]:
    return {
        "name": t.name,
        "apis": list(t.apis),
        "shapes": t.shapes,
        "standing": {level: evidence.standing(t.evidence, t.shapes, level) for level in evidence.LEVELS},
        "evidence": [dict(e) for e in t.evidence],
        "summary": t.summary,
        "sorts": [{"algorithm": a, "key": k} for k, a in _offers(t)],
        "types": list(offered(t)),
    }


def _offers(found: target_files.Target) -> list[tuple[str, str]]:
    """Each width that a target sorts, sums up or merges, with each label that it has for it."""
    return [(k, a) for k in KEYS if k in offered(found) for a in (*found.labels(k), *found.derived(k))]


def _by_label(found: target_files.Target) -> dict[str, list[str]]:
    """The widths of each label."""
    out: dict[str, list[str]] = {}
    for key, label in _offers(found):
        out.setdefault(label, []).append(key)
    return out


@click.command()
@click.argument("target")
@wanted_options
@click.option("--algorithm", metavar="NAME", help="Only this algorithm or variant, as `hsgen targets` lists it.")
@click.option("--plan", "count", type=Count(), metavar="N", help="Print the launches that sort N keys.")
@json_option
def show(target: str, wanted: Wanted, algorithm: str | None, count: int | None, as_json: bool) -> None:
    """Print what follows from TARGET: parameters, kernels, local memory, and the launch plan.

    TARGET is a name that `hsgen targets` lists or the path of a target file.
    """
    found = target_files.find(target)
    records = [_record(found, sort, count) for sort in wanted.sorts(found, (algorithm,) if algorithm else ())]
    if as_json:
        emit_json(records)
        return
    for number, record in enumerate(records):
        if number:
            click.echo()
        _print(record)


def _serves(found: target_files.Target, sort: Sort) -> list[str]:
    """The values and features in which the target has a sort of this label and width."""
    signatures = {value: Signature(value=value) for value in VALUES if value != "none"}
    signatures |= {
        "types": Signature(key_transform=True),
        "range": Signature(bit_range=True),
        "count": Signature(device_count=True),
    }
    return [name for name, signature in signatures.items() if _has(found, sort, signature)]


def _has(found: target_files.Target, sort: Sort, signature: Signature) -> bool:
    try:
        found.sort(sort.algorithm, sort.label, signature)
    except Usage:
        return False
    return True


def _record(found: target_files.Target, sort: Sort, count: int | None) -> dict[str, Any]:
    signature = sort.signature
    record: dict[str, Any] = {
        "sort": sort.name,
        "algorithm": sort.algorithm,
        "key": sort.label,
        "value": None if signature.value == "none" else signature.value,
        "key_transform": signature.key_transform,
        "features": list(signature.features),
        "serves": _serves(found, sort),
        "max_n": sort.plan.max_n,
        "parts": [
            {"algorithm": x.algorithm, "min_n": x.min_n, "max_n": x.max_n, "params": _params(x.params)}
            for x in sort.parts
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
    if count is not None:
        record["n"] = count
        record["launches"] = [
            {
                "kernel": x.step.kernel,
                "argument": x.argument,
                "groups": x.groups,
                "bytes": assembly.moved(sort, x.step, count),
            }
            for x in launches(sort.plan, count, in_place=False)
        ]
        record["bytes"] = assembly.traffic(sort, count)
        # once in and once out is the least that any sort of keys and values moves
        least = 2 * count * (sort.item_bytes + signature.value_bytes)
        record["roof_share"] = round(least / max(record["bytes"], 1), 4)
    return record


def _params(params: object) -> dict[str, object]:
    """The parameters of one part of a sort, defaults filled in."""
    return {f.name: getattr(params, f.name) for f in fields(cast(Any, params)) if f.name not in ("key", "signature")}


def _print(record: dict[str, Any]) -> None:
    features = [record["value"]] * bool(record["value"]) + ["all types of this width"] * record["key_transform"]
    click.echo(f"{record['sort']}: up to {record['max_n']} keys{_joined([*features, *record['features']])}")
    for part in record["parts"]:
        shown = ", ".join(f"{name} {value}" for name, value in part["params"].items() if value is not None)
        click.echo(f"  {part['algorithm']}, {part['min_n'] + 1} to {part['max_n']}: {shown}")
    for name, value in record["derived"]:
        click.echo(f"  {name}: {value}")
    if record["serves"]:
        click.echo(f"  also with: {', '.join(record['serves'])}")
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
    click.echo(
        f"plan for {n} keys: {len(rows)} launches, {record['bytes']} bytes of memory read and written; a sort that is "
        f"bound by memory alone then runs at {100 * record['roof_share']:.1f} % of the rate of a copy"
    )
    if rows:
        emit_table(["step", *rows[0]], [[i, *row.values()] for i, row in enumerate(rows, 1)])
