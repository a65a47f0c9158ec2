"""Benchmarks: sorts, peers and a plain copy, interleaved in one run, each checked before it is timed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen import sorts
from hsgen.backends.engine import COUNT, KEYS, KEYS_OUT, VALUES, VALUES_OUT, Engine
from hsgen.cases import KINDS, Keys
from hsgen.errors import Usage, Wrong
from hsgen.oracle import permutation, values_expected, values_for
from hsgen.peers import ANY_WIDTH, PEERS, VALUED, Run
from hsgen.plan import PLAIN, Options, bit_range, launches
from hsgen.spec import Sort

COPY = "copy"
_TICK = 1e-9  # seconds: what a clock may show as nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a benchmark.  Rates in Mkeys/s; `mkeys_per_s` is the median of `runs` rounds.

    `key` is the type of the keys, `value` a name in `hsgen.keys.VALUES`, None for "none"; `bits` is the range that
    keys were sorted by, of their type put in order.  `peer` is None for hsgen's own sorts and "copy" for a copy of
    the keys and values; `peer_version` is None where it has none.  `hsgen_ratio` is hsgen's rate over the peer's: the
    ratio within each round, and of these the median.  `roof_share` is the memory that the sort's launches read and
    write, over its time, as a share of the copy's bandwidth at the same count.
    """

    target: str
    api: str
    device: str
    key: str
    value: str | None
    n: int
    algorithm: str | None
    peer: str | None
    mkeys_per_s: float
    min: float
    max: float
    runs: int
    roof_share: float | None
    hsgen_ratio: float | None
    peer_version: str | None
    order: str
    bits: list[int]
    counted: bool

    def record(self) -> dict[str, Any]:
        """The row as JSON has it."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is sorted in a benchmark, how, and what must come of it; values are rows of words."""

    keys: Keys
    values: NDArray[Any] | None
    expected: Keys
    values_expected: NDArray[Any] | None
    how: Options

    @property
    def copied(self) -> int:
        """The bytes of keys and values together."""
        return self.expected.nbytes + (0 if self.values_expected is None else self.values_expected.nbytes)


def load(sort: Sort, n: int, how: Options, rng: np.random.Generator) -> Load:
    """Return n random keys, random in each of their bits whatever their type, with values for them."""
    keys = KINDS["random"](rng, n, np.dtype(f"u{sort.key.bytes}"))
    values = values_for(rng, n, sort)
    if sort.form.value == "none" and known(sort, how):
        return Load(keys=keys, values=None, expected=np.sort(keys), values_expected=None, how=how)
    order = permutation(keys, sort, how)
    after = values_expected(values, order, sort)
    return Load(keys=keys, values=values, expected=keys[order], values_expected=after, how=how)


def known(sort: Sort, how: Options) -> list[str]:
    """Return the peers that can sort in this way: whole unsigned keys in ascending order, some also with values."""
    if bit_range(sort.plan, how) != (0, sort.key.bits) or how.kind or how.descending or sort.form.value == "index64":
        return []
    able = list(PEERS if sort.form.value == "none" else VALUED)
    return [name for name in able if sort.key.bytes >= 4 or name in ANY_WIDTH]


def check(sort: Sort, how: Options, against: Sequence[str]) -> None:
    """Refuse peers that cannot sort in this way.

    Raises:
        Usage: that is said of the first.
    """
    able = known(sort, how)
    for name in against:
        if name not in able:
            hint = f"take {', '.join(able)}, or none" if able else "leave peers away"
            raise Usage(f"peer {name}: cannot sort in this way; {hint} with --against ''")


def measure(
    engine: Engine,
    sizes: Sequence[int],
    against: Sequence[str],
    rounds: int,
    seed: int,
    device: str,
    progress: Callable[[Iterator[int]], Iterator[int]] = iter,
    how: Options = PLAIN,
) -> Iterator[list[Row]]:
    """Yield the rows of each count: hsgen's, then the peers' in the order of `against`, then the copy's.

    Raises:
        Usage: a peer cannot sort in this way.
        Unavailable: a peer cannot run here; raised before anything is timed.
        Wrong: a sort, hsgen's or a peer's, returned unsorted keys, or a peer's own process ended.
    """
    sort = engine.sort
    check(sort, how, against)
    rng = np.random.default_rng(seed)
    for n in progress(iter(sizes)):
        work = load(sort, n, how, rng)
        _fill(engine, work)
        with ExitStack() as open_runs:
            runs = [_own(engine, work)]
            for name in against:
                plain = sort.form.value == "none"
                peer = PEERS[name](engine, work.keys) if plain else VALUED[name](engine, work.keys, work.values)
                runs.append(peer)
                open_runs.callback(runs[-1].close)
            _check(engine, runs, work)
            runs.append(_copy(engine, work))
            times = _time(runs, rounds)
        yield _rows(engine, device, work, runs, times)


def _fill(engine: Engine, work: Load) -> None:
    """Make the buffers, and write what is sorted; those of keys also hold what a copy of all moves."""
    for slot in (KEYS, KEYS_OUT):
        engine.allocate(slot, work.copied)
    engine.write(KEYS, work.keys)
    if work.values_expected is not None:
        engine.allocate(VALUES_OUT, work.values_expected.nbytes)
    if work.values is not None:
        engine.allocate(VALUES, work.values.nbytes)
        engine.write(VALUES, work.values)
    if work.how.counted:
        engine.allocate(COUNT, 4)
        engine.write(COUNT, np.array([len(work.keys)], np.uint32))


def _check(engine: Engine, runs: Sequence[Run], work: Load) -> None:
    """Let each sort once, and look at its keys and values."""
    keys = work.keys
    for run in runs:
        run.prepare()
        run.sort()
        if not np.array_equal(run.result(), work.expected):
            raise Wrong(f"{run.name}: {len(keys)} {keys.dtype.name} keys came back unsorted; nothing was timed")
        right = work.values_expected
        if right is not None and (run.values is None or not np.array_equal(run.values(), right)):
            raise Wrong(f"{run.name}: the values of {len(keys)} keys came back wrong; nothing was timed")


def _time(runs: Sequence[Run], rounds: int) -> list[list[float]]:
    """Seconds of each run in every round; the runs take turns."""
    times: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run.prepare()
        run.sort()
    for _ in range(rounds):
        for run, seconds in zip(runs, times, strict=True):
            run.prepare()
            begin = time.perf_counter()
            own = run.sort()
            seconds.append(max(time.perf_counter() - begin if own is None else own, _TICK))
    return times


def _rows(engine: Engine, device: str, work: Load, runs: Sequence[Run], times: Sequence[Sequence[float]]) -> list[Row]:
    sort, n, how = engine.sort, len(work.keys), work.how
    bandwidth = 2 * work.copied / statistics.median(times[-1])
    begin, end = (bit - sort.plan.first_bit for bit in bit_range(sort.plan, how))
    rows = []
    for run, seconds in zip(runs, times, strict=True):
        own = run.name == "hsgen"
        share = _moved(sort, n, how) / statistics.median(seconds) / bandwidth if own else None
        rates = sorted(n / s / 1e6 for s in seconds)
        ratio = statistics.median(s / h for s, h in zip(seconds, times[0], strict=True))
        rows.append(
            Row(
                target=sort.target,
                api=engine.api,
                device=device,
                key=f"{'uif'[how.kind]}{sort.label[1:]}",
                value=None if sort.form.value == "none" else sort.form.value,
                n=n,
                algorithm=sort.algorithm if own else None,
                peer=None if own else run.name,
                mkeys_per_s=round(statistics.median(rates), 3),
                min=round(rates[0], 3),
                max=round(rates[-1], 3),
                runs=len(seconds),
                roof_share=None if share is None else round(share, 4),
                hsgen_ratio=None if own else round(ratio, 4),
                peer_version=run.version,
                order="descending" if how.descending else "ascending",
                bits=[begin, end],
                counted=how.counted,
            )
        )
    return rows


def _moved(sort: Sort, n: int, how: Options) -> int:
    """The bytes that the launches of a sort read and write; a count on the device is known to be n here."""
    how = replace(how, counted=False)
    return sum(sorts.moved(sort, x.step, n) for x in launches(sort.plan, n, in_place=False, how=how))


def _own(engine: Engine, work: Load) -> Run:
    """hsgen's own sort, from one device buffer into another."""
    places = {"source": (KEYS, 0), "destination": (KEYS_OUT, 0)}
    if work.values is not None:
        places["values"] = (VALUES, 0)
    if work.values_expected is not None:
        places["values_out"] = (VALUES_OUT, 0)
    if work.how.counted:
        places["count"] = (COUNT, 0)

    def result() -> Keys:
        out = np.empty_like(work.keys)
        engine.read(KEYS_OUT, out)
        return out

    def values() -> NDArray[Any]:
        assert work.values_expected is not None
        out = np.empty_like(work.values_expected)
        engine.read(VALUES_OUT, out)
        return out

    def sort() -> None:
        engine.run(len(work.keys), places, work.how)

    return Run(name="hsgen", prepare=lambda: None, sort=sort, result=result, values=values)


def _copy(engine: Engine, work: Load) -> Run:
    """A copy of keys and values on the device: the bandwidth that sorts are held against.

    One copy goes untimed before each timed one, so that caches hold the keys as they do during a sort.
    """
    copy = lambda: engine.copy(work.copied)  # noqa: E731
    return Run(name=COPY, prepare=copy, sort=copy, result=lambda: work.keys)
