"""The device side of a race.  It runs in a separate process, because candidates may crash it or hang.

The request is JSON, and so are the events that `perform` sends: {"trying": name} before each step that may crash or
hang, {"ready": name}, {"failed": name, "kind": ..., "why": ...}, and finally the times.
"""

from __future__ import annotations

import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hsgen import operations
from hsgen.algorithms import ALGORITHMS
from hsgen.core.errors import HsgenError, Unavailable, Wrong
from hsgen.core.interpreter import PLAIN
from hsgen.core.keys import KEYS as WIDTHS
from hsgen.core.keys import PLAIN as PLAIN_FORM
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.engines import hosts, pyopencl
from hsgen.engines.engine import Engine
from hsgen.engines.harness import Harness, Native
from hsgen.operations.calls import Call
from hsgen.targets import target
from hsgen.targets.choices import algorithm
from hsgen.targets.target import Target
from hsgen.tools.tune.candidate import Candidate
from hsgen.tools.tune.search import scores
from hsgen.tools.validate import validation
from hsgen.tools.worker import serve

CASES = 160  # (count, kind) pairs that a shape must sort before it is timed
SLOW = 4.0  # times the best time; a slower candidate is timed once instead of in turns
HOPELESS = 10.0  # times the best time; a slower candidate leaves the race, or its validation is abandoned
PATIENT = 5.0  # seconds; least time limit of a validation
LASTING = 2.5  # seconds; approximate time of the rounds at one count, so slow devices run fewer rounds
PLACINGS = 3  # buffer allocations at each count
FINAL = 15  # rounds; from this number on, code is also recompiled
_LEAST = 3  # rounds at one count, at least
_QUICK = 0.5  # seconds; slower recompilation is not repeated

Send = Callable[[dict[str, Any]], None]


def made(
    found: Target, label: str, key: str, table: Mapping[str, Any] | None, signature: Signature = PLAIN_FORM
) -> tuple[Target, Sort]:
    """Return the target with `table` in place of its own, and the sort or scan of it; None keeps the target's table.

    Raises:
        Usage: the target has no such table.
    """
    if table is not None:
        params = ALGORITHMS[algorithm(label)].params(WIDTHS[key], table)
        found = replace(found, choices={**found.choices, (label, key): params})
    return found, found.sort(label, key, signature)


def cases(sort: Sort, seed: int, wanted: int = CASES) -> list[tuple[int, str]]:
    """Return about `wanted` (0: all) of the (count, kind) pairs of a quick validation.

    They are evenly spaced, so that they cover every kernel and every path of the sort.
    """
    pairs = validation.plan_cases(sort, full=False, seed=seed)
    return pairs[:: max(1, len(pairs) // wanted)] if wanted else pairs


def ready(request: Mapping[str, Any], send: Send) -> dict[str, Candidate]:
    """Return the candidates that compile and sort correctly, by name."""
    found = target.parse(request["text"], request["stem"], request["where"])
    signature = Signature(**request["signature"])
    context = host = None
    if not request["native"]:
        host = hosts.labelled(request["device"])
        context = pyopencl.context_for(host)
    out: dict[str, Candidate] = {}
    least = math.inf
    for c in sorted(request["candidates"], key=lambda c: c["name"] != request["best"]):
        send({"trying": c["name"]})
        try:
            _, sort = made(found, c["label"], request["key"], c["table"], signature)
            if host is not None and (lacking := hosts.lacks(sort, host)):
                raise Unavailable(f"{host.label} {lacking}")
            engine = _engine(request, c, context, sort)
        except HsgenError as e:
            send({"failed": c["name"], "kind": "device" if isinstance(e, Unavailable) else "build", "why": e.lines[0]})
            continue
        if not c["checked"]:
            pairs = cases(sort, request["seed"], request["cases"])
            begin = time.monotonic()
            patience = max(PATIENT, HOPELESS * least) if out else math.inf
            try:
                report = validation.run(engine, pairs, request["seed"], stop=1, progress=_reporting(send, patience))
            except TimeoutError:
                send({"failed": c["name"], "kind": "slow", "why": f"validation takes more than {patience:.0f} seconds"})
                continue
            least = min(least, time.monotonic() - begin)
            if report.failed:  # it may have written anywhere, so this process's further results are unreliable
                send({"failed": c["name"], "kind": "wrong", "why": report.failures[0]})
                raise Wrong(report.failures[0])
        send({"ready": c["name"], "cases": 0 if c["checked"] else report.cases})
        out[c["name"]] = Candidate(c["name"], engine)
    return out


def _engine(request: Mapping[str, Any], c: Mapping[str, Any], context: Any, sort: Sort) -> Engine:
    if request["native"]:
        harness = Harness(Path(c["library"]))
        return Native(harness, request["api"], sort, request["index"], request["options"])
    return pyopencl.Direct(context, pyopencl.Compiled(context, sort))


def _reporting(send: Send, patience: float) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a wrapper of iterations that reports progress every second and raises after `patience` seconds."""

    def wrap(items: Iterator[Any]) -> Iterator[Any]:
        begin = said = time.monotonic()
        for number, item in enumerate(items):
            yield item
            now = time.monotonic()
            if now - begin > patience:
                raise TimeoutError
            if now - said > 1:
                said = now
                send({"done": number})

    return wrap


def timed(
    some: Sequence[Candidate], n: int, rounds: int, seed: int, send: Send, *, renew: bool = False
) -> dict[str, list[float]]:
    """Check each candidate's result at one count, then time all in turns; return their seconds.

    A candidate far slower than the best gets one round only.  On some devices the addresses of buffers and code change
    times by about a fifth.  So each third of the rounds uses new buffers, and with `renew` recompiled code, if
    compilation is fast.
    """
    sort, rng = some[0].engine.sort, np.random.default_rng([seed, n])
    send({"done": n})  # generating and sorting large arrays takes numpy long
    keys = next(iter(operations.of(sort).kinds.values()))(rng, n * sort.columns, np.dtype(f"u{sort.key.bytes}"))
    work = validation.call(sort, keys, PLAIN, in_place=False, count=None, rng=rng)
    first: dict[str, float] = {}
    for c in some:
        _load(c, work, send)
        first[c.name] = min(c.seconds() for _ in range(2))
    turns = _fast(some, first)
    found = {c.name: [first[c.name]] if c not in turns else [] for c in some}
    wanted = max(min(_LEAST, rounds), min(rounds, int(LASTING / sum(first[c.name] for c in turns))))
    for placing in range(PLACINGS):
        for c in turns if placing else ():
            renew = renew and _renewed(c, send)
            _load(c, work, send)
        for _ in range(-(-wanted // PLACINGS)):
            for c in turns:
                send({"trying": c.name})
                found[c.name].append(c.seconds())
    for c in some:
        c.unload()
    return found


def _load(c: Candidate, work: Call, send: Send) -> None:
    """Give a candidate new buffers and check its result."""
    send({"trying": c.name})
    try:
        c.load(work)
    except Wrong as e:
        send({"failed": c.name, "kind": "wrong", "why": e.lines[0]})
        raise


def _renewed(c: Candidate, send: Send) -> bool:
    """Recompile a candidate; return whether that was fast enough to repeat."""
    send({"trying": c.name})
    begin = time.monotonic()
    c.engine.renew()
    return time.monotonic() - begin < _QUICK


def _fast(some: Sequence[Candidate], first: dict[str, float]) -> list[Candidate]:
    """The candidates that are timed in turns; slow ones are timed again first, since a machine may pause."""
    for c in some:
        if first[c.name] > SLOW * min(first.values()):
            first[c.name] = min(first[c.name], c.seconds())
    return [c for c in some if first[c.name] <= SLOW * min(first.values())]


def perform(request: Mapping[str, Any], send: Send) -> dict[str, Any]:
    """Run a race; return the times by candidate and count, and the rung that each candidate reached."""
    warnings.simplefilter("ignore")
    running = ready(request, send)
    all_stay = all(rung["keep"] >= len(request["candidates"]) for rung in request["rungs"])
    stay = {x for x in running if all_stay or x in request["stay"]}
    seconds: dict[str, dict[int, list[float]]] = {name: {} for name in running}
    reached = dict.fromkeys(running, 0)
    for number, rung in enumerate(request["rungs"]):
        reached |= dict.fromkeys(running, number)
        for n in rung["sizes"]:
            some, rounds = list(running.values()), rung["rounds"]
            times = timed(some, n, rounds, request["seed"], send, renew=rounds >= FINAL) if some else {}
            for name, found in times.items():
                seconds[name][n] = found
            least = {name: min(found) for name, found in times.items()}
            far = HOPELESS * min(least.values(), default=0.0)
            running = {x: c for x, c in running.items() if least[x] <= far or x in stay}
        running = _going_on(running, seconds, rung["keep"], stay)
    return {"seconds": seconds, "reached": reached}


def _going_on(
    running: dict[str, Candidate], seconds: dict[str, dict[int, list[float]]], keep: int, stay: set[str]
) -> dict[str, Candidate]:
    """The candidates that remain: the fastest over all counts so far, and those of `stay`, which link races."""
    names = sorted(running)
    if not names:
        return {}
    score = scores(seconds, names, names[0])
    order = sorted(names, key=lambda x: (-score[x], statistics.median(next(iter(seconds[x].values())))))
    return {x: c for x, c in running.items() if x in order[:keep] or x in stay}


if __name__ == "__main__":
    serve(perform)
