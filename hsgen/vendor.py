"""The C files of a bundle: runtimes, targets as constants, SPIR-V as words, and what builds them.

Every name in them begins with the bundle's prefix, which is put in place of ``hs`` when a file is finished.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hsgen import __version__, resources
from hsgen.errors import Usage
from hsgen.render import Source, environment
from hsgen.sorts import block
from hsgen.spec import PLACES, RANGES, ROLES, Binding, Sort
from hsgen.spirv import Module, words
from hsgen.target import Match, Target, rank

PREFIX = "hs"
TAKEN = ("cl", "cu", "cuda", "gl", "int", "pfn", "size", "std", "uint", "vk")
_TYPES = {"cpu": 1, "gpu": 2, "other": 4}
_ROLES = {role: f"HS_{role.upper()}" for role in ROLES}
_RUNTIME = {
    "": {"include/hs/hs.h": "hs.h", "src/hs.c": "hs.c"},
    "opencl": {"include/hs/hs_opencl.h": "hs_opencl.h", "src/hs_opencl.c": "hs_opencl.c"},
    "vulkan": {"include/hs/hs_vulkan.h": "hs_vulkan.h", "src/hs_vulkan.c": "hs_vulkan.c"},
    "cuda": {"include/hs/hs_cuda.h": "hs_cuda.h", "src/hs_cuda.cu": "hs_cuda.cu"},
}
_EXAMPLES = {"opencl": "sort_opencl.c", "vulkan": "sort_vulkan.c", "cuda": "sort_cuda.cu"}


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
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", prefix):
        raise Usage(f"prefix {prefix!r}: cannot begin C names; use lower-case letters, digits and single '_' between")
    return prefix


def prefixed(text: str, prefix: str) -> str:
    """Return C text or a path with `prefix` in place of hs, in names and in the paths of includes."""
    if prefix == PREFIX:
        return text
    text = re.sub(r"(?<![A-Za-z0-9])hs(?=[_/.])", prefix, text)
    return re.sub(r"(?<![A-Za-z0-9])HS(?=_)", prefix.upper(), text)


def reprefixed(data: bytes, old: str, new: str) -> bytes:
    """Return a C file that holds no text of users with another prefix."""
    if old == new:
        return data
    text = re.sub(rf"(?<![A-Za-z0-9]){old}(?=[_/.])", new, data.decode())
    return re.sub(rf"(?<![A-Za-z0-9]){old.upper()}(?=_)", new.upper(), text).encode()


def taken() -> set[str]:
    """Return the names that the runtimes use."""
    texts = (p.read_text(encoding="utf-8") for p in (resources.templates() / "runtime").iterdir())
    return {name for text in texts for name in re.findall(r"\bhs_\w+", text)}


def symbol(target: str, file: str = "") -> str:
    """Return the C name of a target, or of one of its sorts."""
    name = f"{target}_{file}" if file else target
    return "hs_" + re.sub(r"[^A-Za-z0-9]", "_", name)


def _render(template: str, **values: Any) -> str:
    return environment().get_template(f"host/{template}.j2").render(version=__version__, **values)


def _literal(line: str) -> str:
    escaped = line.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}\\n"'


def _token(sort: Sort) -> str:
    """Stands for kernel text while C names get their prefix: kernels keep their own words."""
    return f"@{sort.file}@"


def _binding(b: Binding) -> dict[str, Any]:
    return {"role": _ROLES[b.role], "plus": b.plus, "per_n": b.per_n}


def _label(sort: Sort) -> str:
    if sort.scan:
        return f"{sort.algorithm} of {sort.columns} {sort.key.name} in a row"
    values = "" if sort.form.value == "none" else f", {sort.form.value}"
    return f"{sort.algorithm} sort of {sort.label} keys{values}"


def _sort(sort: Sort, opencl: Source | None, *, spirv: bool) -> dict[str, Any]:
    """What the templates need of a sort."""
    outcome = sort.plan.outcome
    return {
        "label": _label(sort),
        "file": sort.file,
        "symbol": symbol(sort.target, sort.file),
        "algorithm": sort.algorithm,
        "kind": "HS_SCAN" if sort.scan else "HS_SORT",
        "columns": sort.columns,
        "key": sort.label,
        "value": sort.form.value,
        "key_bytes": sort.key.bytes,
        "value_bytes": sort.form.value_bytes,
        "first_bit": sort.plan.first_bit,
        "key_bits": sort.plan.bits,
        "typed": int(sort.form.typed),
        "ranged": int(sort.form.ranged),
        "counted": int(sort.form.counted),
        "index": int(sort.form.index),
        "pair": int(sort.pair and sort.key.bytes == 8),
        "block": block(sort),
        "groups": min(sort.groups, 2**32 - 1),
        "kernels": _kernels(sort),
        "steps": _steps(sort),
        "max_n": sort.plan.max_n,
        "scratch": sort.plan.scratch,
        "outcome": _binding(outcome.binding) if outcome else None,
        "outcome_words": outcome.words if outcome else 0,
        "outcome_min_n": outcome.min_n if outcome else 0,
        "opencl": _token(sort) if opencl else "",
        "opencl_lines": len(opencl.text.splitlines()) if opencl else 0,
        "spirv": spirv,
        "vulkan": sort.vulkan.replace(".", ""),
    }


def _kernels(sort: Sort) -> list[dict[str, Any]]:
    return [
        {
            **{word: getattr(k, word) for word in ("name", "work_group", "subgroup")},
            "local_bytes": k.local_bytes(sort.key),
            "bindings": len(k.buffers),
            "ballot": int(k.ballot),
            "wide": int(k.wide),
        }
        for k in sort.kernels
    ]


def _steps(sort: Sort) -> list[dict[str, Any]]:
    number = {k.name: i for i, k in enumerate(sort.kernels)}
    return [
        {
            "kernel": number[s.kernel],
            "argument": s.argument,
            "place": PLACES.index(s.place),
            "number": s.number,
            "bits": s.bits,
            "range": RANGES.index(s.range),
            "bindings": [_binding(b) for b in s.bindings],
            **{word: getattr(s, word) for word in ("min_n", "max_n", "add", "div", "mul", "cap")},
        }
        for s in sort.plan.steps
    ]


def _match(m: Match) -> dict[str, Any] | None:
    if m == Match():
        return None
    return {
        "types": sum(_TYPES[t] for t in m.types),
        "vendors": [f"{v:#x}u" for v in m.vendors],
        "names": [f'"{x}"' for x in m.names],
        "platforms": [f'"{x}"' for x in m.platforms],
        "compute": m.compute or (0, 0),
        "rank": rank(m),
    }


def _target(target: Target, sorts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": target.name,
        "symbol": symbol(target.name),
        "summary": target.summary,
        "sorts": sorts,
        "match": _match(target.match),
    }


def _finished(text: str, prefix: str, kernels: Mapping[str, str]) -> bytes:
    text = prefixed(text, prefix)
    for token, kernel in kernels.items():
        text = text.replace(token, kernel)
    return text.encode()


def target_c(target: Target, sources: Sequence[tuple[Sort, Source | None, bool]], prefix: str) -> bytes:
    """Return the C file of a target; with each sort its OpenCL text, if any, and whether it comes with SPIR-V."""
    text = _render("target.c", t=_target(target, [_sort(s, source, spirv=has) for s, source, has in sources]))
    lines = {
        _token(s): "\n".join(f"    {_literal(line)}," for line in source.text.splitlines())
        for s, source, _ in sources
        if source
    }
    return _finished(text, prefix, lines)


def target_cu(target: Target, sources: Sequence[tuple[Sort, Source]], prefix: str) -> bytes:
    """Return the CUDA file of a target, a table of kernels."""
    macros = {_token(s): sorted(set(re.findall(r"^#define (\w+)", source.text, re.MULTILINE))) for s, source in sources}
    sorts = [{**_sort(s, None, spirv=False), "macros": _token(s)} for s, _ in sources]
    undefined = {token: "\n".join(f"#undef {m}" for m in found) for token, found in macros.items()}
    return _finished(_render("target.cu", t=_target(target, sorts)), prefix, undefined)


def spirv_c(sort: Sort, made: Mapping[Module, bytes], compiler: str, prefix: str) -> bytes:
    """Return the C file that holds the modules of a sort as words."""
    shown = _sort(sort, None, spirv=True)
    rows = [
        {
            "kernel": m.kernel,
            "address": m.address,
            "symbol": f"{shown['symbol']}_{m.kernel}{'_address' if m.address else ''}",
            "words": _wrapped(words(data)),
        }
        for m, data in made.items()
    ]
    return _finished(_render("spirv.c", s=shown, modules=rows, compiler=compiler), prefix, {})


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
    lists = [("", targets)] + [("cuda", [t for t in targets if "cuda" in t.apis])] * ("cuda" in apis)
    for api, some in lists:
        rows = [{"symbol": symbol(t.name), "sorts": [symbol(t.name, s) for s in t.sorts]} for t in some]
        tail = "_cuda" if api else ""
        files[f"include/hs/hs_targets{tail}.h"] = _render("hs_targets.h", targets=rows, api=api)
        files[f"src/hs_targets{tail}.{'cu' if api else 'c'}"] = _render("hs_targets.c", targets=rows, api=api)
    built = {"targets": targets, "apis": apis}
    for name in ("LICENSE", "README.md", "CMakeLists.txt", "meson.build"):
        files[name] = _render(name, prefix=prefix, **built)
    return {
        path if path in ("LICENSE", "README.md") else prefixed(path, prefix): prefixed(text, prefix).encode()
        for path, text in sorted(files.items())
    }


def _runtime(name: str) -> str:
    text = (resources.templates() / name).read_text(encoding="utf-8").replace("HSGEN_VERSION", __version__)
    return f"/* SPDX-License-Identifier: MIT-0\n * Part of a bundle of hsgen {__version__}; do not edit. */\n{text}"
