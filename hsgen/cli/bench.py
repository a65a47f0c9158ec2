"""``hsgen bench``: sorts, peers and a copy measured on a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import click

from hsgen import operations
from hsgen.cli import bench_sorts, engines
from hsgen.cli.bench_output import emit_rows
from hsgen.cli.bench_sorts import Rival
from hsgen.cli.common import Wanted, json_option, progress, require_option, required, seed_option, wanted_options
from hsgen.cli.device import device_option
from hsgen.cli.sizes import HELP, parse_bits, parse_sizes
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, bit_range
from hsgen.core.keys import ORDERS, TYPES
from hsgen.core.sort import Sort
from hsgen.stages.epilogue import parsed
from hsgen.tools import bench as benchmarks
from hsgen.tools.bench import plot
from hsgen.tools.bench.baselines import KNOWN


@click.command()
@engines.target_option
@device_option
@wanted_options
@click.option("--bits", metavar="BEGIN..END", help="Sort by these bits alone, like 0..16; as --feature bit-range does.")
@click.option(
    "--sizes",
    "counts",
    default="2^10..2^24",
    show_default=True,
    callback=lambda *given: parse_sizes(given[2]),
    help=HELP,
)
@click.option(
    "--segments",
    "parts",
    metavar="COUNTS",
    callback=lambda *given: [] if given[2] is None else parse_sizes(given[2], "segments"),
    help="Numbers of segments, written as --sizes; for --algorithm segmented_sort.",
)
@click.option("--rows", is_flag=True, help="Segments of equal length; cut at random if not given.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(list(benchmarks.INPUTS)),
    metavar="NAME",
    help=f"What is sorted: {', '.join(benchmarks.INPUTS)}; random if not given.",
)
@click.option(
    "--against",
    "names",
    callback=lambda *given: None if given[2] is None else _names(given[2]),
    help=f"Peers: {', '.join(KNOWN)}; or another sort of hsgen: hsgen:LABEL of the target (auto, merge, radix-bits2; "
    "plain: without what --algorithm and --feature ask for), hsgen:TARGET, hsgen:FILE.toml, the last two also with "
    ":LABEL; empty for none.  By default numpy, where it can.",
)
@click.option("--rounds", type=click.IntRange(1), default=9, show_default=True, help="Interleaved rounds.")
@engines.api_option
@engines.runtime_option
@engines.option_option
@engines.bundle_option
@engines.algorithm_option
@seed_option
@require_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of a table.")
@click.option("--plot", "picture", metavar="FILE", help="Draw throughput against the count, too: FILE.svg or FILE.png.")
def bench(
    name: str | None,
    device: str | None,
    wanted: Wanted,
    bits: str | None,
    counts: list[int],
    parts: list[int],
    rows: bool,
    kinds: tuple[str, ...],
    names: list[str] | None,
    rounds: int,
    api: str | None,
    runtime: str | None,
    options: tuple[str, ...],
    bundle: Path | None,
    algorithm: str | None,
    seed: int,
    require: bool,
    as_json: bool,
    as_csv: bool,
    picture: str | None,
) -> None:
    """Measure a target's sorts, rivals, peers and a plain copy in one run; each is checked first.

    Rates are medians in Mkeys/s with their spread, by wall time up to the end of the sort, with the data in device
    memory (for host peers: in host memory); "device" is the rate by the device's clock.  "hsgen is" is hsgen's rate
    divided by the other's: the median over the rounds, in each of which all take turns, and its 90 % interval.  "of
    roof" is the bandwidth that hsgen's sort uses, as a share of that of a copy of keys and values.  Peers sort unsigned
    keys by all bits, ascending; some also with values.  --algorithm merge_path merges sorted halves.
    """
    peers = [name for name in names or [] if not name.startswith(bench_sorts.PREFIX)]
    signature = _form(as_json=as_json, as_csv=as_csv)
    begin, end = parse_bits(bits) if bits else (0, None)
    wanted = replace(wanted, features=("bit-range", *wanted.features)) if bits else wanted
    with required(require):
        if picture:
            plot.check(picture)
        drive = engines.Drive(
            target=name, asked=api, runtime=runtime, options=options, folder=bundle, algorithm=algorithm, wanted=wanted
        )
        place = engines.find(device, drive, peers)
        others = bench_sorts.read(names or [], place.target)
        calls = [(sort, replace(how, rows=rows)) for sort in place.sorts for how in _calls(sort, wanted, begin, end)]
        for sort, how in calls:
            _check_bench(sort, how, counts, peers, parts)
        task = _Task(counts, parts or [0], kinds or ("random",), names, rounds, seed)
        found = [row for sort, how in calls for row in _bench(place, drive, task, others, sort, how)]
    emit_rows(found, signature, rounds=rounds, seed=seed)
    if picture:
        plot.save([row.record() for row in found], picture)


def _form(*, as_json: bool, as_csv: bool) -> str:
    """How rows are printed, as `emit_rows` names it.

    Raises:
        Usage: in two ways.
    """
    if as_json and as_csv:
        raise Usage("--json and --csv: both print rows; give one of them")
    return "json" if as_json else "csv" if as_csv else "table"


def _names(against: str) -> list[str]:
    """The contestants that --against names, each once.

    Raises:
        Usage: one is neither a peer nor begins as a rival.
    """
    names = list(dict.fromkeys(name.strip() for name in against.split(",") if name.strip()))
    for name in names:
        if name not in KNOWN and not name.startswith(bench_sorts.PREFIX):
            raise Usage(f"peer {name}: unknown; known are {', '.join(KNOWN)}, and hsgen:LABEL and others for rivals")
    return names


@dataclass(frozen=True, slots=True)
class _Task:
    """What is measured of every sort; `against` is None for the peers that are measured without a word."""

    counts: list[int]
    segments: list[int]
    kinds: Sequence[str]
    against: list[str] | None
    rounds: int
    seed: int


def _calls(sort: Sort, wanted: Wanted, begin: int, end: int | None) -> list[Options]:
    """How a sort is called, once for each type and order that is wanted."""
    kinds = [TYPES[t].kind for t in TYPES if t in (wanted.keys or (sort.label,)) and TYPES[t].key == sort.label]
    orders = wanted.orders or ORDERS[:1]
    whole = Options(begin=begin, end=end, device_count=sort.signature.device_count)
    return [replace(whole, kind=kind, descending=x == "descending") for kind, x in product(kinds, orders)]


def _check_bench(sort: Sort, how: Options, counts: list[int], peers: list[str], parts: list[int]) -> None:
    """Refuse what cannot be timed.

    Raises:
        Usage: this neither sorts nor merges, a count or the bit range is beyond it, a peer cannot sort so, or
            `parts`, the numbers of segments, do not fit.
    """
    if not operations.of(sort).timed:
        raise Usage(f"algorithm {sort.algorithm}: bench times sorts, segments and merges; name one of them")
    if max(counts) > sort.plan.max_n:
        raise Usage(f"sizes up to {max(counts)}: {sort.name} sorts up to {sort.plan.max_n} keys")
    if sort.signature.epilogue and parsed(sort.signature.epilogue).changes_keys:
        raise Usage("--epilogue: changes keys, so that nobody knows how they must come out; measure one that does not")
    bit_range(sort.plan, how)
    benchmarks.check(sort, how, peers)
    _check_segments(sort, counts, parts, rows=how.rows)


def _check_segments(sort: Sort, counts: list[int], parts: list[int], *, rows: bool) -> None:
    """Refuse numbers of segments that are missing, out of place, or make no rows.

    Raises:
        Usage: that is said.
    """
    if not operations.of(sort).segmented:
        if parts or rows:
            raise Usage(
                f"{'segments' if parts else 'rows'}: {sort.name} has no segments; add --algorithm segmented_sort"
            )
        return
    if not parts:
        raise Usage("algorithm segments: say how many there are, for example --segments 2^10,2^14")
    if max(parts) >= 2**31:
        raise Usage(f"segments {max(parts)}: there are up to {2**31 - 1}; give fewer")
    odd = next(((n, p) for n in counts for p in parts if rows and n % p), None)
    if odd:
        raise Usage(f"segments {odd[1]}: {odd[0]} keys do not make so many rows of equal length; leave out --rows")


def _bench(
    place: engines.Place, drive: engines.Drive, task: _Task, others: dict[str, Rival], sort: Sort, how: Options
) -> list[benchmarks.Row]:
    """The rows of one sort, called in one way, from this process or, through the C runtime, from a worker."""
    label, steps = place.host.label, len(task.counts) * len(task.segments) * len(task.kinds)
    against = task.against
    if against is None:
        against = [name for name in benchmarks.known(sort, how) if name == "numpy"]
    if place.library:
        said = {"sizes": task.counts, "kinds": task.kinds, "against": against, "rounds": task.rounds}
        said |= {"seed": task.seed, "label": label, "how": asdict(how), "segments": task.segments}
        said |= {"rivals": bench_sorts.requests(others, sort, place.host, drive)}
        found = engines.follow(place.request(sort, "bench", **said), sort.name, steps)
        return [benchmarks.Row(**r) for r in found]
    engine, show = engines.direct(place.host, sort, strict=True), progress(sort.name, steps)
    beside = bench_sorts.engines(others, sort, place.host)
    more: dict[str, Any] = {"rivals": beside, "kinds": task.kinds, "segments": task.segments}
    rows = benchmarks.measure(engine, task.counts, against, task.rounds, task.seed, label, show, how, **more)
    return [row for some in rows for row in some]
