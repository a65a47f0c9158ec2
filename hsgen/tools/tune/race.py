"""The device side of a race.  It runs in a separate process, because candidates may crash it or hang.

The request is JSON, and so are the events that `perform` sends: {"trying": name} before each step that may crash or
hang, {"ready": name}, {"failed": name, "kind": ..., "why": ...}, {"late": name} if a validation exceeds the time of the
request, {"times": ...} after each count, and finally all times.
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

SLOW = 4.0  # multiple of the best time; a slower candidate is timed once instead of in turns
LASTING = 2.5  # seconds; approximate time of the rounds at one count, so slow devices run fewer rounds
CHECKING = 0.6  # greatest fraction of a request's time for validations, if timings follow
PLACINGS = 3  # buffer allocations at each count
FINAL = 15  # rounds; races with at least this number of rounds also recompile code
_LEAST = 3  # rounds at one count, at least
_QUICK = 0.5  # seconds; slower recompilation is not repeated


def timed(
    candidates: Sequence[Candidate],
    n: int,
    rounds: int,
    seed: int,
    send: Send,
    *,
    renew: bool = False,
    lasting: float = LASTING,
) -> dict[str, list[float]]:
    """Time the typical calls of an operation at one count, for about `lasting` seconds in all.

    Return the seconds of each candidate in each round: the geometric mean over the calls, so that no call is sped up at
    the expense of another call.
    """
    calls = operations.of(candidates[0].engine.sort).typical(n)
    seconds = []
    for kind, options in calls:
        send({"done": n})  # generating and sorting large arrays takes numpy long
        work = inputs.load(
            candidates[0].engine.sort, n, options, np.random.default_rng([seed, n]), kind.replace(" ", "-")
        )
        seconds.append(_timed(candidates, work, rounds, send, renew=renew, lasting=lasting / len(calls)))
    for c in candidates:
        c.unload()
    each = {c.name: zip(*(call[c.name] for call in seconds), strict=False) for c in candidates}
    return {name: [statistics.geometric_mean(turn) for turn in turns] for name, turns in each.items()}


def _timed(
    candidates: Sequence[Candidate], work: Load, rounds: int, send: Send, *, renew: bool, lasting: float
) -> dict[str, list[float]]:
    """Check each candidate's result of one call, then time all candidates in turns; return their seconds.

    A candidate far slower than the best gets one round only.  On some devices the addresses of buffers and code change
    times by about 20 %.  So each third of the rounds uses new buffers.  With `renew` it also uses recompiled code, if
    compilation is fast.
    """
    first: dict[str, float] = {}
    for c in candidates:
        _load(c, work, send)
        first[c.name] = min(c.seconds() for _ in range(2))
    turns = _fast(candidates, first)
    times = {c.name: [first[c.name]] if c not in turns else [] for c in candidates}
    turns_needed = max(min(_LEAST, rounds), min(rounds, int(lasting / sum(first[c.name] for c in turns))))
    for placing in range(PLACINGS):
        for c in turns if placing else ():
            renew = renew and _renewed(c, send)
            _load(c, work, send)
        for _ in range(-(-turns_needed // PLACINGS)):
            for c in turns:
                send({"trying": c.name})
                times[c.name].append(c.seconds())
    return times


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


def _fast(candidates: Sequence[Candidate], first: dict[str, float]) -> list[Candidate]:
    """Return the candidates to time in turns.  Slow candidates are timed again first, because a machine may pause."""
    for c in candidates:
        if first[c.name] > SLOW * min(first.values()):
            first[c.name] = min(first[c.name], c.seconds())
    return [c for c in candidates if first[c.name] <= SLOW * min(first.values())]


def perform(request: Mapping[str, Any], send: Send) -> dict[str, Any]:
    """Run a race; return the times by candidate and count, and the rung that each candidate reached."""
    warnings.simplefilter("ignore")
    begin, limit = time.monotonic(), request.get("seconds") or math.inf
    late: list[str] = []
    running = ready(request, send, late, begin + limit * (CHECKING if request["rungs"] else 1))
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
            candidates, rounds, left = list(running.values()), rung["rounds"], begin + limit - time.monotonic()
            if not candidates or left <= 0:
                return {"seconds": seconds, "reached": reached}
            more = {"renew": rounds >= FINAL, "lasting": min(LASTING, left / counts)}
            times = timed(candidates, n, rounds, request["seed"], send, **more)
            counts -= 1
            for name, turns in times.items():
                seconds[name][n] = turns
            send({"times": {"seconds": seconds, "reached": reached}})
            least = {name: min(turns) for name, turns in times.items()}
            far = HOPELESS * min(least.values(), default=0.0)
            running = {x: c for x, c in running.items() if least[x] <= far or x in stay}
        running = _going_on(running, seconds, rung["keep"], stay)
    return {"seconds": seconds, "reached": reached}


def _going_on(
    running: dict[str, Candidate], seconds: dict[str, dict[int, list[float]]], keep: int, stay: set[str]
) -> dict[str, Candidate]:
    """Return the candidates that remain: the `keep` fastest over all counts so far, and those in `stay`."""
    names = sorted(running)
    if not names:
        return {}
    score = scores(seconds, names, names[0])
    order = sorted(names, key=lambda x: (-score[x], statistics.median(next(iter(seconds[x].values())))))
    return {x: c for x, c in running.items() if x in order[:keep] or x in stay}


if __name__ == "__main__":
    serve(perform)
