"""The class `Api`, which describes an API; each module of `hsgen.apis` has one such object."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hsgen.system import resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The C files that contain the kernels of an API and their tables.

    target: the file name of a target's tables, a pattern; the template ``target.j2`` in the API's folder renders the
    file.  suffix: the suffix of the file that lists all targets.  earlier: the pattern of `target` in older bundles.
    """

    target: str
    suffix: str
    earlier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """How hsgen builds an API's C runtime as a shared library, and drives its devices with the library.

    sources: files in ``harness/`` of the API's folder, or in ``hsgen/engines/native``.
    command: a function that returns the compiler with its options, or raises `Unavailable`.
    link: the linker options.
    header: a header that the build requires.  package: the Debian package that contains the header.
    baselines: for each operation, a file in the same folder, and the names of the baselines that the file implements.
    runtime: another API, whose runtime runs the kernels as SPIR-V; None if this API has its own runtime.
    spirv: with `runtime`, a function that takes a kernel text and a kernel name, and returns SPIR-V.
    options: with `runtime`, the further compiler options for its build.
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
    """How hsgen converts the properties that a device reports to the facts of a target (`hsgen.tools.suggest.query`).

    origins: for each fact, the query of the API that gives it.
    facts: a function that takes the subgroup sizes and the harness's report of a device, and returns its facts.
    cores_are_units: the PCI numbers of the vendors whose devices count SIMD units as cores.
    started: whether started work-groups make forward progress on every device of the API.
    isa: an offline compiler that names devices by compute capability, and the pattern of these names; or None.
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
    """An option of an API for ``--option NAME=VALUE``: its greatest value, its default, and its help text."""

    greatest: int
    default: int = 0
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """The JavaScript modules of an API, which make a bundle an npm package (`hsgen.emit.js_files`).

    files: for each path in a bundle, the name of the source in the API's folder.  A source with the suffix ``.j2`` is a
    template that is rendered with the targets.
    folder: the folder within a target's folder that has one module per sort and ``index.js``.
    """

    files: Mapping[str, str]
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """An API: its files, its capabilities, and the harness through which hsgen drives its devices.

    The files are in the folder ``templates/apis/NAME``.  In file names, ``{api}`` is the API's name and ``{suffix}`` is
    the suffix of its kernel files.  An API may extend another API, `extends`.  If its folder lacks a file, hsgen takes
    the file of the extended API.  In that file, it replaces C names, the texts in `replaced`, and the prefix `calls`.
    """

    name: str
    title: str
    order: int
    """The position in lists.  Of two APIs with the same position, the API that extends the other comes second."""
    dialect: str
    """The dialect of its kernels, a folder of ``templates/dialects``.  No two APIs share a dialect."""
    suffix: str
    """The suffix of kernel files.  The dialect's template repeats it, but `hsgen verify` reads no templates."""
    language: str
    """The name of the kernel language."""
    sources: tuple[str, ...]
    """The C source files of the runtime."""
    internal: tuple[str, ...] = ("hs_{api}_internal.h",)
    """The private headers of the sources, in the folder of the sources."""
    headers: tuple[str, ...] = ("hs_{api}.h",)
    example: str = "sort_{api}.c"
    prefixes: tuple[str, ...] = ()
    """The prefixes of C names that belong to the API, so no bundle can have them as its prefix."""
    member: str = ""
    """The C text, such as ".buffer", that selects the API's buffer object in a buffer argument of a call; or ""."""
    text: bool = False
    """Whether the C file of a target contains the kernel text.

    At most one API can have its text there, because the C struct `hs_sort` has one such member.
    """
    spirv: bool = False
    """Whether bundles contain the API's kernels as SPIR-V."""
    tables: Tables | None = None
    package: Package | None = None
    key_pairs: bool = False
    """Whether kernels hold 64-bit keys as two 32-bit words on devices without 64-bit integers."""
    local_bytes: int = 0
    """The API's limit of local memory per work-group, in bytes; 0 if only the device has a limit."""
    launches: bool = True
    """Whether the runtime launches kernels.  If not, it returns the launches, and the program launches kernels."""
    cooperative: bool = False
    """Whether the API has launches whose work-groups can wait for each other."""
    rows: bool = False
    """Whether the kernel language loads and stores adjacent keys as a vector of any width (`row_block`)."""
    lone_lanes: bool = False
    """Whether the API's CPU runtimes run a work-group of one lane as a plain loop."""
    python: bool = False
    """Whether hsgen can drive the API's devices through pyopencl."""
    cpu_platform: str = ""
    """How the platform name of the embedded CPU runtime starts; "" if that runtime does not serve this API."""
    prepare: Callable[[], None] = lambda: None
    """A function that hsgen calls before it loads a C library of the API."""
    alignment: int = 0
    """The alignment in bytes of a part of a buffer that the C runtime binds; 0 means the size of a key."""
    harness: Harness | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    probe: Probe | None = None
    """How device properties become facts; None if the API's devices report no properties."""
    torch: str = ""
    """The PyTorch name of the API's devices; "" if PyTorch has no such devices."""
    extends: Api | None = None
    replaced: tuple[tuple[str, str], ...] = ()
    """Pairs (text, replacement) for C files of the extended API; a text is the name of a header, for example."""
    calls: str = ""
    """The prefix of the API's mixed-case C names, such as ``cuda`` in ``cudaMalloc``."""

    def extended(self, name: str, title: str, *, dialect: str, **changes: Any) -> Api:
        """Return an API that extends this API; `changes` has further attributes that differ."""
        suffix = changes.get("suffix") or (self.tables.suffix if self.tables else "")
        tables = self.tables and replace(self.tables, target=f"{{target}}_{name}.{suffix}", suffix=suffix, earlier="")
        same: dict[str, Any] = {"tables": tables, "replaced": (), "prefixes": (*self.prefixes, name)}
        return replace(self, name=name, title=title, dialect=dialect, extends=self, **(same | changes))

    def named(self, pattern: str, **more: str) -> str:
        """Return the file name that a pattern gives; `more` has placeholders beyond ``{api}`` and ``{suffix}``."""
        return pattern.format(**{"api": self.name, "suffix": self.suffix} | more)

    def file(self, pattern: str) -> Path:
        """Return the path of a file in the API's folder or, if the file is not there, in the extended API's folder.

        If all folders lack the file, return the path in the last folder of the chain.
        """
        path = resources.templates() / "apis" / self.name / self.named(pattern)
        return path if path.exists() or self.extends is None else self.extends.file(pattern)

    def folders(self, name: str) -> list[Path]:
        """Return the existing folders `name` in the folders of the extended APIs and, last, in that of this API."""
        path = resources.templates() / "apis" / self.name / name
        return [*(self.extends.folders(name) if self.extends else []), *([path] if path.is_dir() else [])]

    def template(self, name: str) -> str:
        """Return the name by which Jinja loads a template of the API."""
        return self.file(name).relative_to(resources.templates()).as_posix()

    def renamed(self, text: str, path: Path) -> str:
        """Return the text of the C file at `path`; in a file of an extended API, this API's names replace its names."""
        if self.extends is None or path.is_relative_to(resources.templates() / "apis" / self.name):
            return text
        text, old = self.extends.renamed(text, path), self.extends.name
        lower, upper = r"(?:hs|sort)(?:_targets)?_|HN_NAMES\(\"", r"HS(?:_TARGETS)?_"  # HN_NAMES composes names
        for head, word, new in ((lower, old, self.name), (upper, old.upper(), self.name.upper())):
            text = re.sub(rf"(?<![A-Za-z0-9])({head}){word}(?![A-Za-z0-9])", rf"\g<1>{new}", text)
        for before, after in self.replaced:
            text = text.replace(before, after)
        if self.calls != self.extends.calls:
            text = re.sub(rf"(?<![A-Za-z0-9_]){self.extends.calls}(?=[A-Z])", self.calls, text)
        return text

    @property
    def all_headers(self) -> tuple[str, ...]:
        """The file names of the API's headers, including the header that lists the targets' tables."""
        tables = (f"hs_targets_{self.name}.h",) if self.tables else ()
        return (*map(self.named, self.headers), *tables)

    @property
    def driven(self) -> bool:
        """Whether hsgen can drive devices of the API."""
        return self.python or self.harness is not None
