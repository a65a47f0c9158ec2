"""Compile and validate the candidates of a race, before any candidate is timed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hsgen.core.errors import HsgenError, Unavailable, Usage, Wrong
from hsgen.core.keys import PLAIN as PLAIN_FORM
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines import hosts, pyopencl
from hsgen.engines.compiled import Compiled
from hsgen.engines.engine import Engine
from hsgen.engines.harness import Harness, Native
from hsgen.targets import target
from hsgen.targets.optional import replaced
from hsgen.targets.target import Target
from hsgen.tools.tune.candidate import Candidate
from hsgen.tools.validate import validation

CASES = 160  # (count, kind) pairs that a shape must sort before it is timed
PATIENT = 5.0  # seconds; least time limit of a validation
HOPELESS = 10.0  # a race drops candidates that take longer than this multiple of the best time, to validate or to sort

Send = Callable[[dict[str, Any]], None]


def replace_table(
    base: Target, label: str, key: str, table: Mapping[str, Any] | None, signature: Signature = PLAIN_FORM
) -> tuple[Target, Sort]:
    """Return the target with the parameters of (label, key) replaced by `table`, and the sort of that label.

    If `table` is None, the target is unchanged.

    Raises:
        Usage: the target has no such table.
    """
    if table is not None:
        base = replace(base, **replaced(base.choices, base.tables, label, key, table))
    return base, base.sort(label, key, signature)


def cases(sort: Sort, seed: int, count: int = CASES) -> list[tuple[int, str]]:
    """Return about `count` test cases of a quick validation, as (number of keys, kind of input); with 0, all cases.

    The chosen cases are evenly spaced in the list of all cases, so that they cover each kernel and path of the sort.
    """
    pairs = validation.plan_cases(sort, full=False, seed=seed)
    return pairs[:: max(1, len(pairs) // count)] if count else pairs


def ready(request: Mapping[str, Any], send: Send, late: list[str], end: float) -> dict[str, Candidate]:
    """Return the candidates of a request that pass a validation, by name; `late` gets those not validated by `end`."""
    parsed = target.parse(request["text"], request["stem"], request["where"])
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
            _, sort = replace_table(parsed, c["label"], request["key"], c["table"], signature)
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
                report = _checked(engine, pairs, c["name"], request["seed"], send, (patience, end))
            except Usage as e:  # on this device, the shape cannot sort the number of keys of a test case
                send({"failed": c["name"], "kind": "device", "why": e.lines[0]})
                continue
            if report is None:
                late += [c["name"]] * (time.monotonic() >= end)
                continue
            count = report.cases
            took = time.monotonic() - begin
            least = min(least, took)
            send({"ready": c["name"], "cases": count, "case": took / count})
        out[c["name"]] = Candidate(c["name"], engine)
    return out


def _checked(
    engine: Engine, pairs: Sequence[tuple[int, str]], name: str, seed: int, send: Send, limits: tuple[float, float]
) -> validation.Report | None:
    """Validate a candidate; return None if the validation exceeds its limits.

    limits: the longest duration in seconds, and the time of `time.monotonic` at which the validation must end.

    Raises:
        Wrong: a result is wrong.
    """
    patience, end = limits
    left = end - time.monotonic()
    try:
        report = validation.run(
            engine, pairs, seed, stop=1, progress=_reporting(send, min(patience, left), name, len(pairs))
        )
    except TimeoutError:
        if left < patience:
            send({"late": name})
        else:
            send({"failed": name, "kind": "slow", "why": f"validation takes more than {patience:.0f} seconds"})
        return None
    if report.failed:  # the kernels may have overwritten any memory, so later results of this process are unreliable
        send({"failed": name, "kind": "wrong", "why": report.failures[0]})
        raise Wrong(report.failures[0])
    return report


def _engine(request: Mapping[str, Any], c: Mapping[str, Any], context: Any, sort: Sort) -> Engine:
    if request["native"]:
        harness = Harness(Path(c["library"]))
        return Native(harness, request["api"], sort, request["index"], request["options"])
    return pyopencl.Direct(context, Compiled(context, sort, render(sort, pyopencl.API.name)))


def _reporting(send: Send, patience: float, name: str, of: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a wrapper for an iterator.  The wrapper reports progress about every second.

    After `patience` seconds the wrapper raises `TimeoutError`.  `of` is the total number of cases, for the reports.
    """

    def wrap(items: Iterator[Any]) -> Iterator[Any]:
        begin = reported = time.monotonic()
        if patience <= 0:
            raise TimeoutError
        for number, item in enumerate(items):
            yield item
            now = time.monotonic()
            if now - begin > patience:
                raise TimeoutError
            if now - reported > 1:
                reported = now
                send({"done": number, "of": of, "checking": name})

    return wrap
