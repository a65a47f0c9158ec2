"""Generates the files of a bundle in memory; `hsgen.bundle.update` writes the files to disk."""

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
    """Return the path, in a bundle, of the C file with a sort's SPIR-V."""
    return f"targets/{sort.target}/spirv/{sort.target}_{sort.file}.c"


def earlier_spirv_path(sort: Sort) -> str:
    """Return the path that the C file with a sort's SPIR-V had in older bundles: the file name lacks the target."""
    return f"targets/{sort.target}/spirv/{sort.file}.c"


def _headers(prefix: str) -> list[str]:
    """Return the file names of the headers of a single-header bundle for APIs that use SPIR-V."""
    return [single_file.name(api, prefix) for api in having(lambda api: api.spirv)]


def glsl_hash(sort: Sort, source: Source) -> str:
    """Return the hash of all that a sort's SPIR-V depends on, except the compiler.

    If the hash is the same as that in the manifest, the bundle's SPIR-V is up to date.  The hash covers the Vulkan
    version, the kernels' names, and the GLSL text without the comments at its top.  The names matter because the C file
    has an entry for each kernel, even for a kernel without GLSL.
    """
    names = " ".join(k.name for k in sort.kernels)
    return digest((sort.vulkan + names + spirv.body(source.text)).encode())


Words = Callable[[Sort, Source], tuple[bytes, Compiled] | None]
"""A function that returns the C file with a sort's SPIR-V, and a record of which compiler made it from which GLSL.

The function returns None if it can neither take the SPIR-V from an existing bundle nor compile it.
"""


@dataclass(slots=True)
class Modules:
    """The supplier of SPIR-V for a new bundle, a `Words`: it takes SPIR-V from the bundle in `folder`, or compiles it.

    The old SPIR-V of a sort is kept if the sort's GLSL is unchanged.  `checking` is for the comparison of a bundle with
    newly generated files: SPIR-V is then kept only if it is not from the installed compiler.

    missing: the paths of files whose SPIR-V could be neither kept nor compiled.
    unchecked: with `checking`, the files whose SPIR-V was kept and thus not compared: path to name of the compiler that
    the comparison needs.
    unsound: with `checking`, the paths of files that do not contain SPIR-V compiled from today's GLSL.
    single: whether the new bundle has one header per API instead of folders.
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
        """Return the C file with a sort's SPIR-V modules, and the record of their GLSL and compiler.

        Return None if the SPIR-V can be neither kept nor compiled.

        Raises:
            Wrong: the compiler rejects a kernel.
        """
        entry = self.old.targets.get(sort.target) if self.old else None
        record = entry.spirv.get(sort.file) if entry else None
        using = spirv.compiler()
        again = self.checking and record is not None and using is not None and using.identity == record.compiler
        if record and not again and (data := self._kept(sort, source, record)) is not None:
            if self.checking:
                self.unchecked[self.shown(sort)] = record.compiler
            return data, record
        if using is None:
            if self.checking and record:
                self.unsound.add(self.shown(sort))
                return b"", record
            if self.checking and self.single:  # the header exists, but has no SPIR-V of this sort
                self.unsound.add(self.shown(sort))
            elif self.shown(sort) not in self.missing:
                self.missing.append(self.shown(sort))
            return None
        text = c_spirv.modules_c(sort, spirv.compile_all(sort, source, using), using.identity, self.prefix)
        return text, Compiled(glsl_hash(sort, source), using.identity)

    def shown(self, sort: Sort) -> str:
        """Return the path, for messages, of the file in the new bundle that contains a sort's SPIR-V modules."""
        return _headers(self.prefix)[0] if self.single else spirv_path(sort)

    def _kept(self, sort: Sort, source: Source, record: Compiled) -> bytes | None:
        """Return a sort's SPIR-V from the old bundle, in today's file format; None if the SPIR-V cannot be kept.

        The GLSL must be unchanged, and the file must have the hash that the manifest records.  The file must contain a
        valid module for each kernel variant of the sort, and no other module.

        Raises:
            Usage: the path is not a regular file, but a link for example.
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
        modules = c_spirv.modules_of(sort, have, spirv.modules(sort), self.old.prefix) if have else None
        if modules is None or not all(spirv_file.sound(module, sort.vulkan) for module in modules.values()):
            return None
        return c_spirv.modules_c(sort, modules, record.compiler, self.prefix)


def target_files(
    target: Target, choice: Choice, words: Words, prefix: str, single: bool = False
) -> tuple[Files, dict[str, Compiled]]:
    """Return the files of one target, and the GLSL hash and compiler of SPIR-V for each sort that has SPIR-V.

    words: the supplier of SPIR-V.
    single: whether `hsgen.bundle.collapse` will merge the files into headers.
    """
    files: Files = {}
    records: dict[str, Compiled] = {}
    sources: dict[str, list[tuple[Sort, Source]]] = {api: [] for api in choice.apis}
    target_sorts = sorts(target, choice)
    for sort in target_sorts:
        name = sort.file
        for api in choice.apis:
            source = render(sort, api)
            files[source.path] = source.text.encode()
            sources[api].append((sort, source))
            if APIS[api].spirv and choice.glsl_only:
                files[spirv_path(sort)] = c_spirv.absent_c(sort, prefix)
            elif APIS[api].spirv and (module := words(sort, source)) is not None:
                files[spirv_path(sort)], records[name] = module
        files[f"targets/{target.name}/plans/{name}.json"] = plan_json(sort)
    texts = {sort.file: source for api_ in listed(sources) if api_.text for sort, source in sources[api_.name]}
    with template_errors():
        rows = [(s, texts.get(s.file), s.file in records) for s in target_sorts]
        files[f"targets/{target.name}/{target.name}.c"] = c_files.target_c(target, rows, prefix, single=single)
        if single and texts:
            files[f"targets/{target.name}/{target.name}_text.c"] = c_files.text_c(target, rows, prefix)
        for api_ in listed(sources):
            if api_.tables:
                path = f"targets/{target.name}/{api_.named(api_.tables.target, target=target.name)}"
                files[path] = c_files.target_tables(api_, target, sources[api_.name], prefix)
            if api_.package:
                looped = [(s, _looped(s, source, api_.name)) for s, source in sources[api_.name]]
                files |= js_files.of_target(api_.package, target, looped)
    return files, records


def _looped(sort: Sort, source: Source, api: str) -> Source:
    """Return the source of a sort with loops over the keys of a lane, instead of statements repeated for each key.

    JavaScript packages contain such sources, because the shorter text is faster to download.
    """
    return render(replace(sort, written_out=False), api) if sort.written_out else source


def build(
    parts: Mapping[str, tuple[Target, Choice]],
    words: Words,
    prefix: str,
    old: Manifest | None = None,
    *,
    single: bool = False,
) -> tuple[Files, Manifest]:
    """Return the files of the targets in `parts`, the common files, and the manifest of the whole bundle.

    words: the supplier of SPIR-V.
    old: the manifest of the bundle to update.  Targets of `old` that are not in `parts` keep their entries in the new
    manifest.
    single: the bundle has one header per API.  A header contains all targets, so headers are generated only if `parts`
    has all targets.  Otherwise the new manifest takes the hashes of the headers from `old`.
    """
    files: Files = {}
    entries = dict(old.targets if old else {})
    for name, (target, choice) in parts.items():
        generated, records = target_files(target, choice, words, prefix, single)
        files.update(generated)
        entries[name] = Entry(
            choice=choice,
            sorts=tuple(s.file for s in sorts(target, choice)),
            spirv=records,
            files={path: digest(data) for path, data in generated.items()},
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
    """Return the names of a target, its APIs and its sorts, for the files that all targets of a bundle share."""
    choice, spirv_of = entry.choice, tuple(sorted(entry.spirv))
    bare = choice.glsl_only and any(APIS[api].spirv for api in choice.apis)
    glsl = tuple(sorted(entry.sorts)) if bare else ()
    return c_files.Named(name=name, apis=choice.apis, sorts=entry.sorts, spirv=spirv_of, glsl=glsl, max_n=choice.max_n)
