"""Finds the device, target and libraries that a command line selects, and creates the `Engine` objects that run sorts
on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hsgen.apis import APIS
from hsgen.cli.device import choose
from hsgen.cli.drive import Drive
from hsgen.cli.progress import bar
from hsgen.core.errors import Unavailable
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines import builds, hosts, isolated_build, pyopencl, shims
from hsgen.engines.compiled import Compiled
from hsgen.targets import fallback, heads
from hsgen.tools import worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where and how sorts run: the API, the device, the target, and the libraries that drive the device."""

    api: str
    target: str
    host: hosts.Host
    sorts: list[Sort]
    library: dict[str, Path]  # of the C runtime, by the sort's file name; empty if pyopencl drives the device
    options: str
    shimmed: bool = False

    @property
    def language(self) -> str:
        """A suffix for the device's name, if kernels run in another language than that of their API; otherwise ""."""
        harness = APIS[self.api].harness
        runs = harness.runtime if harness else None
        return f", as {shims.LANGUAGE}" if self.shimmed else f", as SPIR-V through {runs.title}" if runs else ""

    def request(self, sort: Sort, task: str, **more: Any) -> dict[str, Any]:
        """Return a request to `hsgen.tools.worker` for a task with a sort; `more` are further fields."""
        return {
            "task": task,
            "api": self.api,
            "library": str(self.library[sort.file]),
            "target": self.target,
            "algorithm": sort.algorithm,
            "key": sort.label,
            "signature": asdict(sort.signature),
            "max_n": sort.limit,
            "index": self.host.handle,
            "options": self.options,
            **more,
        }


def find(drive: Drive, baselines: Sequence[str] = ()) -> Place:
    """Return the device, the target and the target's sorts that a command line selects.

    If the command line names no target, the target is chosen for the device.  If the C runtime drives the device, a
    library is built for each sort.
    """
    drive.check()
    api, native, target, device = drive.api, drive.native, drive.named_target, drive.device
    shown = devices(drive, baselines) if native else shims.takers() if drive.shimmed else None
    if target is None:
        shown = [choose(device, shown)]
        target = hosts.target_for(shown[0], heads.shipped())
        device = None
    sorts = drive.sorts(target)
    libraries = {s.file: drive.library(target, s, baselines) for s in sorts} if native else {}
    chosen = choose(device, shown, target, sorts)
    name = drive.target or target.name
    return Place(
        api=api,
        target=name,
        host=chosen,
        sorts=sorts,
        library=libraries,
        options=drive.words,
        shimmed=drive.shimmed,
    )


def devices(drive: Drive, baselines: Sequence[str] = ()) -> list[hosts.Host]:
    """Return the devices that the C runtime lists; devices that are known to give wrong results are left out.

    The runtime is built with `baselines`, so that a benchmark can use the same library and builds it only once.

    Raises:
        Unavailable: there is no such device.
    """
    APIS[drive.api].prepare()
    target = drive.named_target or fallback.of(drive.api)
    sort = drive.sorts(target)[0] if drive.named_target else target.default("u32")
    shown = worker.hosts(drive.api, drive.library(target, sort, baselines if drive.named_target else ()))
    sound = [h for h in shown if not hosts.unsound(h)]
    if shown and not sound:
        raise Unavailable(f"{shown[0].label}: {hosts.unsound(shown[0])}")
    if not shown:
        raise Unavailable(f"no device of {drive.api}; `hsgen doctor` lists what was found")
    return sound


def direct(
    host: hosts.Host, sort: Sort, api: str = pyopencl.API.name, siblings: Sequence[Sort] = (), *, strict: bool = False
) -> pyopencl.Direct:
    """Compile a sort for pyopencl, and return its engine.

    The compiler may crash.  Therefore the sort, and the `siblings` that the engine will run too, are first compiled in
    another process.  With `strict`, sorts are always compiled with optimization, and a crash is an error.
    """
    source = shims.SHIMS[api].source(sort) if api in shims.SHIMS else render(sort, api)
    source = source if strict else builds.chosen(source)
    for sibling in {s.file: s for s in siblings}.values():
        plan = replace(render(sibling, pyopencl.API.name), optimized=source.optimized)
        isolated_build.check(host.label, sibling, plan)
    if strict:
        isolated_build.check(host.label, sort, source)
    else:
        source = isolated_build.accepted(host.label, sort, source)
    context = pyopencl.context_for(host)
    return pyopencl.Direct(context, Compiled(context, sort, source))


def follow(request: dict[str, Any], label: str, length: int) -> Any:
    """Perform a task in a worker process, show its progress, and return its result."""
    with bar(label, length) as report:
        for event in worker.call(request, label):
            if "done" in event:
                report(event["done"])
            if "result" in event:
                report(length)
                return event["result"]
    raise AssertionError("a worker ends with a result or an error")
