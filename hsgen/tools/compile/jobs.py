"""Plans the jobs of offline compilers, and runs them in parallel.

A job compiles the kernels of one sort for one device, all together.  If this fails, each kernel is compiled by itself.
The results then say which kernel the compiler refuses, or on which kernel it crashes or hangs.  All other kernels have
results.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field

from hsgen.apis import APIS
from hsgen.core.errors import HsgenError, Wrong
from hsgen.core.kernels import Kernel
from hsgen.core.sort import Sort
from hsgen.dialects.dialect import load
from hsgen.emit.kernels import Source, render
from hsgen.emit.templates import environment
from hsgen.system import folders, processes
from hsgen.targets.isa import SPIRV
from hsgen.targets.target import Target
from hsgen.tools.compile import cache
from hsgen.tools.compile.base import Compiler, Request, Use
from hsgen.tools.compile.results import TOGETHER, Missing, Place, Result

SECONDS = 300.0
_rendering = threading.Lock()


@dataclass(slots=True)
class Text:
    """The text of a sort for an API, shared by `jobs` jobs.

    The text is rendered for the first job and released after the last, because all texts together are large.
    """

    sort: Sort
    api: str
    jobs: int = 0
    _source: Source | None = None

    def take(self) -> Source:
        """Return the text; each job calls this method once.

        Raises:
            Wrong: a template is damaged.
        """
        with _rendering:
            source = self._source or render(self.sort, self.api)
            self.jobs -= 1
            self._source = source if self.jobs > 0 else None
            return source


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job: kernels of a sort that a compiler compiles together for a device."""

    place: Place
    compiler: Compiler
    identity: str
    text: Text
    kernels: tuple[Kernel, ...]


@dataclass(slots=True)
class Done:
    """The outcome of a job: a result for each kernel, the duration in seconds, and whether all came from the cache."""

    job: Job
    results: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    cached: bool = False


def devices_of(target: Target) -> list[tuple[str, str]]:
    """Return the (compiler, device) pairs of a target: those of its table ``[isa]``, and spirv-val if it has Vulkan."""
    named = [(name, device) for name, devices in target.isa.items() for device in devices]
    return named + [(SPIRV, f"vulkan{target.device.vulkan}")] * any(APIS[api].spirv for api in target.apis)


class Planner:
    """Plans jobs for targets, and remembers which compiler serves each device."""

    def __init__(self, compilers: Mapping[str, Compiler]) -> None:
        self.compilers = compilers
        self._identities: dict[tuple[str, str], str | None] = {}

    def identity(self, name: str, device: str) -> str | None:
        """Return the name and version of the installed compiler for a device; None without one."""
        at = name, device
        if at not in self._identities:
            try:
                self._identities[at] = self.compilers[name].identity(device)
            except subprocess.TimeoutExpired:  # a compiler that hangs when asked for its version counts as missing
                self._identities[at] = None
        return self._identities[at]

    def jobs(
        self, target: Target, sorts: Sequence[Sort], where: Iterable[tuple[str, str]]
    ) -> tuple[list[Job], list[Missing]]:
        """Return the jobs that compile `sorts` for the (compiler, device) pairs `where`, and the missing compilers.

        If several sorts have the same kernel, only the job of the first of these sorts compiles it.
        """
        jobs: list[Job] = []
        lacking: dict[str, list[str]] = {}
        texts: dict[tuple[str, str], Text] = {}
        fresh = list(_fresh(sorts))
        for name, device in where:
            identity = self.identity(name, device)
            if identity is None:
                lacking.setdefault(name, []).append(device)
                continue
            compiler, place = self.compilers[name], Place(target=target.name, compiler=name, device=device)
            wide = "int64" in load(environment(), APIS[compiler.api].dialect).capabilities
            for sort, kernels in fresh:
                usable = tuple(k for k in kernels if wide or not k.index64)
                if usable:
                    text = texts.setdefault((sort.file, compiler.api), Text(sort, compiler.api))
                    text.jobs += 1
                    jobs.append(Job(place=place, compiler=compiler, identity=identity, text=text, kernels=usable))
        missing = [
            Missing(target=target.name, compiler=n, devices=tuple(d), install=self.compilers[n].install)
            for n, d in lacking.items()
        ]
        return jobs, missing


def _fresh(sorts: Sequence[Sort]) -> Iterator[tuple[Sort, tuple[Kernel, ...]]]:
    """Yield each sort with those of its kernels that no earlier sort has; sorts without such kernels are left out.

    Two kernels are the same if their descriptions are equal, and their algorithm has the same parameters in both sorts.
    The parameters matter because all kernels of an algorithm share text that depends on them.
    """
    seen: dict[str, list[tuple[Kernel, object]]] = {}
    for sort in sorts:
        every = {a: [x.params for x in sort.parts if x.algorithm == a] for a in {x.algorithm for x in sort.parts}}
        new = []
        for kernel in sort.kernels:
            known, this = seen.setdefault(kernel.name, []), (kernel, every.get(kernel.algorithm))
            if this not in known:
                known.append(this)
                new.append(kernel)
        if new:
            yield sort, tuple(new)


def run(jobs: Sequence[Job], workers: int, seconds: float = SECONDS) -> Iterator[Done]:
    """Yield the results of jobs as they finish.

    At most `workers` jobs run at a time.  No compilation takes longer than `seconds`.

    Raises:
        HsgenError: a template is damaged, or a compiler has disappeared.
    """
    pool, ended = ThreadPoolExecutor(max(1, workers)), threading.Event()
    try:
        for future in as_completed([pool.submit(_perform, job, seconds, ended) for job in jobs]):
            yield future.result()
    finally:
        ended.set()
        pool.shutdown(wait=False, cancel_futures=True)
        processes.stop()


def ordered(done: Iterable[Done], jobs: Sequence[Job]) -> list[Done]:
    """Return the results of `run` in the order of the jobs."""
    at = {id(job): i for i, job in enumerate(jobs)}
    return sorted(done, key=lambda d: at[id(d.job)])


def _perform(job: Job, seconds: float, ended: threading.Event) -> Done:
    begin, source = time.monotonic(), job.text.take()
    attempt = _Attempt(job, source, seconds, ended)
    done = Done(job, attempt.results())
    done.seconds, done.cached = round(time.monotonic() - begin, 3), attempt.cached
    return done


class _Attempt:
    """A job in progress.  When the caller sets `ended`, no further compiler is started."""

    def __init__(self, job: Job, source: Source, seconds: float, ended: threading.Event) -> None:
        self.job, self.source, self.seconds, self.ended = job, source, seconds, ended
        self.cached = True

    def results(self) -> list[Result]:
        """Compile all kernels together; if this fails, compile them one by one.  Return the results."""
        uses, why, log = self._uses(self.job.kernels)
        if not why:
            return [self._result(k.name, use=uses[k.name]) for k in self.job.kernels]
        if len(self.job.kernels) == 1:
            return [self._result(self.job.kernels[0].name, problem=why, log=log)]
        out = []
        for kernel in self.job.kernels:
            uses, problem, kernel_log = self._uses((kernel,))
            out.append(self._result(kernel.name, use=uses.get(kernel.name), problem=problem or None, log=kernel_log))
        if all(r.problem is None for r in out) and log is not None:
            problem = f"compiles one by one, but all together it {why}"
            out.append(self._result(TOGETHER, problem=problem, log=log))
        return out

    def _result(
        self, kernel: str, use: Use | None = None, problem: str | None = None, log: str | None = None
    ) -> Result:
        job = self.job
        return Result(
            place=job.place,
            identity=job.identity,
            sort=job.text.sort.file,
            kernel=kernel,
            use=use,
            problem=problem,
            log=log,
        )

    def _uses(self, kernels: tuple[Kernel, ...]) -> tuple[dict[str, Use], str, str | None]:
        """Return (resources by kernel, reason of a failure, path of the log).

        Without a failure, the reason is empty and the path None.  A timeout has no log, either.
        """
        job = self.job
        request = Request(sort=job.text.sort, source=self.source, kernels=kernels, device=job.place.device)
        place = cache.place(job.compiler, job.identity, request)
        if (known := cache.load(place, kernels)) is not None:
            return known, "", None
        self.cached = False
        if self.ended.is_set():
            return {}, "is not compiled any more", None
        with folders.scratch() as folder:
            try:
                uses = job.compiler.compile(request, folder, self.seconds)
                if lacking := [k.name for k in kernels if k.name not in uses]:
                    raise Wrong(f"{job.identity} omits {', '.join(lacking)}")
            except subprocess.TimeoutExpired:
                return {}, f"takes longer than {self.seconds:g} seconds", None
            except HsgenError as e:
                first, *more = "\n".join(e.lines).splitlines()
                head = f"{job.identity} for {job.place.device}"
                return {}, first, cache.log(place.name, [head, first, *more, "", request.text])
        cache.keep(place, {k.name: uses[k.name] for k in kernels})
        return uses, "", None
