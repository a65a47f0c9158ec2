"""Bundles: all files of a `generate`, built in memory.  Nothing here writes; see `hsgen.bundle.update`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from hsgen import __version__
from hsgen.apis import APIS, having, listed
from hsgen.bundle import contents
from hsgen.bundle.collapse import collapsed
from hsgen.bundle.manifest import Choice, Compiled, Entry, Manifest, digest
from hsgen.bundle.plans import plan_json
from hsgen.bundle.selection import sorts
from hsgen.core.sort import Sort
from hsgen.emit import c_files, c_spirv, identifiers, js_files, single_file, spirv, spirv_file
from hsgen.emit.kernels import Source, render, template_errors
from hsgen.system.tree import opened
from hsgen.targets.target import Target

Files = dict[str, bytes]


def spirv_path(sort: Sort) -> str:
    """Return where the SPIR-V of a sort lies in its bundle."""
    return f"targets/{sort.target}/spirv/{sort.target}_{sort.file}.c"


def earlier_spirv_path(sort: Sort) -> str:
    """Return where it lies in older bundles, under a name that files of other targets have, too."""
    return f"targets/{sort.target}/spirv/{sort.file}.c"


def _headers(prefix: str) -> list[str]:
    """The headers of a bundle of single files that can hold SPIR-V."""
    return [single_file.name(api, prefix) for api in having(lambda api: api.spirv)]


def glsl_hash(sort: Sort, source: Source) -> str:
    """Return the hash of a GLSL text without its header, of the Vulkan version, and of the kernels' names: a kernel
    without GLSL still has an entry in the file."""
    names = " ".join(k.name for k in sort.kernels)
    return digest((sort.vulkan + names + spirv.body(source.text)).encode())


Words = Callable[[Sort, Source], tuple[bytes, Compiled] | None]
"""Where the C file with the SPIR-V of a sort comes from; None: the sort goes without."""


@dataclass(slots=True)
class Modules:
    """SPIR-V for the targets of a bundle: taken over from the bundle in `folder` or compiled.

    `checking` compiles again what the manifest says came from the compiler at hand, and takes over only what
    cannot be compiled here; otherwise words whose GLSL is the same are taken over.  `missing` collects paths of
    SPIR-V that could neither be kept nor made.  While `checking`, `unchecked` collects those that could not be
    compared, each with the compiler that it needs, and `unsound` those that hold something else than the modules of
    their GLSL.
    """

    folder: Path
    old: Manifest | None
    prefix: str
    checking: bool = False
    missing: list[str] = field(default_factory=list)
    unchecked: dict[str, str] = field(default_factory=dict)
    unsound: set[str] = field(default_factory=set)
    single: bool = False

    def __call__(self, sort: Sort, source: Source) -> tuple[bytes, Compiled] | None:
        """Return the C file of a sort's modules and where they come from.

        Raises:
            Wrong: the compiler refuses a kernel.
        """
        entry = self.old.targets.get(sort.target) if self.old else None
        record = entry.spirv.get(sort.file) if entry else None
        using = spirv.compiler()
        again = self.checking and record is not None and using is not None and using.identity == record.compiler
        if record and not again and (kept := self._kept(sort, source, record)) is not None:
            if self.checking:
                self.unchecked[self.shown(sort)] = record.compiler
            return kept, record
        if using is None:
            if self.checking and record:
                self.unsound.add(self.shown(sort))
                return b"", record
            if self.checking and self.single:  # the header is there, without them
                self.unsound.add(self.shown(sort))
            elif self.shown(sort) not in self.missing:
                self.missing.append(self.shown(sort))
            return None
        made = c_spirv.modules_c(sort, spirv.compile_all(sort, source, using), using.identity, self.prefix)
        return made, Compiled(glsl_hash(sort, source), using.identity)

    def shown(self, sort: Sort) -> str:
        """The file of the bundle, as it will be, that holds the modules of a sort."""
        return _headers(self.prefix)[0] if self.single else spirv_path(sort)

    def _kept(self, sort: Sort, source: Source, record: Compiled) -> bytes | None:
        """The words that the bundle has, in a file of today, if the bundle's file is what the manifest records, holds
        nothing but these modules, and their GLSL is still the same.

        Raises:
            Usage: a link or something else that is no file is in its place.
        """
        assert self.old is not None
        if record.glsl != glsl_hash(sort, source):
            return None
        listed = self.old.hashes
        headers = _headers(self.old.prefix)
        path = next((p for p in (spirv_path(sort), earlier_spirv_path(sort), *headers) if p in listed), None)
        try:
            with opened(self.folder) as tree:
                data = tree.read(path) if tree and path and tree.is_file(path) else None
        except OSError:
            return None
        if data is None or path is None or listed[path] != digest(data):
            return None
        if path in headers:
            data = single_file.section(data, spirv_path(sort)) or b""
        have = spirv_file.read(data)
        made = c_spirv.modules_of(sort, have, spirv.modules(sort), self.old.prefix) if have else None
        if made is None or not all(spirv_file.sound(module, sort.vulkan) for module in made.values()):
            return None
        return c_spirv.modules_c(sort, made, record.compiler, self.prefix)


def target_files(
    target: Target, choice: Choice, words: Words, prefix: str, single: bool = False
) -> tuple[Files, dict[str, Compiled]]:
    """Return every file of one target, and where the SPIR-V of its sorts comes from."""
    files: Files = {}
    records: dict[str, Compiled] = {}
    sources: dict[str, list[tuple[Sort, Source]]] = {api: [] for api in choice.apis}
    made = sorts(target, choice)
    for sort in made:
        name = sort.file
        for api in choice.apis:
            source = render(sort, api)
            files[source.path] = source.text.encode()
            sources[api].append((sort, source))
            if APIS[api].spirv and choice.glsl_only:
                files[spirv_path(sort)] = c_spirv.absent_c(sort, prefix)
            elif APIS[api].spirv and (found := words(sort, source)) is not None:
                files[spirv_path(sort)], records[name] = found
        files[f"targets/{target.name}/plans/{name}.json"] = plan_json(sort)
    texts = {sort.file: source for own in listed(sources) if own.text for sort, source in sources[own.name]}
    with template_errors():
        rows = [(s, texts.get(s.file), s.file in records) for s in made]
        files[f"targets/{target.name}/{target.name}.c"] = c_files.target_c(target, rows, prefix, single=single)
        if single and texts:
            files[f"targets/{target.name}/{target.name}_text.c"] = c_files.text_c(target, rows, prefix)
        for own in listed(sources):
            if own.tables:
                path = f"targets/{target.name}/{own.named(own.tables.target, target=target.name)}"
                files[path] = c_files.target_tables(own, target, sources[own.name], prefix)
            if own.package:
                looped = [(s, _looped(s, source, own.name)) for s, source in sources[own.name]]
                files |= js_files.of_target(own.package, target, looped)
    return files, records


def _looped(sort: Sort, source: Source, api: str) -> Source:
    """The source with loops over registers as loops: what is downloaded is small."""
    return render(replace(sort, written_out=False), api) if sort.written_out else source


def build(
    parts: Mapping[str, tuple[Target, Choice]],
    words: Words,
    prefix: str,
    old: Manifest | None = None,
    *,
    single: bool = False,
) -> tuple[Files, Manifest]:
    """Return the files of the targets in `parts` with the common ones, and the manifest of the whole bundle.

    Targets of `old` that `parts` does not name stay as the old manifest has them.  `single`: one header per API; if
    `parts` lacks targets then, headers stay, too.
    """
    files: Files = {}
    entries = dict(old.targets if old else {})
    for name, (target, choice) in parts.items():
        made, records = target_files(target, choice, words, prefix, single)
        files.update(made)
        entries[name] = Entry(
            choice=choice,
            sorts=tuple(s.file for s in sorts(target, choice)),
            spirv=records,
            files={path: digest(data) for path, data in made.items()},
        )
    named = [_named_files(name, entry) for name, entry in entries.items()]
    identifiers.refuse_clashes(named)
    with template_errors():
        shared = c_files.common(named, prefix)
    common = {name: digest(data) for name, data in shared.items()}
    manifest = Manifest(version=__version__, prefix=prefix, common=common, targets=entries)
    contents.refuse_same_objects(manifest.hashes)
    if single:
        return collapsed({**files, **shared}, manifest, old if set(entries) - set(parts) else None)
    return {**files, **shared}, manifest


def _named_files(name: str, entry: Entry) -> c_files.Named:
    """A target as the common files need it."""
    choice, spirv_of = entry.choice, tuple(sorted(entry.spirv))
    bare = choice.glsl_only and any(APIS[api].spirv for api in choice.apis)
    glsl = tuple(sorted(entry.sorts)) if bare else ()
    return c_files.Named(name=name, apis=choice.apis, sorts=entry.sorts, spirv=spirv_of, glsl=glsl, max_n=choice.max_n)
