"""``hsgen validate``: compare sorts on a device with numpy."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from hsgen.cli import engines
from hsgen.cli.device import compared_with_evidence, report
from hsgen.cli.drive import Drive, drive_options
from hsgen.cli.options import Count, json_option, require_option, required, seed_option
from hsgen.cli.output import emit_json, emit_table, fault
from hsgen.cli.progress import progress
from hsgen.cli.sort_options import Wanted
from hsgen.cli.target_file import replace as replace_file
from hsgen.cli.target_file import target_file
from hsgen.core.errors import Usage, Wrong
from hsgen.core.scratch import ANY_N
from hsgen.core.sort import Sort
from hsgen.engines import shims
from hsgen.engines.hosts import evidence_device, evidence_level
from hsgen.stages.epilogue import parsed
from hsgen.targets import evidence
from hsgen.targets import target as target_files
from hsgen.tools.validate import large as larges
from hsgen.tools.validate import validation


@click.command()
@drive_options
@click.option("--full", is_flag=True, help=f"At least {validation.FULL} cases per sort instead of {validation.QUICK}.")
@seed_option
@click.option(
    "--large",
    type=Count(),
    metavar="COUNT",
    help="Sort this number of random keys, such as 2^28, and check the result by digests computed on the device.",
)
@click.option("--record", is_flag=True, help="Write the result into the target's file, as evidence.")
@require_option
@json_option
def validate(
    drive: Drive, full: bool, seed: int, large: int | None, record: bool, require: bool, as_json: bool
) -> None:
    """Compile the kernels of a target and compare many sorts on a device with numpy; exit with 1 on a failure.

    Sorts with key types, descending order, bit ranges or device-side counts are tested with every key type of that
    width, both orders, and many ranges and counts.
    """
    rows = []
    _check_options(drive.selection, full, record, large)
    with required(require):
        place = engines.find(replace(drive, large=large is not None, shim=True))
        file = _recording(place) if record else None
        report(place.host.label, place.api)
        _report_language(place)
        with compared_with_evidence(place.target, place.api, place.host, place.language):
            for sort in place.sorts:
                row = _validate(place, sort, full, seed, record) if large is None else _large(place, sort, large, seed)
                rows.append(row)
            _shown(rows, seed, as_json)
    if file is not None:
        text = evidence.recorded(file.read_text(encoding="utf-8"), str(file), _row(place, rows))
        replace_file(file, text, "nothing was recorded")


def _check_options(selection: Wanted, full: bool, record: bool, large: int | None) -> None:
    """Check that options do not exclude each other, and that the epilogue changes no keys.

    Raises:
        Usage: two options exclude each other, or the epilogue changes keys.
    """
    if large is not None and (record or full):
        raise Usage("--large excludes --full and --record, which are about many small cases; omit it there")
    if record and selection.max_n < ANY_N:
        raise Usage("--max-n: evidence is about sorts of any count; omit --record")
    if not (text := selection.epilogue):
        return
    if large is not None:
        raise Usage("--epilogue: the digests that --large compares do not cover it; omit one of them")
    if record:
        raise Usage("--epilogue: evidence is about sorts without an epilogue; omit --record")
    if parsed(text).changes_keys:
        raise Usage("--epilogue: changes keys, so results cannot be verified; validate the sort without it")


def _shown(rows: list[dict[str, Any]], seed: int, as_json: bool) -> None:
    """Print the results of all sorts.

    Raises:
        Wrong: a test case failed.
    """
    if as_json:
        emit_json(rows)
    else:
        columns = ["target", "api", "key", "value", "device", "cases", "failures", "seed"]
        emit_table(
            columns, [[r[c] or "none" if c == "value" else r[c] for c in columns] for r in rows], {"failures": fault}
        )
    wrong = [
        f"{r['target']} {r['key']}{' ' + r['value'] if r['value'] else ''}: {x}" for r in rows for x in r["examples"]
    ]
    if wrong:
        raise Wrong(*wrong, f"repeat with --seed {seed}")


def _report_language(place: engines.Place) -> None:
    """Print a line on stderr if kernels run in another language than that of their API."""
    if place.language:
        shim = shims.SHIMS.get(place.api)
        otherwise = f", not as {shim.compiler} makes them" if shim else ""
        notice = f"the kernels run{place.language.replace(',', '')}{otherwise}"
        click.echo(f"{place.api}: {notice}", err=True)


def _recording(place: engines.Place) -> Path:
    """Return the target file in which evidence is recorded.

    Raises:
        Usage: a run on this device is no evidence for the target, or the file is part of an installed hsgen.
    """
    _level(place)
    return target_file(place.target, write=True)


def _level(place: engines.Place) -> str:
    """Return what a passed run on this device is evidence for: "device" (the target's devices) or "cpu" (a CPU runtime
    only).

    Raises:
        Usage: a run on this device is no evidence for the target.
    """
    target, host = target_files.find(place.target), place.host
    level = evidence_level(target, host)
    if place.language and level == "device":
        level = "cpu" if host.type == "cpu" else None
    if level is None:
        raise Usage(f"{host.label}: is no device of target {target.name}; record on one that is, or on a CPU runtime")
    return level


def _row(place: engines.Place, rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the row that records a validation without failures as evidence in the target file."""
    sorts = {r["algorithm"]: "" for r in rows}
    for name in sorts:
        keys = {f"{r['key']} with {r['value']}" if r["value"] else r["key"]: "" for r in rows if r["algorithm"] == name}
        sorts[name] = f"{name} of {' and '.join(keys)}"
    command = "validate --full" if rows[0]["full"] else "validate"
    features = {f: "" for r in rows for f in (["all types"] * r["key_transform"] + r["features"])}
    lanes = " and ".join(map(str, sorted({s.lanes for s in place.sorts})))
    cases = sum(r["cases"] for r in rows)
    return {
        "level": _level(place),
        "api": place.api,
        "device": evidence_device(place.host, place.language),
        "driver": place.host.driver,
        "date": datetime.date.today().isoformat(),
        "result": f"{', '.join([command, *sorts.values(), *features])}: {cases} cases at {lanes} lanes, 0 failures",
    }


def _large(place: engines.Place, sort: Sort, n: int, seed: int) -> dict[str, Any]:
    by = larges.checks(target_files.find(place.target), sort)
    if place.library:
        faults = engines.follow(place.request(sort, "large", n=n, seed=seed), sort.name, 1)
    else:
        faults = larges.faults(engines.direct(place.host, sort, place.api, by), by, n, seed)
    wrong = [f"{n} keys, random, in place, checked on the device: wrong are {', '.join(faults)}"] if faults else []
    return _result(place, sort, validation.Report(cases=1, failed=len(wrong), failures=wrong), n, seed, full=False)


def _validate(place: engines.Place, sort: Sort, full: bool, seed: int, strict: bool) -> dict[str, Any]:
    pairs = validation.plan_cases(sort, full=full, seed=seed)
    if place.library:
        request = place.request(sort, "validate", full=full, seed=seed)
        answer = engines.follow(request, sort.name, len(pairs))
        report = validation.Report(cases=answer["cases"], failed=answer["failed"], failures=answer["failures"])
    else:
        engine = engines.direct(place.host, sort, place.api, strict=strict)
        report = validation.run(engine, pairs, seed, progress=progress(sort.name, len(pairs)))
    return _result(place, sort, report, max(n for n, _ in pairs), seed, full=full)


def _result(
    place: engines.Place, sort: Sort, report: validation.Report, greatest: int, seed: int, *, full: bool
) -> dict[str, Any]:
    """Return the result of one sort as a row to print."""
    return {
        "target": sort.target,
        "api": place.api,
        "device": place.host.label + place.language,
        "algorithm": sort.algorithm,
        "key": sort.label,
        "value": None if sort.signature.value == "none" else sort.signature.value,
        "key_transform": sort.signature.key_transform,
        "features": list(sort.signature.features),
        "cases": report.cases,
        "failures": report.failed,
        "seed": seed,
        "full": full,
        "greatest_n": greatest,
        "examples": report.failures,
    }
