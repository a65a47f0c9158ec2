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
    """The names of an API's C files in a bundle; these files contain the kernels, and data about each sort.

    target: the pattern of the name of a target's file, which the template ``target.j2`` in the API's folder renders.
    suffix: the suffix of the file that lists all targets.
    earlier: the pattern of `target` in bundles of earlier versions.
    """

    target: str
    suffix: str
    earlier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """How to build the shared library through which hsgen drives devices: it consists of an API's C runtime and a
    harness, C functions that Python calls.

    sources: the C files of the harness, in ``harness/`` of the API's folder or in ``hsgen/engines/native``.
    command: a function that returns the compiler with its options, or raises `Unavailable`.
    link: the linker options.
    header: a header that the build requires; "" if it requires none.
    package: the Debian package that contains the header.
    baselines: for each operation, a further file of the harness, and the names of the baselines that it implements.  A
    baseline is another library, with which benchmarks compare the operation.
    runtime: the API whose runtime runs the kernels as SPIR-V, if this API has no runtime that launches kernels.
    spirv: with `runtime`, a function that takes a kernel text and a kernel name, and returns SPIR-V.
    options: with `runtime`, further compiler options for the build of that runtime.
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
    """The rules that convert the properties that a device reports to the ``[device]`` facts of a target file
    (`hsgen.tools.suggest.query`).

    origins: for each fact, the query of the API that returns it, for comments in target files.
    facts: a function that takes the subgroup widths of a device and its properties by name, and returns its facts.
    cores_are_units: the PCI numbers of vendors whose devices report the number of SIMD units as the number of cores.
    started: whether started work-groups make forward progress on every device of the API.
    isa: the name of an offline compiler, and the pattern of its device names, which contain the compute capability; or
    None.
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
    """The JavaScript modules that make a bundle an npm package (`hsgen.emit.js_files`).

    files: maps paths in a bundle to names of sources in the API's folder.  A source with the suffix ``.j2`` is a
    template, which is rendered with the bundle's targets.
    folder: the folder, inside the folder of each target, that has a module for each sort, and ``index.js``.
    """

    files: Mapping[str, str]
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """An API: its files, its capabilities, and the harness through which hsgen drives its devices.

    The files are in the folder ``templates/apis/NAME``.  In file names, ``{api}`` is the API's name and ``{suffix}`` is
    the suffix of its kernel files.

    An API may extend another API, `extends`, as HIP extends CUDA.  If the folder of the API lacks a file, hsgen takes
    the file of the extended API.  In that file, hsgen replaces the C names of the extended API, the texts in
    `replaced`, and the prefix `calls`.
    """

    name: str
    title: str
    order: int
    """The position in lists.  Of two APIs with the same position, the API that extends another API comes second."""
    dialect: str
    """The dialect of its kernels, a folder of ``templates/dialects``.  No two APIs share a dialect."""
    suffix: str
    """The suffix of kernel files.

    The dialect's template also states the suffix, but `hsgen verify`, which needs the suffix, reads no templates.
    """
    language: str
    """The name of the kernel language."""
    sources: tuple[str, ...]
    """The C source files of the runtime."""
    internal: tuple[str, ...] = ("hs_{api}_internal.h",)
    """The private headers of the runtime, in the folder of its sources."""
    headers: tuple[str, ...] = ("hs_{api}.h",)
    example: str = "sort_{api}.c"
    prefixes: tuple[str, ...] = ()
    """The prefixes of the API's own C names.  No bundle can choose one of them as the prefix of its C names."""
    member: str = ""
    """The C text that selects the API's buffer object in a buffer argument of a call, such as ".buffer"; may be ""."""
    text: bool = False
    """Whether the C file of a target contains the kernel text.

    At most one API can have its text there, because the C struct `hs_sort` has one such member.
    """
    spirv: bool = False
    """Whether bundles contain the API's kernels as SPIR-V."""
    tables: Tables | None = None
    package: Package | None = None
    key_pairs: bool = False
    """Whether kernels handle 64-bit keys as two 32-bit words on devices without 64-bit integers."""
    local_bytes: int = 0
    """The API's limit of local memory per work-group, in bytes; 0 if only the device has a limit."""
    launches: bool = True
    """Whether the runtime launches kernels.  If not, the runtime only returns a list of launches to the program."""
    cooperative: bool = False
    """Whether the API has launches whose work-groups can wait for each other (`Kernel.cooperative`)."""
    rows: bool = False
    """Whether the kernel language loads and stores adjacent keys as a vector of any width (`row_block`)."""
    lone_lanes: bool = False
    """Whether the API's CPU runtimes run a work-group of one lane as a plain loop."""
    python: bool = False
    """Whether hsgen can drive the API's devices through pyopencl."""
    cpu_platform: str = ""
    """The start of the platform name of the embedded CPU runtime; "" if that runtime does not serve this API.

    The embedded CPU runtime is Intel's OpenCL runtime, which pip installs by the extra ``cpu-device`` of hsgen.
    """
    prepare: Callable[[], None] = lambda: None
    """A function that hsgen calls before it loads a C library of the API."""
    alignment: int = 0
    """The number of bytes of which offsets of bound buffers must be a multiple; 0 means the size of a key."""
    harness: Harness | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    probe: Probe | None = None
    """The conversion of device properties to facts; None if the API's devices report no properties."""
    torch: str = ""
    """The PyTorch name of the API's devices; "" if PyTorch has no such devices."""
    extends: Api | None = None
    replaced: tuple[tuple[str, str], ...] = ()
    """Pairs (text, replacement) for C files of the extended API, such as the names of two headers."""
    calls: str = ""
    """The prefix of the API's C functions and types, such as ``cuda`` in ``cudaMalloc``."""

    def extended(self, name: str, title: str, *, dialect: str, **changes: Any) -> Api:
        """Return an API that extends this API; `changes` has further attributes that differ."""
        suffix = changes.get("suffix") or (self.tables.suffix if self.tables else "")
        tables = self.tables and replace(self.tables, target=f"{{target}}_{name}.{suffix}", suffix=suffix, earlier="")
        same: dict[str, Any] = {"tables": tables, "replaced": (), "prefixes": (*self.prefixes, name)}
        return replace(self, name=name, title=title, dialect=dialect, extends=self, **(same | changes))

    def named(self, pattern: str, **more: str) -> str:
        """Return the file name for a pattern; `more` has values of placeholders beyond ``{api}`` and ``{suffix}``."""
        return pattern.format(**{"api": self.name, "suffix": self.suffix} | more)

    def file(self, pattern: str) -> Path:
        """Return the path of a file in the API's folder or, if the file is not there, in the extended API's folder.

        If all folders lack the file, return the path in the folder of the API that extends no other API.
        """
        path = resources.templates() / "apis" / self.name / self.named(pattern)
        return path if path.exists() or self.extends is None else self.extends.file(pattern)

    def folders(self, name: str) -> list[Path]:
        """Return the folders `name` that exist in the folders of the extended APIs and, last, of this API."""
        path = resources.templates() / "apis" / self.name / name
        return [*(self.extends.folders(name) if self.extends else []), *([path] if path.is_dir() else [])]

    def template(self, name: str) -> str:
        """Return the name by which Jinja loads a template of the API."""
        return self.file(name).relative_to(resources.templates()).as_posix()

    def renamed(self, text: str, path: Path) -> str:
        """Return `text`, that of the C file at `path`, with names of this API in place of names of the extended API.

        If the file is this API's own, the text is unchanged.
        """
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
