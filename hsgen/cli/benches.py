"""``hsgen bench``: sorts, peers and a copy measured on a device."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

import click

from hsgen import bench as benchmarks
from hsgen.cli import places
from hsgen.cli.common import (
    Wanted,
    device_option,
    emit_json,
    emit_table,
    json_option,
    parse_count,
    progress,
    require_option,
    required,
    seed_option,
    wanted_options,
)
from hsgen.errors import Usage
from hsgen.keys import ORDERS, TYPES
from hsgen.peers import PEERS, VALUED
from hsgen.plan import Options, bit_range
from hsgen.spec import Sort


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


def parse_bits(text: str) -> tuple[int, int]:
    """Return the first bit that `text` names, like 0..16, and the one behind the last.

    Raises:
        Usage: it names none.
    """
    found = re.fullmatch(r"(\d{1,2})\.\.(\d{1,2})", text.strip())
    if found is None:
        raise Usage(f"bits {text}: is no range; write the first bit and the one behind the last, like 0..16")
    return int(found[1]), int(found[2])


@click.command()
@places.target_option
@device_option
@wanted_options
@click.option("--bits", metavar="BEGIN..END", help="Sort by these bits alone, like 0..16; as --feature range does.")
@click.option("--sizes", default="2^10..2^24", show_default=True, help="Counts: 1000,2^16 or 2^10..2^24.")
@click.option(
    "--against",
    help=f"Peers: {', '.join({**PEERS, **VALUED})}; empty for none.  By default numpy, where it can.",
)
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
    wanted: Wanted,
    bits: str | None,
    sizes: str,
    against: str | None,
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
    "of copy" is the memory that hsgen's sort moves, over its time, as a share of the bandwidth of a copy of keys and
    values.  Peers sort whole unsigned keys, ascending; some of them with values.
    """
    counts = parse_sizes(sizes)
    peers = None if against is None else [p.strip() for p in against.split(",") if p.strip()]
    for peer in peers or []:
        if peer not in {**PEERS, **VALUED}:
            raise Usage(f"peer {peer}: unknown; known are {', '.join({**PEERS, **VALUED})}")
    begin, end = parse_bits(bits) if bits else (0, None)
    if bits:
        wanted = replace(wanted, features=("range", *wanted.features))
    rows: list[benchmarks.Row] = []
    with required(require):
        drive = places.Drive(
            target=name, asked=api, runtime=runtime, options=options, folder=bundle, algorithm=algorithm, wanted=wanted
        )
        place = places.find(device, drive, peers or [])
        calls = [(sort, how) for sort in place.sorts for how in _calls(sort, wanted, begin, end)]
        for sort, how in calls:
            _check_bench(sort, how, counts, peers)
        for sort, how in calls:
            some = peers if peers is not None else [p for p in benchmarks.known(sort, how) if p == "numpy"]
            rows += _bench(place, sort, how, counts, some, rounds, seed)
    if as_json:
        emit_json([r.record() for r in rows])
    else:
        _print_bench(rows)


def _calls(sort: Sort, wanted: Wanted, begin: int, end: int | None) -> list[Options]:
    """How a sort is called, once for each type and order that is wanted."""
    kinds = [TYPES[t].kind for t in TYPES if t in (wanted.keys or (sort.label,)) and TYPES[t].key == sort.label]
    orders = wanted.orders or ORDERS[:1]
    whole = Options(begin=begin, end=end, counted=sort.form.counted)
    return [replace(whole, kind=kind, descending=x == "descending") for kind, x in product(kinds, orders)]


def _check_bench(sort: Sort, how: Options, counts: list[int], peers: list[str] | None) -> None:
    """Refuse what cannot be timed.

    Raises:
        Usage: this is no sort, a count or the bit range is beyond it, or a peer cannot sort so.
    """
    if sort.scan:
        raise Usage(f"algorithm {sort.algorithm}: bench times sorts; name one of them")
    if max(counts) > sort.plan.max_n:
        raise Usage(f"sizes up to {max(counts)}: {sort.name} sorts up to {sort.plan.max_n} keys")
    bit_range(sort.plan, how)
    benchmarks.check(sort, how, peers or [])


def _bench(
    place: places.Place, sort: Sort, how: Options, counts: list[int], peers: list[str], rounds: int, seed: int
) -> list[benchmarks.Row]:
    label = place.host.label
    if place.library:
        more = {"sizes": counts, "against": peers, "rounds": rounds, "seed": seed, "label": label, "how": asdict(how)}
        found = places.follow(place.request(sort, "bench", **more), sort.name, len(counts))
        return [benchmarks.Row(**r) for r in found]
    show = progress(sort.name, len(counts))
    engine = places.direct(place.host, sort)
    return [row for some in benchmarks.measure(engine, counts, peers, rounds, seed, label, show, how) for row in some]


def _print_bench(rows: list[benchmarks.Row]) -> None:
    emit_table(
        ["target", "key", "value", "n", "what", "Mkeys/s", "min", "max", "runs", "hsgen is", "of copy"],
        [
            [
                r.target,
                r.key + " down" * (r.order == "descending"),
                r.value or "none",
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
