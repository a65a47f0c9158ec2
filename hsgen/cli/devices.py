"""``hsgen validate``, ``bench`` and ``doctor``: what needs a device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hsgen import bench as benchmarks
from hsgen import doctor as doctors
from hsgen import validate as validation
from hsgen.cli import places
from hsgen.cli.common import (
    device_option,
    emit_json,
    emit_table,
    json_option,
    key_option,
    parse_count,
    progress,
    require_option,
    required,
    seed_option,
)
from hsgen.errors import Usage, Wrong
from hsgen.peers import PEERS
from hsgen.spec import Sort


@click.command()
@places.target_option
@device_option
@key_option
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
    keys: tuple[str, ...],
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
    """Compile the kernels of a target and compare many sorts on a device with numpy; exit with 1 on a failure."""
    rows = []
    with required(require):
        drive = places.Drive(
            target=name, asked=api, runtime=runtime, options=options, bundle=bundle, algorithm=algorithm
        )
        place = places.find(device, keys, drive)
        for sort in place.sorts:
            rows.append(_validate(place, sort, full, seed))
    if as_json:
        emit_json(rows)
    else:
        emit_table(
            ["target", "api", "key", "device", "cases", "failures", "seed"],
            [[r[c] for c in ("target", "api", "key", "device", "cases", "failures", "seed")] for r in rows],
        )
    wrong = [f"{r['target']} {r['key']}: {x}" for r in rows for x in r["examples"]]
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
        "key": sort.key.name,
        "cases": report.cases,
        "failures": report.failed,
        "seed": seed,
        "full": full,
        "greatest_n": max(n for n, _ in pairs),
        "examples": report.failures,
    }


def parse_sizes(text: str) -> list[int]:
    """Return the counts that `text` names: numbers, powers (2^16), and ranges of powers of two (2^10..2^24).

    Raises:
        Usage: it is none of these.
    """
    out: list[int] = []
    for part in text.split(","):
        values = [parse_count(e) for e in part.split("..")]
        if not 1 <= len(values) <= 2 or None in values:
            raise Usage(f"sizes {text}: '{part}' is no count; write for example 1000,2^16 or 2^10..2^24")
        numbers = [v for v in values if v is not None]
        if len(numbers) == 1:
            out += numbers
            continue
        if any(v & (v - 1) or v == 0 for v in numbers) or numbers[0] > numbers[1]:
            raise Usage(f"sizes {text}: '{part}' must go from a power of two up to another, like 2^10..2^24")
        out += [1 << b for b in range(numbers[0].bit_length() - 1, numbers[1].bit_length())]
    if 0 in out:
        raise Usage(f"sizes {text}: a count of 0 cannot be timed; give at least 1")
    return out


@click.command()
@places.target_option
@device_option
@key_option
@click.option("--sizes", default="2^10..2^24", show_default=True, help="Counts: 1000,2^16 or 2^10..2^24.")
@click.option("--against", default="numpy", show_default=True, help=f"Peers: {', '.join(PEERS)}; empty for none.")
@click.option("--rounds", type=click.IntRange(1), default=9, show_default=True, help="Interleaved rounds.")
@places.api_option
@places.runtime_option
@places.option_option
@places.bundle_option
@places.algorithm_option
@seed_option
@require_option
@json_option
def bench(
    name: str | None,
    device: str | None,
    keys: tuple[str, ...],
    sizes: str,
    against: str,
    rounds: int,
    api: str | None,
    runtime: str | None,
    options: tuple[str, ...],
    bundle: Path | None,
    algorithm: str | None,
    seed: int,
    require: bool,
    as_json: bool,
) -> None:
    """Measure a target's sorts, its peers and a plain copy in one run, after each was checked.

    Rates are medians in Mkeys/s, data on the device (peers of the host: in its memory), wall time up to the end of
    the sort.  "hsgen is" is hsgen's rate over the peer's, the median over the rounds, in each of which all take turns.
    "of copy" is the memory that hsgen's sort moves, over its time, as a share of the copy's bandwidth.
    """
    counts = parse_sizes(sizes)
    peers = [p.strip() for p in against.split(",") if p.strip()]
    for peer in peers:
        if peer not in PEERS:
            raise Usage(f"peer {peer}: unknown; known are {', '.join(PEERS)}")
    rows: list[benchmarks.Row] = []
    with required(require):
        drive = places.Drive(
            target=name, asked=api, runtime=runtime, options=options, bundle=bundle, algorithm=algorithm
        )
        place = places.find(device, keys, drive, peers)
        for sort in place.sorts:
            rows += _bench(place, sort, counts, peers, rounds, seed)
    if as_json:
        emit_json([r.record() for r in rows])
    else:
        _print_bench(rows)


def _bench(
    place: places.Place, sort: Sort, counts: list[int], peers: list[str], rounds: int, seed: int
) -> list[benchmarks.Row]:
    if sort.scan:
        raise Usage(f"algorithm {sort.algorithm}: bench times sorts; name one of them")
    if max(counts) > sort.plan.max_n:
        raise Usage(f"sizes up to {max(counts)}: {sort.name} sorts up to {sort.plan.max_n} keys")
    label = place.host.label
    if place.library:
        more = {"sizes": counts, "against": peers, "rounds": rounds, "seed": seed, "label": label}
        found = places.follow(place.request(sort, "bench", **more), sort.name, len(counts))
        return [benchmarks.Row(**r) for r in found]
    show = progress(sort.name, len(counts))
    engine = places.direct(place.host, sort)
    return [row for some in benchmarks.measure(engine, counts, peers, rounds, seed, label, show) for row in some]


def _print_bench(rows: list[benchmarks.Row]) -> None:
    emit_table(
        ["target", "key", "n", "what", "Mkeys/s", "min", "max", "runs", "hsgen is", "of copy"],
        [
            [
                r.target,
                r.key,
                r.n,
                r.peer or f"hsgen {r.algorithm}",
                f"{r.mkeys_per_s:.1f}",
                f"{r.min:.1f}",
                f"{r.max:.1f}",
                r.runs,
                "-" if r.hsgen_ratio is None else f"{r.hsgen_ratio:.2f} x",
                "-" if r.roof_share is None else f"{100 * r.roof_share:.0f} %",
            ]
            for r in rows
        ],
    )
    for peer, version in {r.peer: r.peer_version for r in rows if r.peer_version}.items():
        click.echo(f"{peer}: {version}")


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
