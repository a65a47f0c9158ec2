"""Passes of one launch each, with decoupled look-back (Adinets and Merrill, arXiv:2206.01784).

The histogram kernel reads the keys once and counts the digits of all passes.  Each pass then reads the keys once more.
On a device without guaranteed forward progress, a look-back may give up.  In a *retry*, further kernels then repeat the
pass by reduce-scan (`hsgen.algorithms.radix.reduce_scan`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from hsgen.algorithms.buffers import SOURCE, word_array
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import portions, rankers, reduce_scan, rows, search_space, single
from hsgen.algorithms.radix.parts import (
    ALL,
    WORDS,
    copy,
    moving,
    order_check,
    order_flag,
    picking,
    plain,
    ranking,
    sampling,
)
from hsgen.algorithms.radix.phases import Histogram, Sweep
from hsgen.algorithms.radix.rankers import Ranked, digit_arrays
from hsgen.algorithms.radix.words import max_n
from hsgen.algorithms.search_space import Box
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.flags import DIRECT, REDO
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType
from hsgen.core.plan import BitRange, Grid, Plan, Step

_KERNELS, _VARIANTS = "radix/onesweep/onesweep", "radix/onesweep/variants.j2:"
WIDENED, WIDENED_RAW = f"{_VARIANTS}widened", f"{_VARIANTS}widened_raw"
"""Two variants of `Sweep.scatter` that store 64-bit indices, for `hsgen.algorithms.radix.floats.widened`.

`WIDENED_RAW` also restores the original bits of zeros and NaNs.
"""
FIELDS = {
    **reduce_scan.SHARED,
    "spins": Field("int", "how often a lane looks for a tile before it gives up", required=False, least=1),
    "spread": Field(
        "bool", "whether rows of a tile start at other banks of local memory, of which there are 32", required=False
    ),
    "sets": Field("int", "the sets of counters of the histogram", required=False, least=1, greatest=32),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Onesweep(Ranked):
    """The target table ``[radix.KEY.onesweep]``.

    sorted_exit, large: as in `hsgen.algorithms.radix.reduce_scan.ReduceScan`.
    spins: how often, in total, a look-back may find a state empty before the look-back gives up.  Only for devices
    without guaranteed forward progress, which may never run the work-group that would publish the state.
    sets: the number of copies of each counter in the histogram kernel, a power of two.  A lane adds to copy (lane mod
    `sets`), so that fewer lanes wait for the same counter.

    Only tests set the following fields.  The first two simulate devices without forward progress:
    withhold: one of every `withhold` tiles publishes only its inclusive states, and so publishes late; 0 means none.
    starve: one of every `starve` tiles publishes and scatters nothing, as if its work-group never ran; 0 means none.
    split_above: the count above which a pass has several portions; 0 leaves the decision to `portions`.
    """

    STRATEGY: ClassVar[str] = "onesweep"
    sorted_exit: bool = False
    large: bool = False
    spins: int = 1 << 20
    sets: int = 1
    withhold: int = 0
    starve: int = 0
    split_above: int = 0

    @property
    def looks_back(self) -> bool:
        """True, because every pass uses look-back."""
        return True

    @property
    def forward_progress(self) -> bool:
        """Whether the device guarantees forward progress, so that look-backs never give up."""
        return not self.redo


Params = Onesweep


def begin(p: Onesweep) -> Kernel:
    """Return the kernel that clears the passes' failure flags, ticket counters and histograms.

    If passes may be retried, the kernel runs for every device-side count, even a count for which no pass runs.  The
    host does not know this count, and so reads the failure flags (`DeviceStatus`) after every call.
    """
    kernel = plain(p, "begin", "clear flags, tickets and counts", (WORDS,), template=f"{_KERNELS}:begin")
    return replace(kernel, always=not p.forward_progress)


def histogram(p: Onesweep) -> Kernel:
    """Return the kernel that reads the keys once, counts the digits of all passes, and clears the states of tiles."""
    counts = word_array("counts", max(len(p.digits) * p.radix * p.sets, sampling(p) if p.has_pair_buckets else 0))
    summary, arrays = "count the digits of all passes", (counts, *order_flag(p))
    data = Histogram(
        launch=_launch(p),
        order_check=order_check(p.sorted_exit),
        sample=_VARIANTS + ("pair_sample" if p.sampled and p.has_pair_buckets else "no_sample"),
    )
    return replace(plain(p, "histogram", summary, (SOURCE, WORDS), arrays, template=f"{_KERNELS}:histogram"), data=data)


def _launch(p: Onesweep) -> str:
    """Return the name of the macros for the phase `launch`: one launch for each pass, or one for each portion."""
    return _VARIANTS + ("several" if portions.count(p) > 1 else "one_launch")


def starts(p: Onesweep) -> Kernel:
    """Return the kernel that scans the histograms to digit starts, and chooses the buffers of each pass."""
    return plain(
        p,
        "starts",
        "turn the counts of all passes into starts",
        (WORDS,),
        digit_arrays(p),
        template=f"{_KERNELS}:starts",
    )


def sweep(p: Onesweep) -> Kernel:
    """Return the kernel of a pass, which ranks a tile, looks back for the offsets of digits, and scatters the keys."""
    waits = () if p.forward_progress else (word_array("gave_up", 1),)
    more = (word_array("bases", p.radix), word_array("ticket", 1), *waits)
    summary = "a pass over one digit: rank a tile, look back, scatter"
    data = Sweep(
        ranker=rankers.template(p.ranker),
        progress=_VARIANTS + ("spinning" if p.forward_progress else "bounded"),
        launch=_launch(p),
    )
    return replace(
        picking(ranking(p, "onesweep", summary, moving(p, *ALL), more, template=f"{_KERNELS}:onesweep")), data=data
    )


def swept(p: Onesweep) -> list[Kernel]:
    """Return the kernels that every sort with look-back has: `begin`, `histogram`, `starts` and `sweep`."""
    return [begin(p), histogram(p), starts(p), sweep(p)]


def again(p: Onesweep) -> list[Kernel]:
    """Return the kernels that only some sorts with look-back have: those of retries, then the one that copies keys."""
    redone = [] if p.forward_progress else reduce_scan.passes(_redone(p))
    return [*redone, *([copy(p)] if p.copied else [])]


def _redone(p: Onesweep) -> Onesweep:
    """Return the parameters of the retry kernels, with at most `portions.counted_groups` work-groups."""
    return replace(p, groups=portions.counted_groups(p))


def kernels(p: Onesweep) -> tuple[Kernel, ...]:
    """Return every kernel, in the order in which a sort uses them."""
    alone = [single.kernel(single.of(p))] if p.alone else []
    return (*alone, *swept(p), *again(p), *reduce_scan.beyond(p))


def head(p: Onesweep) -> list[Step]:
    """Return the plan rows of the kernels `begin` and `histogram`."""
    return [
        rows.row(p, begin(p), rows.fixed(1)),
        rows.row(p, histogram(p), rows.tiles(p, more=1 if p.sampled and p.has_pair_buckets else 0), BitRange()),
    ]


def started(p: Onesweep, low: int, high: int, part: str = "any") -> list[Step]:
    """Return the plan row of the kernel `starts`, for counts above `low` up to `high`; no row if `low` >= `high`.

    part: as in `rows.launch`.
    """
    if low >= high:
        return []
    return [rows.row(p, starts(p), rows.fixed(1), BitRange(flags=DIRECT), low=low, high=high, part=part)]


def sweeps(p: Onesweep, number: int, low: int, high: int, part: str = "any") -> list[Step]:
    """Return the plan rows of pass `number`, for counts above `low` up to `high`.

    Up to `portions.whole(p)` keys, the pass is one launch.  Above, each portion is a launch.
    part: as in `rows.launch`.
    """
    several, kernel, nth = portions.count(p), sweep(p), rows.nth(p, number)
    top = min(high, portions.whole(p))
    launches = []
    if low < top:
        grid = rows.tiles(p, capped=p.forward_progress)
        launches.append(rows.row(p, kernel, grid, nth, low=low, high=top, part=part))
    if top < high:
        grid = Grid(add=several * p.tile - 1, div=several * p.tile)
        launches += [rows.row(p, kernel, grid, nth, low=max(low, top), high=high, part=part)] * several
    return launches


def passes(p: Onesweep) -> list[Step]:
    """Return the plan rows of all passes and of their retries."""
    steps: list[Step] = []
    for number in range(len(p.digits)):
        steps += sweeps(p, number, p.alone, max_n(p))
        steps += [] if p.forward_progress else reduce_scan.counted(_redone(p), number, REDO)
    return steps


def plan(p: Onesweep) -> Plan:
    """Return the launch plan of the sort.

    Passes alternate between two buffers, as in `reduce_scan.plan`.  The kernel `starts` finds the passes in which all
    keys have the same digit.  The sort skips the pass, unless the last pass would then leave the keys in the wrong
    buffer.  In this case the pass moves all keys, which costs less than a copy at the end.
    """
    steps = rows.single(p, single.kernel(single.of(p)))
    steps += [*head(p), *started(p, p.alone, max_n(p)), *passes(p)]
    return reduce_scan.joined(p, rows.plan(p, [*steps, *rows.copied(p, copy(p))]))


def moved(p: Onesweep, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` reads and writes for `n` keys, if every pass moves all keys."""
    tiles = -(-n // p.tile)
    bytes_of = {
        "begin": 4 * len(p.digits) * p.radix,
        "histogram": n * p.key.bytes + 4 * p.radix * tiles,
        "starts": 8 * len(p.digits) * p.radix,
        "onesweep": rows.both(p, step, n) + 12 * p.radix * tiles,  # a state is written twice, and read at least once
    }
    if step.kernel == "onesweep" and step.grid.div > p.tile:
        return bytes_of["onesweep"] // portions.count(p)
    return bytes_of[step.kernel] if step.kernel in bytes_of else rows.moved(p, step, n)


def test_counts(p: Onesweep, greatest: int) -> set[int]:
    """Return the counts at which the launches or their grids change; some may exceed `greatest`.

    By default, a pass has several portions only from millions of keys on.  Tests set `split_above` to a smaller count.
    """
    top, unit = p.split_above, portions.count(p) * p.tile
    return rows.test_counts(p, greatest) | ({top, top + 1, top + unit, top + unit + 1} if top else set())


def problems(p: Onesweep, device: Device) -> Iterator[Problem]:
    """Yield the problems of the parameters on a device."""
    if not device.forward_progress:
        problem = 'decoupled look-back needs work-groups that continue once started (device.progress = "started")'
        yield "", problem, "choose another strategy"
    yield from rankers.problems(p)
    if p.spread and (p.ranker not in ("match_ballot", "match_broadcast") or p.work_group % 32):
        yield (
            "spread",
            "only tiles that whole rows of 32 lanes rank by match_ballot or match_broadcast are spread",
            "leave it out",
        )
    if p.sets & (p.sets - 1):
        yield "sets", f"{p.sets} is not a power of two", "give one, up to 32"


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield a search region for each ranker and each subgroup width; none on a device without forward progress."""
    if device.forward_progress:
        yield from search_space.ranked(device)


def fitted(p: Onesweep) -> Onesweep:
    """Return the parameters; `large` is off with a device-side count, run boundaries or an epilogue.

    Counts and indices in these features have 32 bits.
    """
    return replace(p, large=p.large and not (p.signature.device_count or p.signature.followed))


def notes(p: Onesweep) -> list[tuple[str, str]]:
    """Return the ranker as a (name, text) pair, for `hsgen show`."""
    return rankers.notes(p)
