"""Benchmarks: sorts, peers and a plain copy, interleaved in one run, each checked before it is timed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hsgen import sorts
from hsgen.backends.engine import Engine
from hsgen.cases import KINDS, Keys
from hsgen.errors import Wrong
from hsgen.peers import PEERS, Run

COPY = "copy"
_TICK = 1e-9  # seconds: what a clock may show as nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a benchmark.  Rates in Mkeys/s; `mkeys_per_s` is the median of `runs` rounds.

    `peer` is None for hsgen's own sorts and "copy" for a copy of the keys; `peer_version` is None where it has none.
    `hsgen_ratio` is hsgen's rate over the peer's: the ratio within each round, and of these the median.  `roof_share`
    is the memory that the sort's launches read and write, over its time, as a share of the copy's bandwidth at the
    same count.
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

    def record(self) -> dict[str, Any]:
        """The row as JSON has it."""
        return asdict(self)


def measure(
    engine: Engine,
    sizes: Sequence[int],
    against: Sequence[str],
    rounds: int,
    seed: int,
    device: str,
    progress: Callable[[Iterator[int]], Iterator[int]] = iter,
) -> Iterator[list[Row]]:
    """Yield the rows of each count: hsgen's, then the peers' in the order of `against`, then the copy's.

    Raises:
        Unavailable: a peer cannot run here; raised before anything is timed.
        Wrong: a sort, hsgen's or a peer's, returned unsorted keys, or a peer's own process ended.
    """
    sort = engine.sort
    rng = np.random.default_rng(seed)
    for n in progress(iter(sizes)):
        keys = KINDS["random"](rng, n, np.dtype(f"u{sort.key.bytes}"))
        for slot in (0, 1):
            engine.allocate(slot, keys.nbytes)
        engine.write(0, keys)
        with ExitStack() as open_runs:
            runs = [_own(engine, keys)]
            for name in against:
                runs.append(PEERS[name](engine, keys))
                open_runs.callback(runs[-1].close)
            _check(runs, keys)
            runs.append(_copy(engine, keys))
            times = _time(runs, rounds)
        yield _rows(engine, device, n, runs, times)


def _check(runs: Sequence[Run], keys: Keys) -> None:
    expected = np.sort(keys)
    for run in runs:
        run.prepare()
        run.sort()
        if not np.array_equal(run.result(), expected):
            raise Wrong(f"{run.name}: {len(keys)} {keys.dtype.name} keys came back unsorted; nothing was timed")


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


def _rows(engine: Engine, device: str, n: int, runs: Sequence[Run], times: Sequence[Sequence[float]]) -> list[Row]:
    sort = engine.sort
    bandwidth = 2 * n * sort.key.bytes / statistics.median(times[-1])
    rows = []
    for run, seconds in zip(runs, times, strict=True):
        own = run.name == "hsgen"
        share = sorts.traffic(sort, n) / statistics.median(seconds) / bandwidth if own else None
        rates = sorted(n / s / 1e6 for s in seconds)
        ratio = statistics.median(s / h for s, h in zip(seconds, times[0], strict=True))
        rows.append(
            Row(
                target=sort.target,
                api=engine.api,
                device=device,
                key=sort.key.name,
                value=None,
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
            )
        )
    return rows


def _own(engine: Engine, keys: Keys) -> Run:
    """hsgen's own sort, from one device buffer into another."""

    def result() -> Keys:
        out = np.empty_like(keys)
        engine.read(1, out)
        return out

    return Run(name="hsgen", prepare=lambda: None, sort=lambda: engine.run(len(keys), 0, 1, 0), result=result)


def _copy(engine: Engine, keys: Keys) -> Run:
    """A copy of the keys on the device: the bandwidth that sorts are held against.

    One copy goes untimed before each timed one, so that caches hold the keys as they do during a sort.
    """
    copy = lambda: engine.copy(keys.nbytes)  # noqa: E731
    return Run(name=COPY, prepare=copy, sort=copy, result=lambda: keys)
