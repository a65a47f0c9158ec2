"""Where sorts run: the options of commands that need a device, and the device, target and library they come to."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from hsgen.apis import APIS, having
from hsgen.apis.api import Api
from hsgen.bundle import build
from hsgen.bundle.manifest import COMPANIONS
from hsgen.bundle.store import read_manifest
from hsgen.cli.common import Folder, Wanted
from hsgen.cli.device import choose
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines import hosts, isolated_build, pyopencl
from hsgen.engines import metal_shim as shim
from hsgen.engines import native as backend
from hsgen.system import resources
from hsgen.targets import target as target_files
from hsgen.tools import worker

target_option = click.option("-t", "--target", "name", help="A target; the one that matches the device if not given.")
api_option = click.option(
    "--api", type=click.Choice(list(APIS)), help="The API; opencl, or the first of a target without it."
)
_ALWAYS_C = [api.name for api in having(lambda api: api.harness and not api.python)]
_OPTIONS = [f"{o.help} ({api.title})" for api in APIS.values() for o in api.options.values() if o.help]
runtime_option = click.option(
    "--runtime",
    type=click.Choice(["python", "c"]),
    help=f"c: through the bundle's own C runtime, as {' and '.join(_ALWAYS_C)} always are.",
)
option_option = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="WORD=N",
    help=f"For the C runtime: {', '.join(_OPTIONS)}, poison=1 (scratch full of ones before each sort).",
)
algorithm_option = click.option(
    "--algorithm",
    metavar="NAME",
    help="This algorithm or variant, as `hsgen targets` lists it; by default the sort for any count.",
)
bundle_option = click.option(
    "--bundle",
    type=Folder(),
    help="Take SPIR-V from this bundle where its GLSL is the same: for machines without a GLSL compiler.",
)


@dataclass(frozen=True, kw_only=True)
class Drive:
    """How a device is to be driven, as the command line says."""

    target: str | None
    asked: str | None
    runtime: str | None
    options: tuple[str, ...]
    folder: Path | None
    algorithm: str | None
    wanted: Wanted
    large: bool = False  # whether digests are needed beside each sort
    shim: bool = False  # whether Metal's kernels may run in another language

    @cached_property
    def found(self) -> target_files.Target | None:
        """The target that was named."""
        return target_files.find(self.target) if self.target else None

    @property
    def api(self) -> str:
        """The API that was asked for, or else OpenCL where the target has it."""
        names = self.found.apis if self.found else tuple(APIS)
        return self.asked or next((name for name in names if APIS[name].python), names[0])

    @property
    def _api(self) -> Api:
        return APIS[self.api]

    @property
    def native(self) -> bool:
        """Whether through the C runtime."""
        return self._api.harness is not None and (not self._api.python or self.runtime == "c")

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.found and self.api not in self.found.apis:
            raise Usage(f"target {self.found.name}: has no kernels for {self.api}; it has {', '.join(self.found.apis)}")
        if not self._api.driven:
            self._check_undriven()
        if not self._api.python and self.runtime == "python":
            able = ", ".join(api.name for api in APIS.values() if api.python)
            raise Usage(f"runtime python: drives {able} only; leave --runtime away for {self.api}")
        for word in self.options:
            if not self.native:
                raise Usage(f"option {word}: is for the C runtime; add --runtime c")
            name, _, value = word.partition("=")
            option = self._api.options.get(name)
            if option is None or not value.isdecimal() or int(value) > option.greatest:
                known = ", ".join(f"{w}=0 to {o.greatest}" for w, o in self._api.options.items())
                raise Usage(f"option {word}: unknown for {self.api}; it knows {known}")
        if len({word.partition("=")[0] for word in self.options}) < len(self.options):
            raise Usage(f"options {' '.join(self.options)}: one of them is given twice; give each once")

    def _check_undriven(self) -> None:
        if self._api is not shim.API:
            raise Unavailable(f"{self.api}: hsgen drives no {self._api.title} devices; name another with --api")
        if not self.shim:
            how = f"`hsgen validate --api {self.api}` runs kernels as {shim.LANGUAGE}"
            raise Unavailable(f"{self.api}: {shim.UNDRIVEN}; {how}")
        if self.found is None:
            raise Usage(f"{self.api}: {shim.UNDRIVEN}, so none can be matched; name a target with --target")
        if self.runtime or self.options or self.folder:
            raise Usage(f"{self.api}: takes no --runtime, --option or --bundle; leave them away")

    @property
    def words(self) -> str:
        """The options as the harness takes them: those that differ from its own values."""
        given = ((word, *word.partition("=")[::2]) for word in self.options)
        return " ".join(word for word, name, value in given if int(value) != self._api.options[name].default)

    def sorts(self, found: target_files.Target) -> list[Sort]:
        """The sorts of a target that were asked for: the one for any count, or the one named, of each width and value.

        Raises:
            Usage: the target has none of something that was named.
        """
        choice = self.wanted.choice(found, (self.api,), (self.algorithm,) if self.algorithm else ())
        return build.sorts(found, choice, self.wanted.keys)

    def library(self, found: target_files.Target, sort: Sort, peers: Sequence[str] = ()) -> Path:
        """Build the C runtime with one sort of a target."""
        made = (self.folder, read_manifest(self.folder)) if self.folder is not None else None
        names, signature = [sort.algorithm, *(COMPANIONS if self.large else [])], sort.signature
        return backend.library(self.api, [found], sort.label, peers, made, algorithms=names, signature=signature)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where sorts are to run: the API and how it is driven, the device, and the target with its sorts."""

    api: str
    target: str
    host: hosts.Host
    sorts: list[Sort]
    library: dict[str, Path]  # by the sort's file; empty where pyopencl drives the device
    options: str

    @property
    def language(self) -> str:
        """What stands behind a device's name where kernels run in another language than that of their API."""
        return f", as {shim.LANGUAGE}" if APIS[self.api] is shim.API else ""

    def request(self, sort: Sort, task: str, **more: Any) -> dict[str, Any]:
        """A request to the worker."""
        return {
            "task": task,
            "api": self.api,
            "library": str(self.library[sort.file]),
            "target": self.target,
            "algorithm": sort.algorithm,
            "key": sort.label,
            "signature": asdict(sort.signature),
            "index": self.host.handle,
            "options": self.options,
            **more,
        }


def find(device: str | None, drive: Drive, peers: Sequence[str] = ()) -> Place:
    """The device to use and the sorts of the target on it."""
    drive.check()
    api, native, found = drive.api, drive.native, drive.found
    shown = devices(drive, peers) if native else shim.takers() if APIS[api] is shim.API else None
    if found is None:
        shown = [choose(device, shown)]
        found = hosts.target_for(shown[0], [target_files.find(n) for n in target_files.names()])
        device = None
    sorts = drive.sorts(found)
    libraries = {s.file: drive.library(found, s, peers) for s in sorts} if native else {}
    chosen = choose(device, shown, found, sorts)
    name = drive.target or found.name
    return Place(api=api, target=name, host=chosen, sorts=sorts, library=libraries, options=drive.words)


def target_file(name: str, *, write: bool) -> Path:
    """Return the file of a target.

    Raises:
        Usage: it is to be written, and belongs to an installation.
    """
    if name.endswith(".toml"):
        return Path(name)
    file = resources.targets() / f"{name}.toml"
    if write and not (resources.targets().parent / "pyproject.toml").is_file():
        raise Usage(f"target {name}: is part of the installed hsgen; copy {file}, name it anew, and take the copy")
    return file


def replace(file: Path, text: str, after: str) -> None:
    """Write a file at once, or not at all; `after` ends the line that says that it cannot be.

    Raises:
        Usage: it cannot be written.
    """
    part = file.with_name(f".{file.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    except OSError as e:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise Usage(f"{file}: cannot be written ({e.strerror}); {after}") from None


def devices(drive: Drive, peers: Sequence[str] = ()) -> list[hosts.Host]:
    """Return the devices that the C runtime shows, those left out that cannot be believed.

    It is built with the peers that are wanted later, so that it need not be built again.
    """
    APIS[drive.api].prepare()
    found = drive.found or target_files.find("generic")
    sort = drive.sorts(found)[0] if drive.found else found.default("u32")
    shown = worker.hosts(drive.api, drive.library(found, sort, peers if drive.found else ()))
    sound = [h for h in shown if not hosts.unsound(h)]
    if shown and not sound:
        raise Unavailable(f"{shown[0].label}: {hosts.unsound(shown[0])}")
    if not shown:
        raise Unavailable(f"no device of {drive.api}; `hsgen doctor` says what was found")
    return sound


def direct(
    host: hosts.Host, sort: Sort, api: str = pyopencl.API.name, beside: Sequence[Sort] = (), *, strict: bool = False
) -> pyopencl.Direct:
    """Compile a sort for pyopencl, first in a process that may crash; so too those that it is asked for `beside`.

    `strict`: with optimization or not at all.
    """
    source = shim.source(sort) if APIS[api] is shim.API else render(sort, api)
    for other in {s.file: s for s in beside}.values():
        isolated_build.check(host.label, other, render(other, pyopencl.API.name))
    if strict:
        isolated_build.check(host.label, sort, source)
    else:
        source = isolated_build.accepted(host.label, sort, source)
    context = pyopencl.context_for(host)
    return pyopencl.Direct(context, pyopencl.Compiled(context, sort, source))


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
