"""The part of a race that uses the device.  It runs in a separate process, because candidates may crash it or hang.

The request is JSON, and so are the events that `perform` sends:

- {"trying": name}: before each step of a candidate that may crash or hang
- {"ready": name}: the candidate has passed its validation
- {"failed": name, "kind": ..., "why": ...}: the candidate failed
- {"late": name}: the candidate's validation exceeds the time of the request
- {"times": ...}: all times so far, after each count

The result has all times.
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

SLOW = 4.0  # a candidate slower than this multiple of the best time gets one round only
LASTING = 2.5  # seconds for all rounds at one count, approximately; slow devices therefore run fewer rounds
CHECKING = 0.6  # validations may use this fraction of a request's time, if timings follow
PLACINGS = 3  # number of times that buffers are allocated anew at each count, because addresses affect times
FINAL = 15  # with at least this number of rounds, kernels are also recompiled whenever buffers are allocated anew
_LEAST = 3  # least number of rounds at one count
_QUICK = 0.5  # seconds; after a recompilation that takes longer, nothing is recompiled any more


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
    """Time the candidates at `n` keys, with the typical calls of their operation, for about `lasting` seconds in all.

    Return the seconds of each candidate in each round: the geometric mean over the calls.  All calls thus have the same
    weight, whatever their duration.
    """
    calls = operations.of(candidates[0].engine.sort).typical(n)
    seconds = []
    for kind, options in calls:
        send({"done": n})  # numpy takes long to generate and sort large arrays; an event shows that the process lives
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
    """Check each candidate's result of one call, then time the candidates in turn, round by round; return the seconds.

    A candidate far slower than the best gets one round only.  On some devices the addresses of buffers and code change
    times by about 20 %.  Therefore the rounds are divided into `PLACINGS` parts, and each part uses new buffers.  With
    `renew`, each part also uses recompiled code, if compilation is fast.
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
    """Fill a candidate's buffers, run it once, and check its result."""
    send({"trying": c.name})
    try:
        c.load(work)
    except Wrong as e:
        send({"failed": c.name, "kind": "wrong", "why": e.lines[0]})
        raise


def _renewed(c: Candidate, send: Send) -> bool:
    """Recompile a candidate; return True if this took less than `_QUICK` seconds."""
    send({"trying": c.name})
    begin = time.monotonic()
    c.engine.renew()
    return time.monotonic() - begin < _QUICK


def _fast(candidates: Sequence[Candidate], first: dict[str, float]) -> list[Candidate]:
    """Return the candidates for all rounds: those that take at most `SLOW` times as long as the best candidate.

    A slow candidate gets a second chance, because the machine may have paused during its first time.
    """
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
    if request["best"] in late:  # without this shape of earlier races, scores cannot be compared between races
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
    """Return the candidates for the next rung: the `keep` fastest over all counts so far, and all in `stay`."""
    names = sorted(running)
    if not names:
        return {}
    score = scores(seconds, names, names[0])
    order = sorted(names, key=lambda x: (-score[x], statistics.median(next(iter(seconds[x].values())))))
    return {x: c for x, c in running.items() if x in order[:keep] or x in stay}


if __name__ == "__main__":
    serve(perform)
