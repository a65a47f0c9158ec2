"""``hsgen validate`` and ``doctor``: what is here, and whether sorts are right on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hsgen import doctor as doctors
from hsgen import validate as validation
from hsgen.cli import places
from hsgen.cli.common import (
    Wanted,
    device_option,
    emit_json,
    emit_table,
    json_option,
    progress,
    require_option,
    required,
    seed_option,
    wanted_options,
)
from hsgen.errors import Wrong
from hsgen.spec import Sort


@click.command()
@places.target_option
@device_option
@wanted_options
@places.api_option
@places.runtime_option
@places.option_option
@places.bundle_option
@places.algorithm_option
@click.option("--full", is_flag=True, help=f"At least {validation.FULL} cases a sort, not {validation.QUICK}.")
@seed_option
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
    seed: int,
    require: bool,
    as_json: bool,
) -> None:
    """Compile the kernels of a target and compare many sorts on a device with numpy; exit with 1 on a failure.

    Sorts for other types than unsigned ones, for descending order, bit ranges or counts on the device are called with
    all types of their width, both orders, and many ranges and counts.
    """
    rows = []
    with required(require):
        drive = places.Drive(
            target=name,
            asked=api,
            runtime=runtime,
            options=options,
            folder=bundle,
            algorithm=algorithm,
            wanted=wanted,
        )
        place = places.find(device, drive)
        for sort in place.sorts:
            rows.append(_validate(place, sort, full, seed))
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


def _validate(place: places.Place, sort: Sort, full: bool, seed: int) -> dict[str, Any]:
    pairs = validation.plan_cases(sort, full=full, seed=seed)
    if place.library:
        request = place.request(sort, "validate", full=full, seed=seed)
        found = places.follow(request, sort.name, len(pairs))
        report = validation.Report(cases=found["cases"], failed=found["failed"], failures=found["failures"])
    else:
        report = validation.run(places.direct(place.host, sort), pairs, seed, progress=progress(sort.name, len(pairs)))
    return {
        "target": sort.target,
        "api": place.api,
        "device": place.host.label,
        "algorithm": sort.algorithm,
        "key": sort.label,
        "value": None if sort.form.value == "none" else sort.form.value,
        "typed": sort.form.typed,
        "features": ["range"] * sort.form.ranged + ["count"] * sort.form.counted,
        "cases": report.cases,
        "failures": report.failed,
        "seed": seed,
        "full": full,
        "greatest_n": max(n for n, _ in pairs),
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
