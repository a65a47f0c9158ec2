"""The description of an API; `hsgen.apis` imports one such object per module."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hsgen.system import resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The C files with the kernel tables of an API.

    target: the pattern of a target's file, rendered from ``target.j2`` of the API's folder.  suffix: the suffix of the
    file that lists all targets.  earlier: the pattern of a target's file in older bundles.
    """

    target: str
    suffix: str
    earlier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """The build of an API's C runtime as a library that hsgen drives.

    sources: files in ``harness/`` of the API's folder, or in ``hsgen/engines/native``.
    command: a function that returns the compiler with its options, or raises `Unavailable`.
    link: options of the linker.
    header: a header that the build requires.  package: the Debian package of the header.
    baselines: for an operation, a file of the same folder and the names of the baselines in the file.
    runtime: the API whose runtime runs the kernels as SPIR-V, if this API has no runtime.
    spirv: a function that returns the SPIR-V of a kernel for a text and the kernel's name; used with `runtime`.
    options: options of the compiler for `runtime`.
    """

    sources: tuple[str, ...]
    command: Callable[[], list[str]]
    link: tuple[str, ...] = ()
    header: str = ""
    package: str = ""
    baselines: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    runtime: Api | None = None
    spirv: Callable[[str, str], bytes] | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The conversion of a device's properties to facts (`hsgen.tools.suggest.query`).

    origins: for each fact, the name of the API's query.
    facts: a function that returns the facts for the subgroup sizes and the report of the harness.
    cores_are_units: the vendors (PCI numbers) whose reports count SIMD units as cores.
    started: on every device, started work-groups make forward progress.
    isa: the offline compiler that names devices by compute capability, and the pattern of such names.
    """

    origins: Mapping[str, str]
    facts: Callable[[Sequence[int], Mapping[str, Any]], dict[str, Any]] = lambda widths, report: {
        "subgroups": [w for w in widths if w > 1] or [1],
        **report,
    }
    cores_are_units: tuple[int, ...] = ()
    started: bool = False
    isa: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """A word of ``--option``: its greatest value, its default, and its help text."""

    greatest: int
    default: int = 0
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """The JavaScript modules of an API, with which a bundle is an npm package (`hsgen.emit.js_files`).

    files: for each path in a bundle, a name in the API's folder.  Names in ``.j2`` are templates, rendered with the
    targets.
    folder: the folder, within a target's folder, of one module per sort and of ``index.js``.
    """

    files: Mapping[str, str]
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """An API: its files, its capabilities, and the harness of its devices.

    In file names, ``{api}`` is the API's name and ``{suffix}`` is the suffix of kernels.  The files are in
    ``templates/apis/NAME``.  An API may extend another API: `extends`.  If its folder lacks a file, it uses the
    other API's file, in which C names, the texts in `replaced` and the prefix `calls` of functions are replaced.
    """

    name: str
    title: str
    order: int
    """The position in lists; of two APIs with the same position, the extending API comes second."""
    dialect: str
    """The dialect of its kernels, a file of ``templates/dialects``; no two APIs share a dialect."""
    suffix: str
    """The suffix of kernel files.  The dialect has the same suffix, but `hsgen verify` reads no templates."""
    language: str
    """The name of the kernel language."""
    sources: tuple[str, ...]
    """The files of the runtime: operations, devices, creation of sorters, calls."""
    internal: tuple[str, ...] = ("hs_{api}_internal.h",)
    """The headers that the sources share, in the same folder."""
    headers: tuple[str, ...] = ("hs_{api}.h",)
    example: str = "sort_{api}.c"
    prefixes: tuple[str, ...] = ()
    """The prefixes of the API's C names, which no bundle can have."""
    member: str = ""
    """The text after a buffer's name in a C call's arguments that selects the buffer itself."""
    text: bool = False
    """Whether kernels are text in the C file of a target; at most one API, because `hs_sort` has one such member."""
    spirv: bool = False
    """Whether bundles contain kernels as SPIR-V."""
    tables: Tables | None = None
    package: Package | None = None
    key_pairs: bool = False
    """Whether 64-bit keys are pairs of words on devices without 64-bit integers."""
    local_bytes: int = 0
    """The API's limit of a work-group's local memory, in bytes; 0: the limit of the device."""
    launches: bool = True
    """Whether the runtime launches kernels; otherwise it returns the launches to the program."""
    cooperative: bool = False
    """Whether the work-groups of a launch can wait for each other."""
    rows: bool = False
    """Whether the kernel language loads and stores adjacent keys as a vector of any width (`row_block`)."""
    lone_lanes: bool = False
    """Whether CPU runtimes run a work-group of one lane as a plain loop."""
    python: bool = False
    """Whether pyopencl drives the devices."""
    cpu_platform: str = ""
    """The first words of the platform name of the embedded CPU runtime; "" if that runtime is of another API."""
    prepare: Callable[[], None] = lambda: None
    """A function to call before a C library of the API is loaded."""
    alignment: int = 0
    """The alignment in bytes of parts of buffers in the C runtime; 0: the size of a key."""
    harness: Harness | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    probe: Probe | None = None
    """The conversion of properties to facts; None if the API's devices report no properties."""
    torch: str = ""
    """The name of the API's devices in PyTorch; "" if PyTorch has no such devices."""
    extends: Api | None = None
    replaced: tuple[tuple[str, str], ...] = ()
    """Texts of the other API's C files, such as names of headers, each with its replacement."""
    calls: str = ""
    """The prefix of the API's functions and types with names in mixed case, such as ``cuda`` of ``cudaMalloc``."""

    def extended(self, name: str, title: str, *, dialect: str, **changes: Any) -> Api:
        """Return an API that extends this API, with another name, title and dialect, and with `changes`."""
        suffix = changes.get("suffix") or (self.tables.suffix if self.tables else "")
        tables = self.tables and replace(self.tables, target=f"{{target}}_{name}.{suffix}", suffix=suffix, earlier="")
        same: dict[str, Any] = {"tables": tables, "replaced": (), "prefixes": (*self.prefixes, name)}
        return replace(self, name=name, title=title, dialect=dialect, extends=self, **(same | changes))

    def named(self, pattern: str, **more: str) -> str:
        """Return the file name for a pattern, with `more` words to replace."""
        return pattern.format(**{"api": self.name, "suffix": self.suffix} | more)

    def file(self, pattern: str) -> Path:
        """Return the path of a file in the API's folder, or in the folder of the API that it extends.

        If both folders lack the file, return the path in the last folder.
        """
        path = resources.templates() / "apis" / self.name / self.named(pattern)
        return path if path.exists() or self.extends is None else self.extends.file(pattern)

    def folders(self, name: str) -> list[Path]:
        """Return the existing folders of a name in the folders of the extended APIs and of this API, in this order."""
        path = resources.templates() / "apis" / self.name / name
        return [*(self.extends.folders(name) if self.extends else []), *([path] if path.is_dir() else [])]

    def template(self, name: str) -> str:
        """Return the name of a Jinja template in the API's folder."""
        return self.file(name).relative_to(resources.templates()).as_posix()

    def renamed(self, text: str, path: Path) -> str:
        """Return the text of a C file at `path`; if the file is an extended API's, with the names of this API."""
        if self.extends is None or path.is_relative_to(resources.templates() / "apis" / self.name):
            return text
        text, old = self.extends.renamed(text, path), self.extends.name
        lower, upper = r"(?:hs|sort)(?:_targets)?_|HN_NAMES\(\"", r"HS(?:_TARGETS)?_"  # the harness puts names together
        for head, word, new in ((lower, old, self.name), (upper, old.upper(), self.name.upper())):
            text = re.sub(rf"(?<![A-Za-z0-9])({head}){word}(?![A-Za-z0-9])", rf"\g<1>{new}", text)
        for before, after in self.replaced:
            text = text.replace(before, after)
        if self.calls != self.extends.calls:
            text = re.sub(rf"(?<![A-Za-z0-9_]){self.extends.calls}(?=[A-Z])", self.calls, text)
        return text

    @property
    def all_headers(self) -> tuple[str, ...]:
        """The names of the API's headers, including the header that lists its tables."""
        tables = (f"hs_targets_{self.name}.h",) if self.tables else ()
        return (*map(self.named, self.headers), *tables)

    @property
    def driven(self) -> bool:
        """Whether hsgen drives devices of the API."""
        return self.python or self.harness is not None
