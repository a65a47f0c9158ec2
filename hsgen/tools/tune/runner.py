"""Races on one device of this machine; all steps that may crash or hang run in other processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

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
from hsgen.tools.compile import nvrtc
from hsgen.tools.tune import race as racing
from hsgen.tools.tune.search import Finish, Race, Rung

CHILD = tuple(processes.python("hsgen.tools.tune.race"))

Failed = Callable[[str, str, str], None]
"""Callback for a failure: the candidate's name, the kind of failure, and the reason."""

Progress = Callable[[], None]
"""Callback for progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One candidate: a label with a table; None is the target's own table."""

    label: str
    table: Mapping[str, Any] | None


def _asked(key: str, cases: int, signature: Signature, rungs: Sequence[Rung]) -> dict[str, Any]:
    """The members of a request that say what is raced."""
    return {"key": key, "cases": cases, "signature": asdict(signature), "rungs": [asdict(r) for r in rungs]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A device with its facts, and the target whose tables are tuned on it; picklable.

    `native`: the bundle's C runtime drives the device, which is number `index` of the API.  `limit`: seconds for a
    compilation, or for a step of a candidate.  `compute`: the compute capability of an NVIDIA GPU, 0 for others.
    `name`, `driver` and `level` are for evidence; `level` says whether this is a device of the target, or a CPU runtime
    that runs its kernels, and is empty on a GPU of another target.
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

    def race(self, it: Race, failed: Failed, progress: Progress = lambda: None) -> Finish:
        """Run a race between tables of one label."""
        entries = {name: Entry(label=it.label, table=table) for name, table in it.tables.items()}
        return self.run(entries, it.key, it.rungs, failed, progress, best=it.best, stay=it.stay)

    def run(
        self,
        entries: Mapping[str, Entry],
        key: str,
        rungs: Sequence[Rung],
        failed: Failed,
        progress: Progress = lambda: None,
        *,
        best: str | None = None,
        stay: Sequence[str] = (),
        signature: Signature = PLAIN,
        cases: int = racing.CASES,
    ) -> Finish:
        """Race entries, by name, over rungs.  If one crashes or hangs, the race restarts without it.

        Each entry is first validated by `cases` pairs; 0 means the complete quick validation.  `best` runs first, and
        entries in `stay` are never eliminated.
        """
        begin = time.monotonic()
        finish = Finish()

        def fail(name: str, kind: str, why: str) -> None:
            finish.failed[name] = kind, why
            failed(name, kind, why)

        libraries = self._prepare(entries, key, signature, best, fail, progress, whole=cases == 0)
        passed: dict[str, int] = {}
        constant = {**self._place(), **_asked(key, cases, signature, rungs)}
        while left := [x for x in entries if x not in finish.failed]:
            tried = [{**asdict(entries[x]), "name": x, "library": libraries.get(x, "")} for x in left]
            candidates = [{**x, "checked": x["name"] in passed} for x in tried]
            more = {"best": best if best in left else None, "stay": [x for x in stay if x in left]}
            request = {**constant, **more, "candidates": candidates}
            found = self._attempt(request, left, passed, fail, progress)
            if found is not None:
                finish.seconds = {x: {int(n): t for n, t in s.items()} for x, s in found["seconds"].items()}
                finish.reached, finish.cases = found["reached"], passed
                break
        finish.took = time.monotonic() - begin
        return finish

    def _place(self) -> dict[str, Any]:
        """The fields of a request that describe the device and the target."""
        names = ("text", "stem", "where", "api", "device", "native", "index", "options", "seed")
        return {name: getattr(self, name) for name in names}

    def _attempt(
        self, request: dict[str, Any], left: Sequence[str], passed: dict[str, int], fail: Failed, progress: Progress
    ) -> dict[str, Any] | None:
        """Run a race in a process; None if a candidate ended it, whose failure is then recorded."""
        trying, noted = left[0], False
        try:
            for event in worker.call(request, "race", self.limit, self.child):
                progress()
                trying = event.get("trying", trying)
                if "ready" in event:
                    passed.setdefault(event["ready"], event["cases"])
                if "failed" in event:
                    noted = event["kind"] == "wrong"  # this failure ends the process
                    fail(event["failed"], event["kind"], event["why"])
                if "result" in event:
                    result: dict[str, Any] = event["result"]
                    return result
        except Wrong as e:
            if not noted:
                why = e.lines[0].removeprefix("race: ")
                fail(trying, "hang" if "hangs" in why else "crash", why)
        return None

    def _prepare(
        self,
        entries: Mapping[str, Entry],
        key: str,
        signature: Signature,
        best: str | None,
        fail: Failed,
        progress: Progress,
        *,
        whole: bool,
    ) -> dict[str, str]:
        """Compile all entries, one per processor at a time; return libraries by name, empty for OpenCL.

        `whole`: check CUDA's registers for every device of the target.
        """

        target = self.target

        def one(name: str) -> tuple[str, str, str]:
            entry = entries[name]
            try:
                found, sort = racing.made(target, entry.label, key, entry.table, signature)
                if name != best and (spilled := self._spills(sort, self._family(target) if whole else [self.compute])):
                    return "spills", spilled, ""
                return "", "", self._compile(found, sort, entry.label, key, signature)
            except HsgenError as e:
                return "device" if isinstance(e, Unavailable) else "build", e.lines[0], ""

        made: dict[str, str] = {}
        with ThreadPoolExecutor(max(1, self.jobs)) as pool:
            for name, (kind, why, path) in zip(entries, pool.map(one, entries), strict=True):
                progress()
                if kind:
                    fail(name, kind, why)
                made[name] = path
        return made

    def _compile(self, found: Target, sort: Sort, label: str, key: str, signature: Signature) -> str:
        if self.native:
            return str(native.library(self.api, [found], key, algorithms=[label], signature=signature))
        isolated_build.check(self.device, sort, render(sort, pyopencl.API.name), self.limit, which=False)
        return ""

    def _family(self, found: Target) -> list[int]:
        """The compute capabilities of the target's devices that installed compilers support."""
        low, high = (*found.match.compute, self.compute, self.compute)[:2]
        known = (
            {a for c in nvrtc.compilers() for a in c.archs if low <= a <= high} if self.api == nvrtc.API.name else set()
        )
        return sorted({*known, self.compute})

    def _spills(self, sort: Sort, archs: Sequence[int]) -> str | None:
        """Return which kernel of a sort spills registers, or None; None also without a compiler."""
        if self.api != nvrtc.API.name or not self.compute:
            return None
        text = render(sort, nvrtc.API.name).text

        def one(arch: int) -> str | None:
            try:
                found = nvrtc.compile(text, arch)
            except HsgenError:
                return None
            worst = [f"{x}, {u.spill_stores} bytes are stored" for x, u in found.items() if u.spills]
            return f"sm_{arch}: registers do not suffice for {worst[0]}" if worst else None

        with ThreadPoolExecutor(max(1, self.jobs)) as pool:
            return next((said for said in pool.map(one, archs) if said), None)
