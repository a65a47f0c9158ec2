"""Description of an API; `hsgen.apis` finds the objects, one per module."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hsgen.system import resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The C files of an API with its own kernel tables: `target` is the file of a target, from ``target.j2`` of the
    folder; `suffix` is that of the list of all targets; `earlier` is a name of the former in older bundles."""

    target: str
    suffix: str
    earlier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """How the C runtime becomes a library that hsgen drives.

    `sources` are in ``harness/`` of the API's folder, or in ``hsgen/engines/native``.  `command` returns the compiler
    with its options, or raises `Unavailable`; `header` is required, and is in `package` of Debian.  `baselines` maps an
    operation to a file of the same folder and the names of the baselines in it.

    An API without a runtime of its own has that of another one, `runtime`, which runs kernels as SPIR-V: `spirv`
    returns that of a text and the name of a kernel.  `replaced` are texts of the runtime with
    what stands for them then.
    """

    sources: tuple[str, ...]
    command: Callable[[], list[str]]
    link: tuple[str, ...] = ()
    header: str = ""
    package: str = ""
    baselines: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    runtime: Api | None = None
    spirv: Callable[[str, str], bytes] | None = None
    replaced: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """How the properties of a device become facts (`hsgen.tools.suggest.query`).

    `origins` maps a fact to the name of its query.  `facts` turns the report of the harness and the subgroup sizes into
    members of a query.  Vendors in `cores_are_units` count SIMD units as cores.  `started`: work-groups that have
    started make forward progress, on every device.  `isa` is the offline compiler that names devices by their compute
    capability, with the pattern of such a name.
    """

    origins: Mapping[str, str]
    facts: Callable[[Sequence[int], Mapping[str, Any]], dict[str, Any]] = lambda widths, said: {
        "subgroups": [w for w in widths if w > 1] or [1],
        **said,
    }
    cores_are_units: tuple[int, ...] = ()
    started: bool = False
    isa: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """A word of ``--option``: its greatest value, its default, and its text in help."""

    greatest: int
    default: int = 0
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """The modules of an API for JavaScript, which make a bundle a package of npm (`hsgen.emit.js_files`).

    `files`: paths in a bundle, and names in the API's folder; those that end in ``.j2`` are rendered with the targets.
    `folder`: that of a target's modules, one a sort and ``index.js``, within the target's own.
    """

    files: Mapping[str, str]
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """An API: its files, its capabilities, and how its devices are driven.

    In names of files, ``{api}`` is the name and ``{suffix}`` that of kernels.  Files lie in ``templates/apis/NAME``; an
    API that `extends` another uses the other's files where its folder lacks one, with its own name in C names, with
    `replaced`, and with `calls` in the names of functions.
    """

    name: str
    title: str
    order: int
    """The place in lists; an API that extends another follows it."""
    dialect: str
    """The file of ``templates/dialects`` that its kernels are written in; no two APIs share one."""
    suffix: str
    """What files of kernels end in; the dialect says the same, but `hsgen verify` reads no templates."""
    language: str
    """What people call the kernel language."""
    sources: tuple[str, ...]
    """The runtime, by duty: operations, devices, making sorters, calls."""
    internal: tuple[str, ...] = ("hs_{api}_internal.h",)
    """Headers that the sources share; they lie in the same folder."""
    headers: tuple[str, ...] = ("hs_{api}.h",)
    example: str = "sort_{api}.c"
    prefixes: tuple[str, ...] = ()
    """Prefixes of C names that belong to it, which no bundle can have."""
    member: str = ""
    """What follows a buffer's name in the arguments of a C call to give the buffer itself."""
    text: bool = False
    """Whether kernels are text in the C file of a target (one API at most: `hs_sort` has one member for it)."""
    spirv: bool = False
    """Whether kernels come as SPIR-V."""
    tables: Tables | None = None
    package: Package | None = None
    key_pairs: bool = False
    """Whether 64-bit keys are pairs of words where a device lacks 64-bit integers."""
    local_bytes: int = 0
    """The local memory of a work-group that no program can exceed; 0: as the device has."""
    launches: bool = True
    """Whether its runtime launches kernels; otherwise it gives the launches to the program."""
    cooperative: bool = False
    """Whether the work-groups of a launch can wait for each other."""
    lone_lanes: bool = False
    """Whether CPU runtimes run a work-group of one lane as a plain loop."""
    python: bool = False
    """Whether pyopencl drives its devices."""
    cpu_platform: str = ""
    """How the platform's name of the CPU runtime that hsgen embeds begins; "" if that is of another API."""
    prepare: Callable[[], None] = lambda: None
    """What must be done before a C library of the API is loaded."""
    alignment: int = 0
    """The bytes to which parts of buffers are aligned in the C runtime; 0: to a key."""
    harness: Harness | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    probe: Probe | None = None
    """None: its devices cannot be asked for facts."""
    torch: str = ""
    """What PyTorch calls its devices."""
    extends: Api | None = None
    replaced: tuple[tuple[str, str], ...] = ()
    """Texts of the other API's C files with what stands for them in this one's, such as names of headers."""
    calls: str = ""
    """How the names of the API's own functions and types begin, in mixed case; those of an extending API may differ."""

    def extended(self, name: str, title: str, *, dialect: str, **changes: Any) -> Api:
        """Return an API like this one, except its names and `changes`."""
        suffix = changes.get("suffix") or (self.tables.suffix if self.tables else "")
        tables = self.tables and replace(self.tables, target=f"{{target}}_{name}.{suffix}", suffix=suffix, earlier="")
        same: dict[str, Any] = {"tables": tables, "replaced": (), "prefixes": (*self.prefixes, name)}
        return replace(self, name=name, title=title, dialect=dialect, extends=self, **(same | changes))

    def named(self, pattern: str, **more: str) -> str:
        """Return a name of a file for its pattern."""
        return pattern.format(**{"api": self.name, "suffix": self.suffix} | more)

    def file(self, pattern: str) -> Path:
        """Return the file of the API's folder, or of that which it extends; its own path where neither has it."""
        path = resources.templates() / "apis" / self.name / self.named(pattern)
        return path if path.exists() or self.extends is None else self.extends.file(pattern)

    def folders(self, name: str) -> list[Path]:
        """Return the folders of a name within the API's own and those of APIs that it extends, the own one last."""
        path = resources.templates() / "apis" / self.name / name
        return [*(self.extends.folders(name) if self.extends else []), *([path] if path.is_dir() else [])]

    def template(self, name: str) -> str:
        """Return the name of a Jinja template of the folder."""
        return self.file(name).relative_to(resources.templates()).as_posix()

    def renamed(self, text: str, path: Path) -> str:
        """Return the text of a C file in this API's names, if it is that of an API that it extends."""
        if self.extends is None or path.is_relative_to(resources.templates() / "apis" / self.name):
            return text
        text, old = self.extends.renamed(text, path), self.extends.name
        lower, upper = r"(?:hs|sort)(?:_targets)?_|HN_NAMES\(\"", r"HS(?:_TARGETS)?_"  # the harness puts names together
        for head, word, own in ((lower, old, self.name), (upper, old.upper(), self.name.upper())):
            text = re.sub(rf"(?<![A-Za-z0-9])({head}){word}(?![A-Za-z0-9])", rf"\g<1>{own}", text)
        for before, after in self.replaced:
            text = text.replace(before, after)
        if self.calls != self.extends.calls:
            text = re.sub(rf"(?<![A-Za-z0-9_]){self.extends.calls}(?=[A-Z])", self.calls, text)
        return text

    @property
    def all_headers(self) -> tuple[str, ...]:
        """The names of its headers, with that of the list of its tables."""
        tables = (f"hs_targets_{self.name}.h",) if self.tables else ()
        return (*map(self.named, self.headers), *tables)

    @property
    def driven(self) -> bool:
        """Whether hsgen drives its devices."""
        return self.python or self.harness is not None
