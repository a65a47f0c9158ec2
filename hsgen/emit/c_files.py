"""The C files of a bundle: runtimes, targets as constants, SPIR-V as words, and what builds them.

Every name in them begins with the bundle's prefix, which is put in place of ``hs`` when a file is finished.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hsgen import __version__, operations
from hsgen.algorithms import EVERY
from hsgen.core.errors import Usage
from hsgen.core.spec import Sort
from hsgen.emit.c_values import c_string, filled, slot, sort_values, target_slots, target_values
from hsgen.emit.c_values import symbol as symbol
from hsgen.emit.kernels import Source, environment
from hsgen.emit.spirv import Module, modules, words
from hsgen.system import resources
from hsgen.targets.target import Target

PREFIX = "hs"
LONGEST_PREFIX = 32  # characters
TAKEN = ("cl", "cu", "cuda", "gl", "int", "metal", "mtl", "ns", "objc", "pfn", "size", "std", "uint", "vk")
_RUNTIME = {
    "": {"include/hs/hs.h": "hs.h", "src/hs.c": "hs.c"},
    "opencl": {"include/hs/hs_opencl.h": "hs_opencl.h", "src/hs_opencl.c": "hs_opencl.c"},
    "vulkan": {"include/hs/hs_vulkan.h": "hs_vulkan.h", "src/hs_vulkan.c": "hs_vulkan.c"},
    "cuda": {"include/hs/hs_cuda.h": "hs_cuda.h", "src/hs_cuda.cu": "hs_cuda.cu"},
    "metal": {"include/hs/hs_metal.h": "hs_metal.h", "src/hs_metal.m": "hs_metal.m"},
}
_TABLES = {"cuda": "cu", "metal": "c"}
"""The APIs whose kernels lie in files of their own, with tables of their own, and what these files are."""
_EXAMPLES = {"opencl": "sort_opencl.c", "vulkan": "sort_vulkan.c", "cuda": "sort_cuda.cu", "metal": "sort_metal.m"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the common files must know of a target: its C name and those of its sorts."""

    name: str
    apis: tuple[str, ...]
    sorts: tuple[str, ...]  # as files are called: merge_u32, radix-bits2_u32
    spirv: tuple[str, ...]  # those of them that come with SPIR-V


def check_prefix(prefix: str) -> str:
    """Return `prefix` if C names can begin with it.

    Raises:
        Usage: they cannot.
    """
    if prefix in TAKEN:
        raise Usage(f"prefix {prefix!r}: belongs to C, C++ or an API; take one of your own")
    if len(prefix) > LONGEST_PREFIX:
        raise Usage(f"prefix '{prefix[:LONGEST_PREFIX]}...': is too long; use at most {LONGEST_PREFIX} characters")
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", prefix):
        raise Usage(f"prefix {prefix!r}: cannot begin C names; use lower-case letters, digits and single '_' between")
    return prefix


def prefixed(text: str, prefix: str) -> str:
    """Return C text or a path with `prefix` in place of hs, in names and in the paths of includes."""
    if prefix == PREFIX:
        return text
    text = re.sub(r"(?<![A-Za-z0-9])hs(?=[_/.])", prefix, text)
    return re.sub(r"(?<![A-Za-z0-9])HS(?=_)", prefix.upper(), text)


def taken() -> set[str]:
    """Return the names that the runtimes and the lists of targets use."""
    texts = [p.read_text(encoding="utf-8") for p in (resources.templates() / "runtime").iterdir()]
    lists = {f"hs_{of}targets{tail}" for of in ("", *(f"{a}_" for a in _TABLES)) for tail in ("", "_count")}
    return lists | {name for text in texts for name in re.findall(r"\bhs_\w+", text)}


def _render(template: str, **values: Any) -> str:
    return environment().get_template(f"host/{template}.j2").render(version=__version__, **values)


def _literals(source: Source) -> str:
    """A kernel text line by line: C99 and some compilers limit the length of a literal."""
    return "\n".join(f"    {c_string(line + chr(10))}," for line in source.text.splitlines())


def _finished(text: str, prefix: str, slots: Mapping[str, str]) -> bytes:
    """Give a file its prefix and then the texts of others, in which neither prefixes nor further places are sought."""
    return filled(prefixed(text, prefix), slots).encode()


def target_c(target: Target, sources: Sequence[tuple[Sort, Source | None, bool]], prefix: str) -> bytes:
    """Return the C file of a target; with each sort its OpenCL text, if any, and whether it comes with SPIR-V."""
    shown = [sort_values(s, source, spirv=has) for s, source, has in sources]
    lines = {s.file: _literals(source) for s, source, _ in sources if source} | target_slots(target)
    return _finished(_render("target.c", t=target_values(target, shown)), prefix, lines)


def target_metal(target: Target, sources: Sequence[tuple[Sort, Source]], prefix: str) -> bytes:
    """Return the C file of a target with its Metal text, a table of sorts."""
    shown = [{**sort_values(s), "metal": slot(s.file), "lines": len(source.text.splitlines())} for s, source in sources]
    lines = {s.file: _literals(source) for s, source in sources} | target_slots(target)
    return _finished(_render("target_metal.c", t=target_values(target, shown)), prefix, lines)


def target_cu(target: Target, sources: Sequence[tuple[Sort, Source]], prefix: str) -> bytes:
    """Return the CUDA file of a target, a table of kernels."""
    macros = {s.file: sorted(set(re.findall(r"^#define (\w+)", source.text, re.MULTILINE))) for s, source in sources}
    sorts = [{**sort_values(s), "macros": slot(s.file)} for s, _ in sources]
    undefined = {file: "\n".join(f"#undef {m}" for m in found) for file, found in macros.items()}
    return _finished(_render("target.cu", t=target_values(target, sorts)), prefix, undefined | target_slots(target))


def spirv_c(sort: Sort, made: Mapping[Module, bytes], compiler: str, prefix: str) -> bytes:
    """Return the C file that holds the modules of a sort as words."""
    shown = sort_values(sort, spirv=True)
    rows = [
        {"kernel": m.kernel, "address": m.address, "symbol": _module_symbol(sort, m), "words": _wrapped(words(data))}
        for m, data in made.items()
    ]
    return _finished(_render("spirv.c", s=shown, modules=rows, compiler=compiler), prefix, {})


def _module_symbol(sort: Sort, module: Module) -> str:
    return f"{symbol(sort.target, sort.file)}_{module.kernel}{'_address' if module.address else ''}"


def spirv_symbols(sort: Sort, prefix: str) -> dict[str, Module]:
    """Return the modules of a sort by the names of their arrays, in the order of its file."""
    return {prefixed(_module_symbol(sort, m), prefix): m for m in modules(sort)}


def _wrapped(items: Sequence[str]) -> str:
    """Literals on lines of at most 120 characters."""
    lines, line = [], ""
    for item in items:
        if len(line) + len(item) + 1 > 120:
            lines.append(line)
            line = ""
        line += item + ","
    return "\n".join([*lines, line])


def common(named: Iterable[Named], prefix: str) -> dict[str, bytes]:
    """Return the files that every bundle holds, as its targets' APIs need them."""
    targets = sorted(named, key=lambda t: t.name)
    apis = [api for api in _EXAMPLES if any(api in t.apis for t in targets)]
    files: dict[str, str] = {}
    for api in ("", *apis):
        for path, name in _RUNTIME[api].items():
            files[path] = _runtime(f"runtime/{name}")
        if api:
            files[f"examples/{_EXAMPLES[api]}"] = _runtime(f"examples/{_EXAMPLES[api]}")
        if api:
            files[f"sources/{api}.txt"] = _render("sources.txt", targets=targets, api=api)
    lists = [("", targets), *((api, [t for t in targets if api in t.apis]) for api in _TABLES if api in apis)]
    for api, some in lists:
        rows = [{"symbol": symbol(t.name), "sorts": [symbol(t.name, s) for s in t.sorts]} for t in some]
        tail = f"_{api}" if api else ""
        files[f"include/hs/hs_targets{tail}.h"] = _render("hs_targets.h", targets=rows, api=api)
        files[f"src/hs_targets{tail}.{_TABLES.get(api, 'c')}"] = _render("hs_targets.c", targets=rows, api=api)
    built = {"targets": targets, "apis": apis, "guides": _guides(targets)}
    for name in ("LICENSE", "README.md", "CMakeLists.txt", "meson.build"):
        files[name] = _render(name, prefix=prefix, **built)
    return {
        path if path in ("LICENSE", "README.md") else prefixed(path, prefix): prefixed(text, prefix).encode()
        for path, text in sorted(files.items())
    }


def _guides(targets: Iterable[Named]) -> list[str]:
    """The templates that say how to call what the sorts of these targets do, as far as it has one."""
    names = {re.split("[-_]", s)[0] for t in targets for s in t.sorts}
    does = {operations.EVERY[EVERY[name].OPERATION] for name in names if name in EVERY}
    guides = [f"operations/{o.module}.j2" for o in sorted(does, key=lambda o: (o.order, o.name))]
    return [name for name in guides if (resources.templates() / name).is_file()]


def common_paths(apis: Sequence[str], prefix: str) -> set[str]:
    """Return the paths of what `common` makes for targets that have these APIs."""
    files = {path for api in ("", *apis) for path in _RUNTIME[api]} | {f"examples/{_EXAMPLES[api]}" for api in apis}
    files |= {f"sources/{api}.txt" for api in apis}
    for api in ("", *(a for a in _TABLES if a in apis)):
        tail = f"_{api}" if api else ""
        files |= {f"include/hs/hs_targets{tail}.h", f"src/hs_targets{tail}.{_TABLES.get(api, 'c')}"}
    return {"LICENSE", "README.md", "CMakeLists.txt", "meson.build"} | {prefixed(path, prefix) for path in files}


def _runtime(name: str) -> str:
    text = (resources.templates() / name).read_text(encoding="utf-8").replace("HSGEN_VERSION", __version__)
    return f"/* SPDX-License-Identifier: MIT-0\n * Part of a bundle of hsgen {__version__}; do not edit. */\n{text}"
