"""Where sorts run: the options of commands that need a device, and the device, target and library they come to."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from hsgen import target as target_files
from hsgen import toolchain, worker
from hsgen.backends import hosts, opencl, trial
from hsgen.backends import native as backend
from hsgen.errors import Unavailable, Usage
from hsgen.manifest import MANIFEST
from hsgen.render import render
from hsgen.spec import APIS, Sort
from hsgen.store import read_manifest

target_option = click.option("-t", "--target", "name", help="A target; the one that matches the device if not given.")
api_option = click.option("--api", type=click.Choice(list(APIS)), default="opencl", show_default=True, help="The API.")
runtime_option = click.option(
    "--runtime",
    type=click.Choice(["python", "c"]),
    help="c: through the bundle's own C runtime, as vulkan and cuda always are.",
)
option_option = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="WORD=N",
    help="For the C runtime: validation=1 (2: GPU-assisted), binding_limit=BYTES, size_control=0 (Vulkan), graph=1 "
    "(CUDA), out_of_order=1 (OpenCL).",
)
bundle_option = click.option(
    "--bundle",
    type=click.Path(path_type=Path),
    help="Take SPIR-V from this bundle where its GLSL is the same: for machines without a GLSL compiler.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """How a device is to be driven, as the command line says."""

    api: str
    runtime: str | None
    options: tuple[str, ...]
    bundle: Path | None

    @property
    def native(self) -> bool:
        """Whether through the C runtime."""
        return self.api != "opencl" or self.runtime == "c"

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.api != "opencl" and self.runtime == "python":
            raise Usage(f"runtime python: drives opencl only; leave --runtime away for {self.api}")
        if self.options and not self.native:
            raise Usage(f"option {self.options[0]}: is for the C runtime; add --runtime c")

    def library(self, found: target_files.Target, key: str, peers: Sequence[str] = ()) -> Path:
        """Build the C runtime with a target's sort of one key type."""
        made = None
        if self.bundle is not None:
            if (manifest := read_manifest(self.bundle)) is None:
                raise Usage(f"{self.bundle}: no bundle there; name a folder with a {MANIFEST}")
            made = (self.bundle, manifest)
        return backend.library(self.api, [found], key, peers, made)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where sorts are to run: the API and how it is driven, the device, and the target with its sorts."""

    api: str
    target: str
    host: hosts.Host
    sorts: list[Sort]
    library: dict[str, Path]  # by key type; empty where pyopencl drives the device
    options: str

    def request(self, sort: Sort, task: str, **more: Any) -> dict[str, Any]:
        """A request to the worker."""
        return {
            "task": task,
            "api": self.api,
            "library": str(self.library[sort.key.name]),
            "target": self.target,
            "algorithm": sort.algorithm,
            "key": sort.key.name,
            "index": self.host.handle,
            "options": self.options,
            **more,
        }


def find(
    name: str | None,
    device: str | None,
    keys: tuple[str, ...],
    drive: Drive,
    peers: Sequence[str] = (),
) -> Place:
    """The device to use and the sorts of the target on it."""
    drive.check()
    api, native = drive.api, drive.native
    found = target_files.find(name) if name else None
    if found and api not in found.apis:
        raise Usage(f"target {found.name}: has no kernels for {api}; it has {', '.join(found.apis)}")
    shown = _shown(drive, found or target_files.find("generic"), keys) if native else None
    if found is None:
        host = hosts.pick(device, (), shown)
        found = hosts.target_for(host, [target_files.find(n) for n in target_files.names()])
        name = found.name
    sorts = [found.sort(a, k) for a, k in found.choices if not keys or k in keys]
    if not sorts:
        raise Usage(f"target {found.name}: no sort for {', '.join(keys)} keys")
    libraries = {s.key.name: drive.library(found, s.key.name, peers) for s in sorts} if native else {}
    chosen = hosts.pick(device, sorts, shown)
    return Place(
        api=api, target=str(name), host=chosen, sorts=sorts, library=libraries, options=" ".join(drive.options)
    )


def _shown(drive: Drive, found: target_files.Target, keys: tuple[str, ...]) -> list[hosts.Host]:
    key = next(k for _, k in found.choices if not keys or k in keys)
    if drive.api == "opencl":
        toolchain.prepare_opencl()
    shown = worker.hosts(drive.api, drive.library(found, key))
    if not shown:
        raise Unavailable(f"no device of {drive.api}; `hsgen doctor` says what was found")
    return shown


def direct(host: hosts.Host, sort: Sort) -> opencl.Direct:
    """Compile a sort for pyopencl, first in a process that may crash."""
    source = render(sort, "opencl")
    trial.check(host, sort, source)
    context = opencl.context_for(host)
    return opencl.Direct(context, opencl.Compiled(context, sort, source))


def follow(request: dict[str, Any], label: str, length: int) -> Any:
    """Run a task in a worker, show how far it is, and return its result."""
    with click.progressbar(length=length, label=label, file=sys.stderr, show_pos=True) as bar:
        for event in worker.call(request, label):
            if "done" in event:
                bar.update(event["done"] - bar.pos)
            if "result" in event:
                bar.update(length - bar.pos)
                return event["result"]
    raise AssertionError("a worker ends with a result or an error")
