"""Jobs of offline compilers: planning them, and running them in parallel.

A job is the kernels of one sort for one device.  If it fails, each kernel is compiled by itself, so that a kernel that
a compiler refuses, or on which it crashes or hangs, is known by name, and the others have their numbers.
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
    """The text of a sort for an API: rendered at its first use, and dropped after the last of its jobs."""

    sort: Sort
    api: str
    jobs: int = 0
    _source: Source | None = None

    def take(self) -> Source:
        """Return the text, for one of the jobs.

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
    """Kernels of a sort that a compiler compiles together for a device."""

    place: Place
    compiler: Compiler
    identity: str
    text: Text
    kernels: tuple[Kernel, ...]


@dataclass(slots=True)
class Done:
    """The result of a job: its kernels, the seconds that it took, and whether all came from the cache."""

    job: Job
    results: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    kept: bool = False


def devices_of(target: Target) -> list[tuple[str, str]]:
    """Return the (compiler, device) pairs of a target: its table ``[isa]``, and for Vulkan the check of SPIR-V."""
    named = [(name, device) for name, devices in target.isa.items() for device in devices]
    return named + [(SPIRV, f"vulkan{target.device.vulkan}")] * any(APIS[api].spirv for api in target.apis)


class Planner:
    """Plans the jobs of targets; asks each compiler only once whether it is installed for a device."""

    def __init__(self, compilers: Mapping[str, Compiler]) -> None:
        self.compilers = compilers
        self._identities: dict[tuple[str, str], str | None] = {}

    def identity(self, name: str, device: str) -> str | None:
        """Return the name and version of the compiler for a device, or None."""
        at = name, device
        if at not in self._identities:
            try:
                self._identities[at] = self.compilers[name].identity(device)
            except subprocess.TimeoutExpired:  # not even its version, so no kernel either
                self._identities[at] = None
        return self._identities[at]

    def jobs(
        self, target: Target, sorts: Sequence[Sort], where: Iterable[tuple[str, str]]
    ) -> tuple[list[Job], list[Missing]]:
        """Return the jobs that compile `sorts` of a target for (compiler, device) pairs, and the missing compilers.

        A kernel of several sorts is compiled only with the first of them.
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
                some = tuple(k for k in kernels if wide or not k.index64)
                if some:
                    text = texts.setdefault((sort.file, compiler.api), Text(sort, compiler.api))
                    text.jobs += 1
                    jobs.append(Job(place=place, compiler=compiler, identity=identity, text=text, kernels=some))
        missing = [
            Missing(target=target.name, compiler=n, devices=tuple(d), install=self.compilers[n].install)
            for n, d in lacking.items()
        ]
        return jobs, missing


def _fresh(sorts: Sequence[Sort]) -> Iterator[tuple[Sort, tuple[Kernel, ...]]]:
    """The sorts with the kernels that no previous sort has; sorts without such kernels are omitted.

    Kernels are the same if they are equal and the parameters of their algorithm in the sort are, too, since text that
    the kernels of an algorithm share depends on these.
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
    """Yield the jobs as they finish; at most `workers` run at a time, and no compilation takes longer than `seconds`.

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
    done.seconds, done.kept = round(time.monotonic() - begin, 3), attempt.kept
    return done


class _Attempt:
    """One job in progress; no compiler is started after `ended` is set."""

    def __init__(self, job: Job, source: Source, seconds: float, ended: threading.Event) -> None:
        self.job, self.source, self.seconds, self.ended = job, source, seconds, ended
        self.kept = True

    def results(self) -> list[Result]:
        """Compile all kernels at once or, if that fails, one by one."""
        found, why, log = self._uses(self.job.kernels)
        if not why:
            return [self._result(k.name, use=found[k.name]) for k in self.job.kernels]
        if len(self.job.kernels) == 1:
            return [self._result(self.job.kernels[0].name, problem=why, log=log)]
        out = []
        for kernel in self.job.kernels:
            found, problem, own = self._uses((kernel,))
            out.append(self._result(kernel.name, use=found.get(kernel.name), problem=problem or None, log=own))
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
        """The resources of the kernels, or the reason for the failure with the log's file; a timeout has no log."""
        job = self.job
        request = Request(sort=job.text.sort, source=self.source, kernels=kernels, device=job.place.device)
        place = cache.place(job.compiler, job.identity, request)
        if (known := cache.load(place, kernels)) is not None:
            return known, "", None
        self.kept = False
        if self.ended.is_set():
            return {}, "is not compiled any more", None
        with folders.scratch() as folder:
            try:
                found = job.compiler.compile(request, folder, self.seconds)
                if lacking := [k.name for k in kernels if k.name not in found]:
                    raise Wrong(f"{job.identity} omits {', '.join(lacking)}")
            except subprocess.TimeoutExpired:
                return {}, f"takes longer than {self.seconds:g} seconds", None
            except HsgenError as e:
                first, *more = "\n".join(e.lines).splitlines()
                head = f"{job.identity} for {job.place.device}"
                return {}, first, cache.log(place.name, [head, first, *more, "", request.text])
        cache.keep(place, {k.name: found[k.name] for k in kernels})
        return found, "", None
