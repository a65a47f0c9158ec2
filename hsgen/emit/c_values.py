"""Conversion of sorts and targets to dictionaries of numbers and strings, from which templates render C files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from hsgen import operations
from hsgen.core.flags import BIT, PLACES, QUANTITIES, RANGES, REDUCTIONS
from hsgen.core.keys import TYPES
from hsgen.core.plan import ROLES, Argument, Binding, Literal, Pass, PassCount
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source
from hsgen.stages.attach import report_words
from hsgen.targets.assembly import block
from hsgen.targets.matching import Match, rank
from hsgen.targets.target import Target

_TYPES = {"cpu": 1, "gpu": 2, "other": 4}
_ESCAPES = {b: chr(b) if 32 <= b < 127 else f"\\{b:03o}" for b in range(256)} | {
    ord(c): escape for c, escape in {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}.items()
}
"""The characters that stand for each byte in a C string literal, such as a backslash and ``n`` for a line end."""
C_ROLES = {role: f"HS_{role.upper()}" for role in ROLES} | {"other": "HS_OTHER_INPUT"}


def symbol(target: str, file: str = "") -> str:
    """Return the C name of a target or, with `file`, that of the target's sort with this file name.

    For example, the C name of bitonic_u32 of the target cpu is ``hs_cpu_bitonic_u32``.
    """
    name = f"{target}_{file}" if file else target
    return "hs_" + re.sub(r"[^A-Za-z0-9]", "_", name)


def slot(name: str) -> str:
    """Return a placeholder, which `filled` later replaces by the text called `name`.

    `filled` runs after the prefix ``hs`` of C names has been replaced, so the replacement does not change that text.
    """
    return f"\1{name}\2"


def filled(text: str, slots: Mapping[str, str]) -> str:
    """Return `text`, in which the texts of `slots` replace the placeholders of the same names."""
    return re.sub("\1([^\2]*)\2", lambda match: slots[match[1]], text)


def c_string(text: str) -> str:
    """Return a C string literal with the UTF-8 bytes of a text.

    A backslash between two question marks prevents trigraphs.
    """
    out = text.encode().decode("latin-1").translate(_ESCAPES)
    return '"' + re.sub(r"\?(?=\?)", r"?\\", out) + '"'


def c_comment(text: str) -> str:
    """Return a text that can stand in a C comment.

    A question mark replaces each character that is not printable ASCII.  A space separates the characters of `*/` and
    `/*`.
    """
    printable = "".join(c if c.isascii() and c.isprintable() else "?" for c in text)
    return printable.replace("*/", "* /").replace("/*", "/ *")


def target_slots(target: Target) -> dict[str, str]:
    """Return the texts, by name, that replace the placeholders in the result of `target_values`."""
    lists = {"names": target.match.names, "platforms": target.match.platforms}
    strings = {f"{word} {i}": c_string(text) for word, texts in lists.items() for i, text in enumerate(texts)}
    return {"summary": c_comment(target.summary), **strings}


def _binding(b: Binding) -> dict[str, Any]:
    return {"role": C_ROLES[b.role], "plus": b.plus, "per_n": b.per_n, "max_n": b.max_n or 0}


def _label(sort: Sort) -> str:
    values = "" if sort.signature.value == "none" else f", {sort.signature.value}"
    return operations.of(sort).c_label(sort) + values


def sort_values(sort: Sort, text: Source | None = None, *, spirv: bool = False) -> dict[str, Any]:
    """Return the facts about a sort that C templates read, by name; with `text`, the C file has that kernel text."""
    device_status = sort.plan.device_status
    return {
        "label": _label(sort),
        "file": sort.file,
        "symbol": symbol(sort.target, sort.file),
        "algorithm": sort.algorithm,
        "kind": operations.of(sort).c_kind,
        "columns": sort.columns,
        "key": sort.label,
        "value": sort.signature.value,
        "key_bytes": sort.key.bytes,
        "value_bytes": sort.signature.value_bytes,
        "first_bit": sort.plan.first_bit,
        "key_bits": sort.plan.bits,
        "key_transform": int(sort.signature.key_transform),
        "bit_range": int(sort.signature.bit_range),
        "device_count": int(sort.signature.device_count),
        "index": int(sort.signature.index),
        "pair": int(sort.pair and sort.key.bytes == 8),
        "block": block(sort),
        "groups": min(sort.groups, 2**32 - 1),
        "kernels": _kernels(sort),
        "steps": _steps(sort),
        "max_n": sort.plan.max_n,
        "scratch": sort.plan.scratch.rules,
        "device_status": _binding(device_status.binding) if device_status else None,
        "device_status_words": device_status.words if device_status else 0,
        "device_status_min_n": device_status.min_n if device_status else 0,
        "text": slot(sort.file) if text else "",
        "lines": len(text.text.splitlines()) if text else 0,
        "starts": starts(text) if text else [],
        "spirv": spirv,
        "report": report_words(sort),
        "first": symbol(sort.target, sort.first) if sort.first else "",
        **_types(sort),
        "vulkan_version": sort.vulkan.replace(".", ""),
    }


def _types(sort: Sort) -> dict[str, Any]:
    """Return the key type and the value type for each C constant of a sort.

    A C program selects a sort by a constant.  A sort of signed and float keys has a constant for each key type of its
    width.  A reduction has a constant for each type of values.  A call whose options are zero has the types of its
    constant.  The types of the first constant are entries of the result; the list `typed` has those of the other
    constants.
    """
    operation = operations.of(sort)
    signed = [t.name for t in TYPES.values() if t.kind and t.name != "bf16" and operation.serves(sort, t)]
    keys = [sort.label, *signed] if sort.signature.key_transform and signed else []
    values = operation.value_types if sort.signature.value_bytes else ()
    rows = [
        {"key": key, "type": _type(key if keys else ""), "value_type": _type(value)}
        for key in keys or [sort.label]
        for value in values or [""]
    ]
    return {**rows[0], "typed": rows[1:]}


def _type(name: str) -> str:
    """Return the C constant for the type `name`, such as HS_F32.

    For the empty name, return HS_AS_MATCHED, which stands for the type for which the program selected the sort.
    """
    return f"HS_{name.upper()}" if name else "HS_AS_MATCHED"


def starts(source: Source) -> list[int]:
    """Return the line numbers, counted from 0, at which the kernels of a source start."""
    lines = [len(text.splitlines()) for text in (source.header + source.prelude, *source.parts.values())]
    return list(accumulate(lines))[:-1]


def _kernels(sort: Sort) -> list[dict[str, Any]]:
    return [
        {
            **{word: getattr(k, word) for word in ("name", "work_group", "subgroup")},
            "local_bytes": k.local_bytes(sort.key),
            "bindings": len(k.buffers),
            "ballot": int(k.ballot),
            "index64": int(k.index64),
            "cooperative": int(k.cooperative),
        }
        for k in sort.kernels
    ]


def _steps(sort: Sort) -> list[dict[str, Any]]:
    number = {k.name: i for i, k in enumerate(sort.kernels)}
    return [
        {
            "name": s.kernel,
            "kernel": number[s.kernel],
            "guard": s.guard,
            "place": f"HS_{PLACES[s.guard.place]}",
            "range": f"HS_{RANGES[s.guard.range]}",
            "by": f"HS_{QUANTITIES[s.guard.x]}",
            "reduction": f"HS_{REDUCTIONS[s.guard.reduction]}",
            "grid": s.grid,
            "x": f"HS_{QUANTITIES[s.grid.x]}",
            "argument": _argument(s.argument),
            "bindings": [_binding(b) for b in s.bindings],
        }
        for s in sort.plan.steps
    ]


def _argument(argument: Argument) -> dict[str, Any]:
    value = argument.number if isinstance(argument, Pass) else argument.value if isinstance(argument, Literal) else 0
    bits = argument.bits if isinstance(argument, Pass | PassCount) else 0
    flags = " | ".join(f"HS_{name}" for name, bit in BIT.items() if argument.flags >> bit & 1)
    return {"kind": f"HS_{argument.kind.upper()}", "value": value, "bits": bits, "flags": flags or "0"}


def _match(m: Match) -> dict[str, Any] | None:
    if m == Match():
        return None
    return {
        "types": sum(_TYPES[t] for t in m.types),
        "vendors": [f"{v:#x}u" for v in m.vendors],
        "names": [slot(f"names {i}") for i in range(len(m.names))],
        "platforms": [slot(f"platforms {i}") for i in range(len(m.platforms))],
        "compute": m.compute or (0, 0),
        "rank": rank(m),
    }


def target_values(target: Target, sorts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the facts about a target that C templates read, by name.

    sorts: the results of `sort_values` for the sorts of the target.
    """
    return {
        "name": target.name,
        "symbol": symbol(target.name),
        "summary": slot("summary"),
        "sorts": sorts,
        "match": _match(target.match),
    }
