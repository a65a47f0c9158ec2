"""Runs tests and benchmarks with a bundle's C runtime in a separate process.

A driver's crash or hang then ends only that process.  The caller sends one request as JSON on stdin.  The process
answers on stdout with *events*, one JSON object per line.  There are any number of events {"done": steps so far}, and
at the end one event {"result": ...} or {"error": name of the exception, "lines": [...]}.
"""

from __future__ import annotations

import json
import math
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from hsgen.core import errors
from hsgen.core.errors import HsgenError, Wrong
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.scratch import ANY_N
from hsgen.engines import native
from hsgen.engines.builds import LOGS, keep_log
from hsgen.engines.harness import Harness, Native
from hsgen.engines.hosts import Host
from hsgen.system import folders, processes
from hsgen.targets import fallback, target
from hsgen.tools import bench
from hsgen.tools.validate import large, validation

SECONDS = 180.0  # longest wait for an event; the slowest test case, or compiling a sort, takes much less

Event = dict[str, Any]


def call(
    request: Event, title: str, seconds: float = SECONDS, command: Sequence[str] = (), *, limit: float = math.inf
) -> Iterator[Event]:
    """Start a process that performs the task in `request`; yield its events, of which the last has the result.

    `command` starts the process; by default, the process runs this module.

    Raises:
        Wrong: the process crashed, or sent no event for `seconds`; the message starts with `title`.
        TimeoutError: the task took longer than `limit` seconds.
        HsgenError: the task raised this error.
    """
    with folders.scratch() as folder, tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as noise:
        variables = processes.environment(TMPDIR=str(folder), **{LOGS: os.environ.get(LOGS) or tempfile.gettempdir()})
        command = command or processes.python(__name__)
        process = processes.start(command, variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=noise)
        assert process.stdin and process.stdout
        try:
            with suppress(BrokenPipeError):  # the process has already ended; `_events` reports the exit code
                process.stdin.write(json.dumps(request).encode())
                process.stdin.close()
            yield from _events(process, process.stdout, noise, title, (seconds, time.monotonic() + limit))
        finally:
            processes.end(process)
            process.stdout.close()


def _lines(out: int, seconds: float, end: float) -> Iterator[bytes | None]:
    """Yield the lines of a pipe until it is closed; whenever no data came for `seconds`, yield None.

    Raises:
        TimeoutError: `time.monotonic` has passed `end`.
    """
    waiting = b""
    with selectors.DefaultSelector() as selector:
        selector.register(out, selectors.EVENT_READ)
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if not selector.select(min(seconds, left, processes.LONGEST)):
                if left > seconds:
                    yield None
                continue
            data = os.read(out, 1 << 16)
            if not data:
                return
            *lines, waiting = (waiting + data).split(b"\n")
            yield from lines


def _events(
    process: subprocess.Popen[bytes], out: IO[bytes], noise: IO[str], title: str, limits: tuple[float, float]
) -> Iterator[Event]:
    """Yield the events that a process sends through the pipe `out`.

    limits: the longest wait for an event in seconds, and the value of `time.monotonic` at which the task must end.
    """
    last, seconds = 0, limits[0]
    for line in _lines(out.fileno(), *limits):
        if line is None:
            raise Wrong(f"{title}: the driver hangs: no answer for {seconds:g} seconds after step {last}")
        event: Event = json.loads(line)
        if "error" in event:
            raise getattr(errors, event["error"])(*event["lines"])
        last = event.get("done", last)
        yield event
        if "result" in event:
            return
    code = process.wait()
    noise.seek(0)
    log = keep_log(noise.read())
    raise Wrong(f"{title}: the driver crashed with {processes.status(code)} after step {last}; its output is in {log}")


def hosts(api: str, library: Path) -> list[Host]:
    """Return the devices that the drivers of `api` list, as the compiled C runtime `library` reports them.

    Raises:
        Wrong: the driver crashes or hangs.
    """
    for event in call({"task": "hosts", "api": api, "library": str(library)}, f"{api} devices"):
        if "result" in event:
            return [Host(**{**x, "widths": tuple(x["widths"])}) for x in event["result"]]
    return []


def listed(api: str) -> list[Host]:
    """Return the devices that the drivers of `api` list; for this, build a C library with few, small kernels.

    Raises:
        Unavailable: a compiler or a header is missing.
        Wrong: the driver crashes or hangs.
    """
    return hosts(api, native.library(api, [fallback.of(api)], "u32", algorithms=["digest"]))


def _validate(engine: Native, request: Event, show: Callable[[Any], Any]) -> Any:
    pairs = validation.plan_cases(engine.sort, full=request["full"], seed=request["seed"])
    report = validation.run(engine, pairs, request["seed"], progress=show)
    return {"cases": report.cases, "failed": report.failed, "failures": report.failures}


def _bench(engine: Native, request: Event, show: Callable[[Any], Any], beat: Callable[[], None]) -> Any:
    sizes, against, rounds = request["sizes"], request["against"], request["rounds"]
    options, device, seed = Options(**request["how"]), request["label"], request["seed"]
    with ExitStack() as opened:
        alternatives, paths = {}, {request["library"]}
        for name, alternative in request["alternatives"].items():
            path = Path(alternative["library"])
            if str(path) in paths:  # loading a path twice gives one library, which can have only one open device
                copy = opened.enter_context(folders.scratch()) / path.name
                path = shutil.copyfile(path, copy)
            paths.add(str(path))
            alternatives[name] = _engine({**request, **alternative}, Harness(path))
            opened.callback(alternatives[name].close)
        more = {"alternatives": alternatives, "kinds": request["kinds"], "segments": request["segments"], "beat": beat}
        more["spans"] = request["spans"]
        timings = bench.measure(engine, sizes, against, rounds, seed, device, show, options, **more)
        return [asdict(row) for rows in timings for row in rows]


def _engine(request: Event, harness: Harness) -> Native:
    signature = Signature(**request["signature"])
    sort = target.find(request["target"]).sort(
        request["algorithm"], request["key"], signature, request.get("max_n", ANY_N)
    )
    return Native(harness, request["api"], sort, request["index"], request["options"])


def _perform(request: Event, send: Callable[[Event], None]) -> Any:
    harness = Harness(Path(request["library"]))
    if request["task"] == "hosts":
        return [asdict(h) for h in harness.hosts(request["api"])]
    engine = _engine(request, harness)
    sent, done = time.monotonic(), 0

    def beat() -> None:
        nonlocal sent
        if time.monotonic() - sent > 0.1:
            send({"done": done})
            sent = time.monotonic()

    def show(items: Iterator[Any]) -> Iterator[Any]:
        nonlocal done
        for item in items:
            yield item
            done += 1
            beat()

    try:
        if request["task"] == "bench":
            return _bench(engine, request, show, beat)
        if request["task"] == "large":
            by = large.checks(target.find(request["target"]), engine.sort)
            return [x for _ in show(iter([0])) for x in large.faults(engine, by, request["n"], request["seed"])]
        return _validate(engine, request, show)
    finally:
        engine.close()


def serve(perform: Callable[[Event, Callable[[Event], None]], Any]) -> None:
    """Call `perform` with the request that stdin has, and write the task's events to stdout.

    Drivers may print to stdout, so file descriptor 1 is redirected to stderr.
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def send(event: Event) -> None:
        out.write(json.dumps(event) + "\n")

    try:
        send({"result": perform(json.loads(sys.stdin.read()), send)})
    except HsgenError as e:
        send({"error": type(e).__name__, "lines": e.lines})


if __name__ == "__main__":
    serve(_perform)
