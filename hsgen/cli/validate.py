"""``hsgen validate`` and ``doctor``: what is here, and whether sorts are right on it."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import click

from hsgen.cli import engines
from hsgen.cli.common import (
    Count,
    Wanted,
    emit_json,
    emit_table,
    json_option,
    progress,
    require_option,
    required,
    seed_option,
    wanted_options,
)
from hsgen.cli.device import compared_with_evidence, device_option
from hsgen.core.errors import Usage, Wrong
from hsgen.core.sort import Sort
from hsgen.engines.hosts import evidence_device, evidence_level
from hsgen.stages.epilogue import parsed
from hsgen.targets import evidence
from hsgen.targets import target as target_files
from hsgen.tools import doctor as doctors
from hsgen.tools.validate import large as larges
from hsgen.tools.validate import validation


@click.command()
@engines.target_option
@device_option
@wanted_options
@engines.api_option
@engines.runtime_option
@engines.option_option
@engines.bundle_option
@engines.algorithm_option
@click.option("--full", is_flag=True, help=f"At least {validation.FULL} cases a sort, not {validation.QUICK}.")
@seed_option
@click.option(
    "--large",
    type=Count(),
    metavar="COUNT",
    help="Sort this number of random keys, such as 2^28, and check the result by digests taken on the device.",
)
@click.option("--record", is_flag=True, help="Write what was shown into the target's file, as evidence.")
@require_option
@json_option
def validate(
    name: str | None,
    device: str | None,
    wanted: Wanted,
    api: str | None,
    runtime: str | None,
    options: tuple[str, ...],
    bundle: Path | None,
    algorithm: str | None,
    full: bool,
    large: int | None,
    seed: int,
    record: bool,
    require: bool,
    as_json: bool,
) -> None:
    """Compile the kernels of a target and compare many sorts on a device with numpy; exit with 1 on a failure.

    Sorts with key types, descending order, bit ranges or device-side counts are tested with every key type of that
    width, both orders, and many ranges and counts.
    """
    rows = []
    _check_options(wanted.epilogue, full, record, large)
    with required(require):
        drive = engines.Drive(
            target=name,
            asked=api,
            runtime=runtime,
            options=options,
            folder=bundle,
            algorithm=algorithm,
            wanted=wanted,
            large=large is not None,
            shim=True,
        )
        place = engines.find(device, drive)
        _tell(place)
        file = _recording(place) if record else None
        with compared_with_evidence(place.target, place.api, place.host, place.language):
            for sort in place.sorts:
                found = (
                    _validate(place, sort, full, seed, record) if large is None else _large(place, sort, large, seed)
                )
                rows.append(found)
            _shown(rows, seed, as_json)
    if file is not None:
        text = evidence.recorded(file.read_text(encoding="utf-8"), str(file), _row(place, rows))
        engines.replace(file, text, "nothing was recorded")


def _check_options(text: str, full: bool, record: bool, large: int | None) -> None:
    """Refuse options that exclude each other; of an epilogue evidence, and what changes what is compared."""
    if large is not None and (record or full):
        raise Usage(
            "--large goes with neither --full nor --record, which are about many small cases; leave it out there"
        )
    if not text:
        return
    if large is not None:
        raise Usage("--epilogue: is not known to the digests that --large compares; leave out one of them")
    if record:
        raise Usage("--epilogue: is no form of a target's sorts that evidence could be about; leave out --record")
    if parsed(text).changes_keys:
        raise Usage("--epilogue: changes keys, so nobody knows how they must come out; validate the sort without it")


def _shown(rows: list[dict[str, Any]], seed: int, as_json: bool) -> None:
    """Print what was found.

    Raises:
        Wrong: not all of it is right.
    """
    if as_json:
        emit_json(rows)
    else:
        columns = ["target", "api", "key", "value", "device", "cases", "failures", "seed"]
        emit_table(columns, [[r[c] or "none" if c == "value" else r[c] for c in columns] for r in rows])
    wrong = [
        f"{r['target']} {r['key']}{' ' + r['value'] if r['value'] else ''}: {x}" for r in rows for x in r["examples"]
    ]
    if wrong:
        raise Wrong(*wrong, f"repeat with --seed {seed}")


def _tell(place: engines.Place) -> None:
    """Say it where kernels do not run in their own language."""
    if place.language:
        said = f"the kernels run{place.language.replace(',', '')}, not as Apple's compiler makes them"
        click.echo(f"{place.api}: {said}", err=True)


def _recording(place: engines.Place) -> Path:
    """The file that evidence goes into.

    Raises:
        Usage: what runs here is none, or the file belongs to an installation.
    """
    _level(place)
    return engines.target_file(place.target, write=True)


def _level(place: engines.Place) -> str:
    """The level of evidence that a run reaches."""
    found, host = target_files.find(place.target), place.host
    level = evidence_level(found, host)
    if place.language and level == "device":
        level = "cpu" if host.type == "cpu" else None
    if level is None:
        raise Usage(f"{host.label}: is no device of target {found.name}; record on one that is, or on a CPU runtime")
    return level


def _row(place: engines.Place, rows: list[dict[str, Any]]) -> dict[str, str]:
    """What a validation without failures says in the target's file."""
    sorts = {r["algorithm"]: "" for r in rows}
    for name in sorts:
        keys = {f"{r['key']} with {r['value']}" if r["value"] else r["key"]: "" for r in rows if r["algorithm"] == name}
        sorts[name] = f"{name} of {' and '.join(keys)}"
    what = "validate --full" if rows[0]["full"] else "validate"
    features = {f: "" for r in rows for f in (["all types"] * r["key_transform"] + r["features"])}
    lanes = " and ".join(map(str, sorted({s.lanes for s in place.sorts})))
    cases = sum(r["cases"] for r in rows)
    return {
        "level": _level(place),
        "api": place.api,
        "device": evidence_device(place.host, place.language),
        "driver": place.host.driver,
        "date": datetime.date.today().isoformat(),
        "result": f"{', '.join([what, *sorts.values(), *features])}: {cases} cases at {lanes} lanes, 0 failures",
    }


def _large(place: engines.Place, sort: Sort, n: int, seed: int) -> dict[str, Any]:
    by = larges.checks(target_files.find(place.target), sort)
    if place.library:
        found = engines.follow(place.request(sort, "large", n=n, seed=seed), sort.name, 1)
    else:
        found = larges.faults(engines.direct(place.host, sort, place.api, by), by, n, seed)
    wrong = [f"{n} keys, random, in place, checked on the device: wrong are {', '.join(found)}"] if found else []
    return _found(place, sort, validation.Report(cases=1, failed=len(wrong), failures=wrong), n, seed, full=False)


def _validate(place: engines.Place, sort: Sort, full: bool, seed: int, strict: bool) -> dict[str, Any]:
    pairs = validation.plan_cases(sort, full=full, seed=seed)
    if place.library:
        request = place.request(sort, "validate", full=full, seed=seed)
        found = engines.follow(request, sort.name, len(pairs))
        report = validation.Report(cases=found["cases"], failed=found["failed"], failures=found["failures"])
    else:
        engine = engines.direct(place.host, sort, place.api, strict=strict)
        report = validation.run(engine, pairs, seed, progress=progress(sort.name, len(pairs)))
    return _found(place, sort, report, max(n for n, _ in pairs), seed, full=full)


def _found(
    place: engines.Place, sort: Sort, report: validation.Report, greatest: int, seed: int, *, full: bool
) -> dict[str, Any]:
    """What is printed of a sort."""
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


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """List devices and tools on this machine, and what each missing one costs."""
    found = doctors.findings()
    if as_json:
        emit_json([f.record() for f in found])
        return
    emit_table(
        ["what", "found", "without it you lack"],
        [[f.what, f.found or "-", f.costs if f.found is None else ""] for f in found],
    )
