"""The C file that contains a sort's SPIR-V modules as string literals, or an ``#error`` if a bundle has no SPIR-V."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hsgen.core.sort import Sort
from hsgen.emit.c_files import finished, prefixed, rendered
from hsgen.emit.c_values import slot, sort_values, symbol
from hsgen.emit.spirv import ABSENT, Module
from hsgen.emit.spirv_file import File
from hsgen.emit.spirv_text import LITERAL, encoded


def modules_c(sort: Sort, binaries: Mapping[Module, bytes], compiler: str, prefix: str) -> bytes:
    """Return the C file that contains a sort's SPIR-V modules as string literals; equal modules are stored once.

    binaries: the bytes of each module.
    compiler: the name and the version of the compiler, for a comment.
    """
    users = {data: [m for m in binaries if binaries[m] == data] for data in binaries.values()}
    arrays: list[dict[str, object]] = []
    texts: dict[str, str] = {}
    for data, of in users.items():
        lines = encoded(data)
        ends = [i % LITERAL == 0 or i == len(lines) for i in range(1, len(lines) + 1)]
        texts[name := f"text {len(texts)}"] = "\n".join(f'"{x}"{"," * end}' for x, end in zip(lines, ends, strict=True))
        arrays.append({"symbol": _symbol(sort, of[0]), "users": of, "text": slot(name)})
    tables = [
        [
            (_symbol(sort, users[binaries[m]][0]), len(binaries[m]))
            if (m := Module(k.name, address)) in binaries
            else None
            for k in sort.kernels
        ]
        for address in (False, True)
    ]
    values = {"arrays": arrays, "tables": tables, "compiler": compiler}
    return finished(rendered("bundle/spirv.c", s=sort_values(sort, spirv=True), **values), prefix, texts)


def absent_c(sort: Sort, prefix: str) -> bytes:
    """Return the C file for a sort without SPIR-V: an ``#error`` that states the reason."""
    return finished(rendered("bundle/no_spirv.c", s=sort_values(sort), reason=ABSENT), prefix, {})


def modules_of(sort: Sort, file: File, expected: Sequence[Module], prefix: str) -> dict[Module, bytes] | None:
    """Return the bytes of each SPIR-V module of a sort, given the content of its C file.

    Return None if the file does not have exactly the `expected` modules, or if an array has an unexpected name.
    """
    used: dict[Module, str] = {}
    for address, table in zip((False, True), file.tables, strict=True):
        if len(table) != len(sort.kernels):
            return None
        used |= {Module(k.name, address): name for k, name in zip(sort.kernels, table, strict=True) if name}
    first: dict[str, Module] = {}
    for module, name in used.items():
        first.setdefault(name, module)
    symbols = [prefixed(_symbol(sort, module), prefix) for module in first.values()]
    if list(used) != list(expected) or not list(first) == symbols == list(file.arrays):
        return None
    return {module: file.arrays[name] for module, name in used.items()}


def _symbol(sort: Sort, module: Module) -> str:
    return f"{symbol(sort.target, sort.file)}_{module.kernel}{'_address' if module.address else ''}"
