"""Runs races on one device of this machine.  All steps that may crash or hang run in other processes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from hsgen.algorithms import operation
from hsgen.core.device import Device
from hsgen.core.errors import HsgenError, Unavailable, Wrong
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines import isolated_build, native, pyopencl
from hsgen.system import processes
from hsgen.targets import target as target_files
from hsgen.targets.target import Target
from hsgen.tools import worker
from hsgen.tools.tune import checking, spills
from hsgen.tools.tune.search import Finish, Race, Rung

CHILD = tuple(processes.python("hsgen.tools.tune.race"))

Failed = Callable[[str, str, str], None]
"""A callback for a failure.  Arguments: the candidate's name, the kind of failure, and the reason."""

Progress = Callable[[str], None]
"""A callback for progress.  Argument: a text that describes the phase of the race."""
COMPILING = 0.5  # after this fraction of a race's time, no further compilation starts
GRACE = 1.1  # a race of t seconds is killed after 1.1 t + 1.1 seconds


def _quiet(phase: str) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A candidate: a label and its table of parameters; None stands for the table in the target file."""

    label: str
    table: Mapping[str, Any] | None


def _candidate(entry: Entry, name: str, library: str, checked: bool) -> dict[str, Any]:
    """Return the JSON object that describes a candidate in the request to `hsgen.tools.tune.race`."""
    return {**asdict(entry), "name": name, "library": library, "checked": checked}


def _left(tried: Sequence[dict[str, Any]], best: str | None, stay: Sequence[str], seconds: float) -> dict[str, Any]:
    """Return the fields of a request that change when a race restarts: the candidates `tried`, and the seconds left."""
    names = [x["name"] for x in tried]
    known = {"best": best if best in names else None, "stay": [x for x in stay if x in names]}
    return {**known, "candidates": tried, "seconds": None if math.isinf(seconds) else seconds}


def _phase(event: Mapping[str, Any], of: int) -> str:
    """Return a text that names the phase of a race, from an event of the race; empty if the event does not show it.

    of: the number of candidates.
    """
    if "checking" in event:
        return f"validate, {event['done']} of {event['of']}"
    return "validate" if "ready" in event else f"race of {of}" if "times" in event else ""


def _asked(key: str, cases: int, signature: Signature, rungs: Sequence[Rung]) -> dict[str, Any]:
    """Return the fields of a request that stay the same when a race restarts."""
    return {"key": key, "cases": cases, "signature": asdict(signature), "rungs": [asdict(r) for r in rungs]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A device, and the target that is tuned on it; picklable, so that it can be sent to other machines.

    text, stem, where: the target file's text, its name, and its path for messages.
    facts: the limits of the device.
    native: whether the generated C runtime drives the device, which has number `index` in the API's list of devices.
    If False, pyopencl drives the device.
    name, driver, level: the device, its driver and the level of evidence, which are written into the file's evidence.
    `level` is "device" if the device belongs to the target, "cpu" on a CPU runtime, and empty on any other GPU.
    compute: the compute capability of an NVIDIA GPU; 0 for other devices.
    limit: the time limit in seconds for each compilation, and for each step of a candidate.
    """

    text: str
    stem: str
    where: str
    facts: Device
    api: str
    device: str
    native: bool
    name: str = ""
    driver: str = ""
    level: str = "device"
    index: int = 0
    options: str = ""
    compute: int = 0
    limit: float = 30.0
    jobs: int = 1
    seed: int = 1
    child: tuple[str, ...] = CHILD

    @property
    def target(self) -> Target:
        """The parsed target."""
        return target_files.parse(self.text, self.stem, self.where)

    def race(self, it: Race, failed: Failed, progress: Progress = _quiet, seconds: float = math.inf) -> Finish:
        """Run a race between tables of one label."""
        entries = {name: Entry(label=it.label, table=table) for name, table in it.tables.items()}
        options: dict[str, Any] = {"best": it.best, "stay": it.stay, "seconds": seconds}
        return self.run(entries, it.key, it.rungs, failed, progress, signature=operation(it.label).tuned, **options)

    def run(
        self,
        entries: Mapping[str, Entry],
        key: str,
        rungs: Sequence[Rung],
        failed: Failed,
        progress: Progress = _quiet,
        *,
        best: str | None = None,
        stay: Sequence[str] = (),
        signature: Signature = PLAIN,
        cases: int = checking.CASES,
        seconds: float = math.inf,
    ) -> Finish:
        """Run a race between entries; if an entry crashes or hangs, restart the race without that entry.

        best: the entry that runs first.  stay: the entries that take part in all rungs, however slow they are.
        cases: the test cases for each entry's validation; 0 means all.  seconds: the time after which the race ends.
        """
        begin, finish = time.monotonic(), Finish()

        def fail(name: str, kind: str, why: str) -> None:
            finish.failed[name] = kind, why
            failed(name, kind, why)

        options: dict[str, Any] = {"every": cases == 0, "ends": (begin + COMPILING * seconds, begin + seconds)}
        libraries = self._prepare(entries, key, signature, best, fail, progress, **options)
        finish.late = [x for x in entries if x not in libraries]
        constant = {**self._place(), **_asked(key, cases, signature, rungs)}
        while left := [x for x in libraries if x not in finish.failed]:
            time_left = begin + seconds - time.monotonic()
            if time_left <= 0 or best in finish.late or left == [best]:  # nothing can be compared
                finish.late += [x for x in left if time_left <= 0 and x not in finish.late]
                break
            tried = [_candidate(entries[x], x, libraries[x], x in finish.cases) for x in left]
            if self._attempt({**constant, **_left(tried, best, stay, time_left)}, left, finish, fail, progress):
                break
        finish.took = time.monotonic() - begin
        return finish

    def _place(self) -> dict[str, Any]:
        """Return the fields of a request that describe the device and the target."""
        names = ("text", "stem", "where", "api", "device", "native", "index", "options", "seed")
        return {name: getattr(self, name) for name in names}

    def _attempt(
        self, request: dict[str, Any], left: Sequence[str], finish: Finish, fail: Failed, progress: Progress
    ) -> bool:
        """Run a race in another process, and store its results in `finish`.

        If a candidate's failure ended the process, report the failure and return False.
        """
        trying, noted = left[0], False
        times_sent: dict[str, Any] = {"seconds": {}, "reached": {}}
        limit = math.inf if request["seconds"] is None else GRACE * request["seconds"] + GRACE
        try:
            for event in worker.call(request, "race", self.limit, self.child, limit=limit):
                progress(_phase(event, len(left)))
                trying = event.get("trying", trying)
                if "ready" in event:
                    finish.cases.setdefault(event["ready"], event["cases"])
                    finish.case.setdefault(event["ready"], event["case"])
                if "late" in event:
                    finish.late.append(event["late"])
                if "failed" in event:
                    noted = event["kind"] == "wrong"  # this failure ends the process
                    fail(event["failed"], event["kind"], event["why"])
                times_sent = event.get("times", event.get("result", times_sent))
        except TimeoutError:
            finish.late += [x for x in left if x not in (*finish.cases, *finish.late, *finish.failed)]
        except Wrong as e:
            if not noted:
                why = e.lines[0].removeprefix("race: ")
                fail(trying, "hang" if "hangs" in why else "crash", why)
            return False
        times = {x: {int(n): t for n, t in s.items()} for x, s in times_sent["seconds"].items()}
        finish.seconds = {x: s for x, s in times.items() if (s or not request["rungs"]) and x not in finish.failed}
        finish.reached = {x: times_sent["reached"][x] for x in finish.seconds}
        return True

    def _prepare(
        self,
        entries: Mapping[str, Entry],
        key: str,
        signature: Signature,
        best: str | None,
        fail: Failed,
        progress: Progress,
        *,
        every: bool,
        ends: tuple[float, float],
    ) -> dict[str, str]:
        """Compile entries, `jobs` at a time; return the path of each entry's library, by name.

        With OpenCL there is no library, so the path is empty.  Entries that are not compiled in time are left out.
        every: CUDA kernels must not spill registers on any device of the target.
        ends: two times of `time.monotonic`.  No compilation starts after the first time, except that of the entry
        `best`.  All compilations end by the second time.
        """
        target = self.target

        def one(name: str) -> tuple[str, str, str] | None:
            if time.monotonic() >= ends[name == best]:
                return None
            archs = [] if name == best else self._archs(target, every)
            return self._built(target, entries[name], key, signature, archs, ends[1])

        libraries: dict[str, str] = {}
        with ThreadPoolExecutor(max(1, self.jobs)) as pool:
            for number, (name, build) in enumerate(zip(entries, pool.map(one, entries), strict=True), 1):
                progress(f"compile {number} of {len(entries)}")
                kind, why, path = build or ("", "", "")
                if build is not None:
                    libraries[name] = path
                if kind:
                    fail(name, kind, why)
        return libraries

    def _built(
        self, target: Target, entry: Entry, key: str, signature: Signature, archs: Sequence[int], end: float
    ) -> tuple[str, str, str] | None:
        """Compile an entry; return (kind of failure, reason, path of the library).

        Without a failure, the first two are empty.  The result is None if the time `end` passed before.
        """
        try:
            changed, sort = checking.replace_table(target, entry.label, key, entry.table, signature)
            if spilled := spills.spilling(sort, archs):
                return "spills", spilled, ""
            return "", "", self._compile(changed, sort, entry.label, key, signature, end)
        except HsgenError as e:
            if time.monotonic() >= end:
                return None
            return "device" if isinstance(e, Unavailable) else "build", e.lines[0], ""

    def _archs(self, target: Target, every: bool) -> list[int]:
        """Return the compute capabilities on which a shape must not spill registers; empty for APIs other than CUDA.

        With `every`, these are the capabilities of all devices of the target; otherwise only that of this device.
        """
        return [] if self.api != spills.API.name else spills.family(target, self.compute) if every else [self.compute]

    def _compile(self, target: Target, sort: Sort, label: str, key: str, signature: Signature, end: float) -> str:
        if self.native:
            return str(native.library(self.api, [target], key, algorithms=[label], signature=signature))
        limit = max(0.1, min(self.limit, end - time.monotonic()))
        isolated_build.check(self.device, sort, render(sort, pyopencl.API.name), limit, which=False)
        return ""
