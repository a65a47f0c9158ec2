"""Runs races on this machine, one after another, or on the workers of a Dask cluster, one race per worker.

All workers of a cluster must have the same version of hsgen, and a device of the same name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from hsgen import __version__
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.keys import PLAIN, Signature
from hsgen.engines import hosts
from hsgen.system import extras, toolchain
from hsgen.tools.tune.runner import Entry, Failed, Field, Progress
from hsgen.tools.tune.search import Finish, Race, Rung
from hsgen.tools.worker import listed

SECONDS = 10  # time limit in seconds for the connection to the scheduler
PATIENCE = 600  # seconds until a worker's first answer; to list its devices, a worker may have to build a C runtime
_HOW: Mapping[str, Any] = {"pure": False, "allow_other_workers": True}  # another worker takes over if one dies


class Here:
    """Runs races on this machine, one after another; a `Runner`."""

    at_once = 1

    def __init__(self, field: Field, progress: Progress) -> None:
        """Run races on the device of `field`; `progress` is called after each step."""
        self._field, self._progress = field, progress

    def races(
        self, races: Sequence[Race], failed: Callable[[Race, str, str, str], None], seconds: float
    ) -> list[Finish]:
        """Run races, one after another; see `Runner.races`."""
        return [self._field.race(it, partial(failed, it), self._progress, seconds) for it in races]

    def run(
        self,
        entries: Mapping[str, Entry],
        key: str,
        rungs: Sequence[Rung],
        failed: Failed,
        *,
        signature: Signature = PLAIN,
        cases: int = 0,
        seconds: float = math.inf,
    ) -> Finish:
        """Run one race of arbitrary entries; see `Runner.run`."""
        options: dict[str, Any] = {"signature": signature, "cases": cases, "seconds": seconds}
        return self._field.run(entries, key, rungs, failed, self._progress, **options)


def _race(field: Field, it: Race, seconds: float) -> Finish:
    """Run a race; this function runs on a worker.  The caller finds failures in the result."""
    return _there(field).race(it, lambda name, kind, why: None, seconds=seconds)


def _run(
    field: Field, entries: Mapping[str, Entry], key: str, rungs: Sequence[Rung], options: Mapping[str, Any]
) -> Finish:
    return _there(field).run(entries, key, rungs, lambda name, kind, why: None, **options)


def _about(field: Field) -> tuple[str, list[str]]:
    """Return the version of hsgen and the names of all devices; this function runs on a worker."""
    return __version__, [h.label for h in _hosts(field.api, field.native)]


@cache
def _hosts(api: str, native: bool) -> list[hosts.Host]:
    """Return the devices of an API; this function runs on a worker."""
    toolchain.prepare_opencl()
    if not native:
        return hosts.hosts()
    return listed(api)


def _there(field: Field) -> Field:
    """Return `field` with the number that the device has on this worker; this function runs on a worker.

    Raises:
        Unavailable: the worker does not have the device.
    """
    host = next((h for h in _hosts(field.api, field.native) if h.label == field.device), None)
    if host is None:
        raise Unavailable(f"has no {field.device}")
    return replace(field, index=host.handle) if field.native else field


class Cluster:
    """Runs races on the workers of a Dask scheduler, one race at a time on each worker; a `Runner`."""

    def __init__(self, field: Field, address: str) -> None:
        """Connect to the scheduler at `address`, such as tcp://host:8786.

        Raises:
            Unavailable: Dask is not installed, the address does not answer, the scheduler has no workers, or a worker
                has another version of hsgen or lacks the device.
        """
        if not toolchain.has_module("distributed"):
            raise Unavailable(f"spreading races needs Dask; install it with {extras.command('dask')}")
        import distributed

        self._field = field
        try:
            self._client: Any = distributed.Client(address, timeout=SECONDS)
        except (OSError, ValueError) as e:
            raise Unavailable(f"no Dask scheduler answers at {address} ({type(e).__name__}); start one there") from None
        self._workers = sorted(self._client.scheduler_info(n_workers=-1)["workers"])
        try:
            if not self._workers:
                hint = f"start `dask worker {address}` on hosts"
                raise Unavailable(f"the Dask scheduler at {address} has no workers; {hint}")
            for worker in self._workers:
                self._look(worker)
        except Unavailable:
            self.close()
            raise

    def on(self, field: Field) -> Cluster:
        """Use `field`, which must have the same device, for all further races; return self."""
        self._field = field
        return self

    def _look(self, worker: str) -> None:
        """Check that a worker has this version of hsgen and the device.

        Raises:
            Unavailable: the worker lacks one of them, so every shape would fail there.
        """
        try:
            future = self._client.submit(_about, self._field, workers=[worker], pure=False)
            version, there = future.result(timeout=PATIENCE)
        except Exception as e:
            problem = f"cannot run hsgen ({type(e).__name__}: {' '.join(str(e).split())[:200]})"
            raise Unavailable(f"worker {worker}: {problem}; install hsgen {__version__} there") from None
        if version != __version__:
            raise Unavailable(f"worker {worker}: has hsgen {version}; install {__version__} there")
        if self._field.device not in there:
            shown = f"it has {'; '.join(there)}" if there else "it has none"
            raise Unavailable(f"worker {worker}: has no {self._field.device}, {shown}; start workers where that is")

    @property
    def at_once(self) -> int:
        """The number of workers."""
        return len(self._workers)

    def races(
        self, races: Sequence[Race], failed: Callable[[Race, str, str, str], None], seconds: float
    ) -> list[Finish]:
        """Run races at the same time, one per worker; see `Runner.races`.

        Failures are reported only after all races have ended.
        """
        futures = [
            self._client.submit(_race, self._field, it, seconds, workers=[worker], **_HOW)
            for it, worker in zip(races, self._workers, strict=False)
        ]
        out = [self._result(f) for f in futures]
        for it, finish in zip(races, out, strict=True):
            for name, (kind, why) in finish.failed.items():
                failed(it, name, kind, why)
        return out

    def _result(self, future: Any) -> Finish:
        try:
            finish: Finish = future.result()
        except Exception as e:
            raise Wrong(f"a worker of the cluster failed: {' '.join(str(e).split())[:300]}") from None
        return finish

    def run(
        self,
        entries: Mapping[str, Entry],
        key: str,
        rungs: Sequence[Rung],
        failed: Failed,
        *,
        signature: Signature = PLAIN,
        cases: int = 0,
        seconds: float = math.inf,
    ) -> Finish:
        """Run one race of arbitrary entries on the first worker; see `Runner.run`."""
        one = self._workers[:1]
        options = {"signature": signature, "cases": cases, "seconds": seconds}
        arguments = (self._field, dict(entries), key, list(rungs), options)
        finish = self._result(self._client.submit(_run, *arguments, workers=one, **_HOW))
        for name, (kind, why) in finish.failed.items():
            failed(name, kind, why)
        return finish

    def close(self) -> None:
        """Disconnect from the cluster, which keeps running."""
        self._client.close()
