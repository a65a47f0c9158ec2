"""The device, target and library of a command, and running sorts there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hsgen.apis import APIS
from hsgen.cli.device import choose
from hsgen.cli.drive import Drive
from hsgen.cli.progress import bar
from hsgen.core.errors import Unavailable
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines import hosts, isolated_build, pyopencl, shims
from hsgen.engines.compiled import Compiled
from hsgen.targets import fallback
from hsgen.targets import target as target_files
from hsgen.tools import worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where sorts run: API, device, target, and how the device is driven."""

    api: str
    target: str
    host: hosts.Host
    sorts: list[Sort]
    library: dict[str, Path]  # by the sort's file; empty where pyopencl drives the device
    options: str
    shimmed: bool = False

    @property
    def language(self) -> str:
        """The suffix of a device's name where kernels run in a language other than their API's."""
        harness = APIS[self.api].harness
        runs = harness.runtime if harness else None
        return f", as {shims.LANGUAGE}" if self.shimmed else f", as SPIR-V through {runs.title}" if runs else ""

    def request(self, sort: Sort, task: str, **more: Any) -> dict[str, Any]:
        """Return a request to the worker."""
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
    """Return the device to use, with the sorts of the target on it."""
    drive.check()
    api, native, found, device = drive.api, drive.native, drive.found, drive.device
    shown = devices(drive, baselines) if native else shims.takers() if drive.shimmed else None
    if found is None:
        shown = [choose(device, shown)]
        found = hosts.target_for(shown[0], [target_files.find(n) for n in target_files.names()])
        device = None
    sorts = drive.sorts(found)
    libraries = {s.file: drive.library(found, s, baselines) for s in sorts} if native else {}
    chosen = choose(device, shown, found, sorts)
    name = drive.target or found.name
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
    """Return the devices that the C runtime lists, without those whose results are known to be wrong.

    The runtime includes `baselines`, so that a benchmark, which needs them later, builds it only once.

    Raises:
        Unavailable: there is no such device.
    """
    APIS[drive.api].prepare()
    found = drive.found or fallback.of(drive.api)
    sort = drive.sorts(found)[0] if drive.found else found.default("u32")
    shown = worker.hosts(drive.api, drive.library(found, sort, baselines if drive.found else ()))
    sound = [h for h in shown if not hosts.unsound(h)]
    if shown and not sound:
        raise Unavailable(f"{shown[0].label}: {hosts.unsound(shown[0])}")
    if not shown:
        raise Unavailable(f"no device of {drive.api}; `hsgen doctor` lists what was found")
    return sound


def direct(
    host: hosts.Host, sort: Sort, api: str = pyopencl.API.name, others: Sequence[Sort] = (), *, strict: bool = False
) -> pyopencl.Direct:
    """Compile a sort for pyopencl, after a trial in a process that may crash; try the `others` of its engine, too.

    `strict`: fail instead of compiling without optimization.
    """
    source = shims.SHIMS[api].source(sort) if api in shims.SHIMS else render(sort, api)
    for other in {s.file: s for s in others}.values():
        isolated_build.check(host.label, other, render(other, pyopencl.API.name))
    if strict:
        isolated_build.check(host.label, sort, source)
    else:
        source = isolated_build.accepted(host.label, sort, source)
    context = pyopencl.context_for(host)
    return pyopencl.Direct(context, Compiled(context, sort, source))


def follow(request: dict[str, Any], label: str, length: int) -> Any:
    """Run a task in a worker, show its progress, and return its result."""
    with bar(label, length) as report:
        for event in worker.call(request, label):
            if "done" in event:
                report(event["done"])
            if "result" in event:
                report(length)
                return event["result"]
    raise AssertionError("a worker ends with a result or an error")
