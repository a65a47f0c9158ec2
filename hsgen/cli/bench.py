"""``hsgen bench``: measure sorts, baselines and a copy on a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import click

from hsgen import operations
from hsgen.cli import bench_baselines, bench_output, engines
from hsgen.cli.bench_baselines import Alternative
from hsgen.cli.bench_output import Output, output_options
from hsgen.cli.device import report
from hsgen.cli.drive import Drive, drive_options
from hsgen.cli.options import Count, gathered, require_option, required, seed_option
from hsgen.cli.progress import progress
from hsgen.cli.sizes import HELP, parse_bits, parse_sizes
from hsgen.cli.sort_options import Wanted
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, bit_range
from hsgen.core.keys import ORDERS, TYPES
from hsgen.core.sort import Sort
from hsgen.stages.epilogue import parsed
from hsgen.tools import bench as benchmarks
from hsgen.tools.bench.baselines import KNOWN


@dataclass(frozen=True, slots=True)
class Task:
    """What to measure for each sort: the numbers of keys, the kinds of input, and the baselines.

    parts: the numbers of segments for a segmented sort.  rows: the segments have equal length.  take: the number of
    keys to take from each row.
    kinds: the kinds of input.
    against: the names of the baselines.  None selects numpy if numpy supports the sort, and also `hsgen:each` (every
    algorithm of the target, alone) if the device belongs to the target.
    """

    counts: list[int]
    parts: list[int]
    rows: bool
    take: int
    kinds: tuple[str, ...]
    against: list[str] | None
    rounds: int
    seed: int

    @property
    def segments(self) -> list[int]:
        """The numbers of segments to measure; [0] for sorts without segments."""
        return self.parts or [0]

    @property
    def inputs(self) -> Sequence[str]:
        """The kinds of input to measure."""
        return self.kinds or ("random",)

    @property
    def baselines(self) -> list[str]:
        """The names of the baselines that are not sorts of hsgen."""
        return [name for name in self.against or [] if not name.startswith(bench_baselines.PREFIX)]


@click.command()
@drive_options
@click.option("--bits", metavar="BEGIN..END", help="Sort only by these bits, like 0..16; implies --feature bit-range.")
@gathered(
    "task",
    Task,
    click.option(
        "--sizes",
        "counts",
        default="2^10..2^24",
        show_default=True,
        callback=lambda *passed: parse_sizes(passed[2]),
        help=HELP,
    ),
    click.option(
        "--segments",
        "parts",
        metavar="COUNTS",
        callback=lambda *passed: [] if passed[2] is None else parse_sizes(passed[2], "segments"),
        help="Numbers of segments, written as --sizes; for --algorithm segmented_sort.",
    ),
    click.option("--rows", is_flag=True, help="Segments of equal length instead of random lengths."),
    click.option(
        "--take", "take", default=0, metavar="K", type=Count(), help="Keys to take of each row; for radix_select."
    ),
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        type=click.Choice(list(benchmarks.INPUTS)),
        metavar="NAME",
        help=f"The input: {', '.join(benchmarks.INPUTS)}; by default random.",
    ),
    click.option(
        "--against",
        callback=bench_baselines.named,
        help=f"Baselines: {', '.join(KNOWN)}; or another sort of hsgen: hsgen:LABEL of the target (auto, bitonic, "
        "radix-bits2; plain: without the options --algorithm and --feature; each: all sorts of the plan for any "
        "count), hsgen:TARGET, hsgen:FILE.toml, the last two also with :LABEL; an empty list for none.  By default "
        "numpy, where it can sort so, and hsgen:each on a device that the target is for.",
    ),
    click.option("--rounds", type=click.IntRange(1), default=9, show_default=True, help="Interleaved rounds."),
    seed_option,
)
@click.option(
    "--cccl",
    metavar="DIR",
    callback=bench_baselines.headers,
    expose_value=False,
    help="CUDA: the folder of CUB's headers, with cub/cub.cuh in it, instead of those of the toolkit; PyPI's "
    "nvidia-cuda-cccl has newer ones.",
)
@click.option(
    "--peer-source",
    metavar="DIR",
    callback=bench_baselines.sources,
    expose_value=False,
    help="The folder of the sources of a baseline that hsgen does not bring: vk_radix_sort.h of vrdx, there or in "
    "its folder include.",
)
@require_option
@output_options
def bench(drive: Drive, bits: str | None, task: Task, require: bool, output: Output) -> None:
    """Measure a target's sorts, baselines and a plain copy in one run; each result is checked first.

    Rates are medians in Mkeys/s with their spread, by wall time up to the end of the sort, with the data in device
    memory (for baselines on the host: in host memory); "device" is the rate by the device's clock.  "hsgen is" is
    hsgen's rate divided by the other's: the median over the rounds, in each of which all take turns, and its 90 %
    interval.  "of roof" is the bandwidth that hsgen's sort uses, as a share of that of a copy of keys and values.
    Baselines sort unsigned keys by all bits, ascending; some also with values.  --algorithm merge_path merges sorted
    halves.
    """
    output.check()
    begin, end = parse_bits(bits) if bits else (0, None)
    selection = drive.selection
    selection = replace(selection, features=("bit-range", *selection.features)) if bits else selection
    drive = replace(drive, selection=selection)
    with required(require):
        output.check_picture()
        place = engines.find(drive, task.baselines)
        alternatives = bench_baselines.read(task.against or [], place.target)
        calls = [(sort, options) for sort in place.sorts for options in _calls(sort, selection, begin, end, task)]
        for sort, options in calls:
            _check_bench(sort, options, task)
        report(place.host.label, place.api)
        measured, notes = [], []
        for sort, options in calls:
            rows = _bench(place, drive, task, alternatives, sort, options)
            measured += rows
            notes += bench_output.of_plan(sort, rows) + bench_output.of_host(sort, rows, options, place.host)
    output.emit(measured, rounds=task.rounds, seed=task.seed, notes=notes)


def _calls(sort: Sort, selection: Wanted, begin: int, end: int | None, task: Task) -> list[Options]:
    """Return the `Options` of the calls to measure, one object for each selected key type and order."""
    types = [TYPES[t] for t in TYPES if t in (selection.keys or (sort.label,))]
    kinds = sorted({t.kind for t in types if operations.of(sort).serves(sort, t)})
    orders = selection.orders or ORDERS[:1]
    common = Options(begin=begin, end=end, device_count=sort.signature.device_count, rows=task.rows)
    common = replace(common, take=task.take)
    return [replace(common, kind=kind, descending=x == "descending") for kind, x in product(kinds, orders)]


def _check_bench(sort: Sort, options: Options, task: Task) -> None:
    """Check that a call can be timed.

    Raises:
        Usage: the operation has no benchmark, a count or the bit range exceeds the sort, a baseline does not support
            the sort, or the numbers of segments do not fit.
    """
    if not operations.of(sort).timed:
        raise Usage(f"algorithm {sort.algorithm}: bench times sorts, segments, merges and scans; name one of them")
    if max(task.counts) > sort.plan.max_n:
        raise Usage(f"sizes up to {max(task.counts)}: {sort.name} sorts up to {sort.plan.max_n} keys")
    if sort.signature.epilogue and parsed(sort.signature.epilogue).changes_keys:
        raise Usage("--epilogue: changes keys, so results cannot be verified; measure one that does not")
    bit_range(sort.plan, options)
    benchmarks.check(sort, options, task.baselines)
    _check_segments(sort, task)


def _check_segments(sort: Sort, task: Task) -> None:
    """Check the numbers of segments.

    Raises:
        Usage: the numbers are missing, too large, not applicable, or not divisors of the count.
    """
    if operations.of(sort).selects:
        for n, rows in product(task.counts, task.segments):
            operations.settled(sort, n, Options(segment_count=rows or 1, take=task.take), ())
        return
    if task.take:
        raise Usage(f"take {task.take}: {sort.name} takes all keys; add --algorithm radix_select")
    if not operations.of(sort).segmented:
        if task.parts or task.rows:
            option = "segments" if task.parts else "rows"
            raise Usage(f"{option}: {sort.name} has no segments; add --algorithm segmented_sort")
        return
    if not task.parts:
        raise Usage("algorithm segmented_sort: give the number of segments, for example --segments 2^10,2^14")
    if max(task.parts) >= 2**31:
        raise Usage(f"segments {max(task.parts)}: there are up to {2**31 - 1}; give fewer")
    odd = next(((n, p) for n in task.counts for p in task.parts if task.rows and n % p), None)
    if odd:
        raise Usage(f"segments {odd[1]}: {odd[0]} keys cannot be split into {odd[1]} rows of equal length; omit --rows")


def _bench(
    place: engines.Place, drive: Drive, task: Task, alternatives: dict[str, Alternative], sort: Sort, options: Options
) -> list[benchmarks.Row]:
    """Measure one call of a sort at all counts, segments and kinds of input; return the rows to print.

    If the C runtime drives the device, a worker process measures; otherwise this process does.
    """
    label, steps = place.host.label, len(task.counts) * len(task.segments) * len(task.inputs)
    against = task.against
    if against is None:
        against = [name for name in benchmarks.known(sort, options) if name == "numpy"]
        against += [bench_baselines.EACH] * bench_baselines.planned(sort, place.target, place.host)
    if bench_baselines.EACH in against:
        alternatives = {**bench_baselines.alone(sort, place.target), **alternatives}
        against = [name for name in against if name != bench_baselines.EACH]
    spans = bench_baselines.spans(alternatives)
    if place.library:
        request = {"sizes": task.counts, "kinds": task.inputs, "against": against, "rounds": task.rounds}
        request |= {"seed": task.seed, "label": label, "how": asdict(options), "segments": task.segments}
        request |= {"alternatives": bench_baselines.requests(alternatives, sort, place.host, drive), "spans": spans}
        records = engines.follow(place.request(sort, "bench", **request), sort.name, steps)
        return [benchmarks.Row(**r) for r in records]
    engine, show = engines.direct(place.host, sort, strict=True), progress(sort.name, steps)
    running = bench_baselines.engines(alternatives, sort, place.host)
    more: dict[str, Any] = {"alternatives": running, "kinds": task.inputs, "segments": task.segments}
    more["spans"] = spans
    rows = benchmarks.measure(engine, task.counts, against, task.rounds, task.seed, label, show, options, **more)
    return [row for of_count in rows for row in of_count]
