"""The command-line options that choose a device, an API, a runtime, a target and sorts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import click

from hsgen.apis import APIS, having
from hsgen.apis.api import Api
from hsgen.bundle.choosing import COMPANIONS
from hsgen.bundle.selection import requested
from hsgen.bundle.store import read_manifest
from hsgen.cli.device import device_option
from hsgen.cli.options import Folder, gathered
from hsgen.cli.sort_options import Wanted, wanted_options
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.sort import Sort
from hsgen.engines import native as backend
from hsgen.engines import shims
from hsgen.targets import target as target_files

T = TypeVar("T")

target_option = click.option("-t", "--target", "name", help="A target; by default the one that matches the device.")
api_option = click.option(
    "--api",
    metavar="API",
    type=click.Choice(list(APIS)),
    help=f"The API: {' '.join(APIS)}; by default opencl, or the first of a target without it.",
)
_ALWAYS_C = [api.name for api in having(lambda api: api.harness and not api.python)]
_OPTIONS = [f"{o.help} ({api.title})" for api in APIS.values() for o in api.options.values() if o.help]
runtime_option = click.option(
    "--runtime",
    type=click.Choice(["python", "c"]),
    help=f"c: drive the device through the bundle's own C runtime; for {', '.join(_ALWAYS_C)} by default.",
)
option_option = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="WORD=N",
    help=f"For the C runtime: {', '.join(_OPTIONS)}, poison=1 (set all bits of scratch before each sort).",
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
    """The device, API, runtime, target and sorts that a command line names."""

    device: str | None = None
    target: str | None = None
    named_api: str | None = None
    runtime: str | None = None
    options: tuple[str, ...] = ()
    folder: Path | None = None
    algorithm: str | None = None
    selection: Wanted = field(default_factory=Wanted)
    large: bool = False  # whether libraries also contain digests, which check sorts of large counts on the device
    shim: bool = False  # whether kernels may run in another language than that of their API

    @cached_property
    def named_target(self) -> target_files.Target | None:
        """The target (a description of GPU models with tuned sorts) that the command line names, or None."""
        return target_files.find(self.target) if self.target else None

    @property
    def api(self) -> str:
        """The API that the command line names.

        The default is OpenCL.  If the target does not support OpenCL, the default is the target's first API.
        """
        names = self.named_target.apis if self.named_target else tuple(APIS)
        return self.named_api or next((name for name in names if APIS[name].python), names[0])

    @property
    def _api(self) -> Api:
        return APIS[self.api]

    @property
    def native(self) -> bool:
        """Whether the C runtime drives the device."""
        return self._api.harness is not None and not self.shimmed and (not self._api.python or self.runtime == "c")

    @property
    def shimmed(self) -> bool:
        """Whether kernels run on an OpenCL device, in another language than that of their API.

        This is the case if hsgen drives no device of the API, or if the command line asks for the Python runtime.
        """
        return self.api in shims.SHIMS and (not self._api.driven or self.runtime == "python")

    def check(self) -> None:
        """Check that options do not exclude each other.

        Raises:
            Usage: two options exclude each other.
            Unavailable: hsgen drives no devices of the API.
        """
        target = self.named_target
        if target and self.api not in target.apis:
            raise Usage(f"target {target.name}: has no kernels for {self.api}; it has {', '.join(target.apis)}")
        if self.shimmed:
            self._check_shim()
        elif not self._api.driven:
            raise Unavailable(f"{self.api}: hsgen drives no {self._api.title} devices; name another with --api")
        elif not self._api.python and self.runtime == "python":
            able = ", ".join(api.name for api in APIS.values() if api.python)
            raise Usage(f"runtime python: drives {able} only; omit --runtime for {self.api}")
        for word in self.options:
            self._check_option(word)
        if len({word.partition("=")[0] for word in self.options}) < len(self.options):
            raise Usage(f"options {' '.join(self.options)}: one of them is given twice; give each once")

    def _check_option(self, word: str) -> None:
        if not self.native:
            raise Usage(f"option {word}: is for the C runtime; add --runtime c")
        name, _, value = word.partition("=")
        option = self._api.options.get(name)
        if option is None or not value.isdecimal() or int(value) > option.greatest:
            known = ", ".join(f"{w}=0 to {o.greatest}" for w, o in self._api.options.items())
            raise Usage(f"option {word}: unknown for {self.api}; it has {known}")

    def _check_shim(self) -> None:
        driven = self._api.driven
        undriven = f"hsgen drives no {self._api.title} devices" + (" from Python" if driven else "")
        if not self.shim:
            more = " --runtime python" if driven else ""
            instead = f"`hsgen validate --api {self.api}{more}` runs kernels as {shims.LANGUAGE}"
            raise Unavailable(f"{self.api}: {undriven}; {instead}")
        if self.named_target is None:
            raise Usage(f"{self.api}: {undriven}, so none can be matched; name a target with --target")
        if (self.runtime and not driven) or self.options or self.folder:
            names = "--option or --bundle" if driven else "--runtime, --option or --bundle"
            raise Usage(f"{self.api}: takes no {names} where kernels run as {shims.LANGUAGE}; omit them")

    @property
    def words(self) -> str:
        """The options for the C runtime's harness that differ from its defaults, separated by spaces."""
        parts = ((word, *word.partition("=")[::2]) for word in self.options)
        return " ".join(word for word, name, value in parts if int(value) != self._api.options[name].default)

    def sorts(self, target: target_files.Target) -> list[Sort]:
        """Return the sorts that the command line selects, for each chosen key width and kind of values.

        The algorithm is "auto" unless the command line names another one.

        Raises:
            Usage: the target lacks a named algorithm, key, value or feature.
        """
        choice = self.selection.choice(target, (self.api,), (self.algorithm,) if self.algorithm else ())
        return requested(target, choice, self.selection.keys)

    def library(self, target: target_files.Target, sort: Sort, baselines: Sequence[str] = ()) -> Path:
        """Build a library of the C runtime with one sort of a target; return its path."""
        bundle = (self.folder, read_manifest(self.folder)) if self.folder is not None else None
        names, signature = [sort.algorithm, *(COMPANIONS if self.large else [])], sort.signature
        key = (sort.label, baselines, bundle)
        return backend.library(self.api, [target], *key, algorithms=names, signature=signature, max_n=sort.limit)


def _drive(
    *,
    device: str | None,
    name: str | None,
    api: str | None,
    runtime: str | None,
    options: tuple[str, ...],
    bundle: Path | None,
    algorithm: str | None,
    selection: Wanted,
) -> Drive:
    return Drive(
        device=device,
        target=name,
        named_api=api,
        runtime=runtime,
        options=options,
        folder=bundle,
        algorithm=algorithm,
        selection=selection,
    )


def drive_options(command: Callable[..., T]) -> Callable[..., T]:
    """Add the options of `Drive` to a command, which receives it as `drive`."""
    more = (api_option, runtime_option, option_option, bundle_option, algorithm_option)
    driven = wanted_options(gathered("drive", _drive, *more)(command))
    return target_option(device_option(driven))
