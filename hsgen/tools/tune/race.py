"""The device side of a race.  It runs in a separate process, because candidates may crash it or hang.

The request is JSON, and so are the events that `perform` sends: {"trying": name} before each step that may crash or
hang, {"ready": name}, {"failed": name, "kind": ..., "why": ...}, {"late": name} if the time of the request does not
suffice for a validation, {"times": ...} after each count, and finally all times.
"""

from __future__ import annotations

import math
import statistics
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hsgen import operations
from hsgen.core.errors import Wrong
from hsgen.operations.calls import Load
from hsgen.tools.bench import inputs
from hsgen.tools.tune.candidate import Candidate
from hsgen.tools.tune.checking import HOPELESS, Send, ready
from hsgen.tools.tune.search import scores
from hsgen.tools.worker import serve

SLOW = 4.0  # times the best time; a slower candidate is timed once instead of in turns
LASTING = 2.5  # seconds; approximate time of the rounds at one count, so slow devices run fewer rounds
CHECKING = 0.6  # of the time of a request; validations take no more where times follow
PLACINGS = 3  # buffer allocations at each count
FINAL = 15  # rounds; from this number on, code is also recompiled
_LEAST = 3  # rounds at one count, at least
_QUICK = 0.5  # seconds; slower recompilation is not repeated


def timed(
    some: Sequence[Candidate],
    n: int,
    rounds: int,
    seed: int,
    send: Send,
    *,
    renew: bool = False,
    lasting: float = LASTING,
) -> dict[str, list[float]]:
    """Time the typical calls of an operation at one count, for about `lasting` seconds in all; return the seconds of
    each candidate, the geometric means over these calls, so that none is sped up at the expense of others."""
    calls = operations.of(some[0].engine.sort).typical(n)
    found = []
    for kind, how in calls:
        send({"done": n})  # generating and sorting large arrays takes numpy long
        work = inputs.load(some[0].engine.sort, n, how, np.random.default_rng([seed, n]), kind.replace(" ", "-"))
        found.append(_timed(some, work, rounds, send, renew=renew, lasting=lasting / len(calls)))
    for c in some:
        c.unload()
    each = {c.name: zip(*(seconds[c.name] for seconds in found), strict=False) for c in some}
    return {name: [statistics.geometric_mean(turn) for turn in turns] for name, turns in each.items()}


def _timed(
    some: Sequence[Candidate], work: Load, rounds: int, send: Send, *, renew: bool, lasting: float
) -> dict[str, list[float]]:
    """Check each candidate's result of one call, then time all in turns; return their seconds.

    A candidate far slower than the best gets one round only.  On some devices the addresses of buffers and code change
    times by about a fifth.  So each third of the rounds uses new buffers, and with `renew` recompiled code, if
    compilation is fast.
    """
    first: dict[str, float] = {}
    for c in some:
        _load(c, work, send)
        first[c.name] = min(c.seconds() for _ in range(2))
    turns = _fast(some, first)
    found = {c.name: [first[c.name]] if c not in turns else [] for c in some}
    wanted = max(min(_LEAST, rounds), min(rounds, int(lasting / sum(first[c.name] for c in turns))))
    for placing in range(PLACINGS):
        for c in turns if placing else ():
            renew = renew and _renewed(c, send)
            _load(c, work, send)
        for _ in range(-(-wanted // PLACINGS)):
            for c in turns:
                send({"trying": c.name})
                found[c.name].append(c.seconds())
    return found


def _load(c: Candidate, work: Load, send: Send) -> None:
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
    begin, whole = time.monotonic(), request.get("seconds") or math.inf
    late: list[str] = []
    running = ready(request, send, late, begin + whole * (CHECKING if request["rungs"] else 1))
    if request["best"] in late:  # nothing links this race to others
        running = {}
    all_stay = all(rung["keep"] >= len(request["candidates"]) for rung in request["rungs"])
    stay = {x for x in running if all_stay or x in request["stay"]}
    seconds: dict[str, dict[int, list[float]]] = {name: {} for name in running}
    reached = dict.fromkeys(running, 0)
    counts = sum(len(rung["sizes"]) for rung in request["rungs"])
    for number, rung in enumerate(request["rungs"]):
        reached |= dict.fromkeys(running, number)
        for n in rung["sizes"]:
            some, rounds, left = list(running.values()), rung["rounds"], begin + whole - time.monotonic()
            if not some or left <= 0:
                return {"seconds": seconds, "reached": reached}
            more = {"renew": rounds >= FINAL, "lasting": min(LASTING, left / counts)}
            times = timed(some, n, rounds, request["seed"], send, **more)
            counts -= 1
            for name, found in times.items():
                seconds[name][n] = found
            send({"times": {"seconds": seconds, "reached": reached}})
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
