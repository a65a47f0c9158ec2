"""The C files of a bundle, except those with SPIR-V: the runtimes, a file for each target, and the build files.

The C file of a target has the launch plans of its sorts as constants.  In templates, C names start with ``hs``.
`finished` replaces this prefix by the one that the user chose for the bundle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hsgen import __version__, operations
from hsgen.algorithms import EVERY
from hsgen.apis import APIS, having, listed
from hsgen.apis.api import Api
from hsgen.core.scratch import ANY_N
from hsgen.core.sort import Sort
from hsgen.emit import c_calls, c_constants, c_examples, js_files
from hsgen.emit.c_paths import BUILD, RUNTIME, list_files, own_files
from hsgen.emit.c_paths import CORE as CORE
from hsgen.emit.c_paths import LONGEST_PREFIX as LONGEST_PREFIX
from hsgen.emit.c_paths import PREFIX as PREFIX
from hsgen.emit.c_paths import check_prefix as check_prefix
from hsgen.emit.c_paths import core_paths as core_paths
from hsgen.emit.c_paths import prefixed as prefixed
from hsgen.emit.c_values import c_string, filled, slot, sort_values, target_slots, target_values
from hsgen.emit.c_values import symbol as symbol
from hsgen.emit.kernels import Source
from hsgen.emit.templates import environment
from hsgen.system import resources
from hsgen.targets.target import Target

_RELEASE = re.match(r"\d+(\.\d+)*", __version__)[0]  # type: ignore[index]  # versions in CMake have no letters


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The facts about a target on which those files of a bundle depend that contain no kernel text."""

    name: str
    apis: tuple[str, ...]
    sorts: tuple[str, ...]  # the file names of sorts without suffix, such as bitonic_u32 or radix-bits2_u32
    spirv: tuple[str, ...]  # the sorts for which the bundle has SPIR-V
    glsl: tuple[str, ...] = ()  # the sorts for which the bundle has GLSL but no SPIR-V
    max_n: int = ANY_N  # the greatest number of keys that a call of the sorts may have


def runtime_names() -> set[str]:
    """Return the C names in the runtimes of all APIs, and those of the arrays that list a bundle's targets."""
    texts = [_common_text(name) for name in RUNTIME.values()]
    texts += [
        c_calls.completed(api, name) for api in APIS.values() for name in (*api.headers, *api.internal, *api.sources)
    ]
    tables = [f"{api.name}_" for api in having(lambda api: api.tables)]
    lists = {f"hs_{of}targets{tail}" for of in ("", *tables) for tail in ("", "_count")}
    return lists | {name for text in texts for name in re.findall(r"\bhs_\w+\b(?!\.[ch]\b)", text)}


def rendered(template: str, **values: Any) -> str:
    """Return the rendered text of a template, in which C names still start with ``hs``."""
    return environment().get_template(f"{template}.j2").render(version=__version__, **values)


def _literals(source: Source) -> str:
    """Return a kernel text as C string literals, one per line, because C compilers limit the length of a literal."""
    return "\n".join(f"    {c_string(line + chr(10))}," for line in source.text.splitlines())


def finished(text: str, prefix: str, slots: Mapping[str, str]) -> bytes:
    """Return the bytes of a file: `text`, after two replacements.

    First, `prefix` replaces ``hs`` in C names.  Then the texts of `slots` replace placeholders (`c_values.slot`).  The
    prefix therefore does not change the texts of `slots`, such as kernel text.
    """
    return filled(prefixed(text, prefix), slots).encode()


Rows = Sequence[tuple[Sort, Source | None, bool]]
"""A triple for each sort of a target: the sort, its OpenCL text or None, and whether the bundle has its SPIR-V."""


def target_c(target: Target, sources: Rows, prefix: str, *, single: bool = False) -> bytes:
    """Return the C file of a target, with the plans of its sorts and the text of its OpenCL kernels.

    single: whether to omit the OpenCL text.  A single-header bundle has this text in a separate file (`text_c`).
    """
    return _target("target.c", target, sources, prefix, single=single)


def text_c(target: Target, sources: Rows, prefix: str) -> bytes:
    """Return a C file with only the OpenCL text of a target, for single-header bundles."""
    return _target("text.c", target, sources, prefix)


def _target(template: str, target: Target, sources: Rows, prefix: str, **more: bool) -> bytes:
    shown = [sort_values(s, source, spirv=has) for s, source, has in sources]
    lines = {s.file: _literals(source) for s, source, _ in sources if source} | target_slots(target)
    return finished(rendered(f"bundle/{template}", t=target_values(target, shown), **more), prefix, lines)


def target_tables(api: Api, target: Target, sources: Sequence[tuple[Sort, Source]], prefix: str) -> bytes:
    """Return the C file through which the runtime of `api` accesses a target's kernels (`hsgen.apis.api.Tables`).

    For some APIs, the file includes the kernel file of each sort, and then undefines the macros that it defines.  For
    others, it contains the kernels' source text as string literals.
    """
    shown, slots = [], dict(target_slots(target))
    for sort, source in sources:
        macros = sorted(set(re.findall(r"^#define (\w+)", source.text, re.MULTILINE)))
        slots |= {
            f"{sort.file} text": _literals(source),
            f"{sort.file} macros": "\n".join(f"#undef {m}" for m in macros),
        }
        places = {"text": slot(f"{sort.file} text"), "macros": slot(f"{sort.file} macros")}
        shown.append({**sort_values(sort), **places, "lines": len(source.text.splitlines())})
    template = api.template("target.j2").removesuffix(".j2")
    return finished(rendered(template, t=target_values(target, shown), api=api), prefix, slots)


def common(named: Iterable[Named], prefix: str) -> dict[str, bytes]:
    """Return, by path, the files of a bundle with these targets that do not depend on kernel text."""
    targets = sorted(named, key=lambda t: t.name)
    apis = listed(api for t in targets for api in t.apis)
    files = {path: _part(_common_text(name)) for path, name in RUNTIME.items()}
    for api in apis:
        served = [t for t in targets if api.name in t.apis]
        files |= {
            path: _part(c_examples.completed(c_calls.completed(api, name), served))
            for path, name in own_files(api).items()
        }
        files[f"sources/{api.name}.txt"] = rendered("bundle/sources.txt", targets=targets, api=api, core=CORE)
        files |= js_files.common(api, targets, prefix) if api.package else {}
    for table_api in (None, *(a for a in apis if a.tables)):
        served = [t for t in targets if table_api is None or table_api.name in t.apis]
        rows = [{"symbol": symbol(t.name), "sorts": [symbol(t.name, s) for s in t.sorts]} for t in served]
        for path, name in list_files(table_api).items():
            files[path] = rendered(f"bundle/{name}", targets=rows, api=table_api.name if table_api else "")
    main = apis[0] if apis else next(iter(APIS.values()))
    built = {"targets": targets, "apis": apis, "core": CORE, "main": main, "guides": _guides(targets)}
    for path, name in BUILD.items():
        files[path] = rendered(f"bundle/{name}", prefix=prefix, release=_RELEASE, **built)
    return {
        path if path in ("LICENSE", "README.md") else prefixed(path, prefix): prefixed(text, prefix).encode()
        for path, text in sorted(files.items())
    }


def _guides(targets: Iterable[Named]) -> list[str]:
    """Return the names of the templates of the README's sections about the C calls of these targets' operations.

    Operations without such a section are omitted.
    """
    names = {re.split("[-_]", s)[0] for t in targets for s in t.sorts}
    used = {operations.EVERY[EVERY[name].OPERATION] for name in names if name in EVERY}
    guides = [f"operations/{o.module}.j2" for o in sorted(used, key=lambda o: (o.order, o.name))]
    return [name for name in guides if (resources.templates() / name).is_file()]


def _common_text(name: str) -> str:
    return (resources.templates() / "bundle" / name).read_text(encoding="utf-8")


def completed(text: str) -> str:
    """Return the text of a runtime's C file, with the version, the operations and the constants inserted."""
    text = text.replace("HSGEN_VERSION", __version__).replace(c_calls.KINDS, c_calls.kinds())
    text = text.replace(c_calls.LENGTHS, c_calls.lengths())
    return text.replace(c_constants.PLACE, c_constants.constants())


def _part(text: str) -> str:
    text = completed(text)
    return f"/* SPDX-License-Identifier: MIT-0\n * Part of a bundle of hsgen {__version__}; do not edit. */\n{text}"
