"""WGSL modules for several kernels, in which each declaration that several kernels use occurs once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from hsgen.emit.wgsl.bodies import SHARED, Body, signature
from hsgen.emit.wgsl.functions import Builder
from hsgen.emit.wgsl.printing import RESERVED, number, safe
from hsgen.emit.wgsl.reading import parsed
from hsgen.emit.wgsl.scope import CALL
from hsgen.emit.wgsl.tree import NARROW, Const, Function, Unsupported, Var, refuse
from hsgen.emit.wgsl.uniformity import share

_CALL = (
    "struct hs_call_arguments { n: i32, argument: i32, rows: i32, take: i32 }\n"
    "@group(1) @binding(0) var<uniform> hs_call: hs_call_arguments;\n"
)
_EXCHANGE = re.compile(r"\bsubgroup[A-Z]\w*\(")
_UNPROVED = "diagnostic(off, subgroup_uniformity);\n"
"""The directive by which compilers accept exchanges between lanes under conditions that they cannot prove uniform.

An exchange requires that all lanes of the subgroup reach it.  They do, but the compiler Tint cannot prove it if a
condition depends on values that lanes have exchanged before.
"""
_GET = """\
fn {name}(i: i32) -> u32 {{
    return extractBits({load}, (u32(i) & {mask}u) * {bits}u, {bits}u);
}}
"""
_PUT = """\
fn {name}(i: i32, x: u32) {{
    let shift = (u32(i) & {mask}u) * {bits}u;
    atomicAnd(&{buffer}[u32(i) >> {log}u], ~({all}u << shift));
    atomicOr(&{buffer}[u32(i) >> {log}u], (x & {all}u) << shift);
}}
"""
_EXCHANGE_WORD = """\
fn {name}(i: i32, old: u32, y: u32) -> u32 {{
    var was = old;
    loop {{
        let made = atomicCompareExchangeWeak(&{buffer}[i], old, y);
        was = made.old_value;
        if made.exchanged || was != old {{ break; }}
    }}
    return was;
}}
"""
"""A compare-and-exchange that never fails spuriously; WGSL's function may, so a loop calls it again."""


@dataclass(slots=True)
class Module:
    """The declarations and kernels of a WGSL module.

    texts: the text of each declaration by name, in order.
    users: the kernels that use a declaration, by its name.
    kernels: the text of each kernel by name.
    reserved: the names that no declaration may have.
    """

    texts: dict[str, str] = field(default_factory=dict)
    users: dict[str, list[str]] = field(default_factory=dict)
    kernels: dict[str, str] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)

    def add(self, kernel: str, base: str, form: Callable[[str], str]) -> str:
        """Add a declaration that `kernel` uses, unless the module has an equal one, and return its name.

        base: the preferred name.  If a different declaration has this name, a number is appended.
        form: a function that takes a name and returns the text of the declaration.
        """
        number = 1
        while True:
            name = safe(base) if number == 1 else f"{base}_{number}"
            text = form(name)
            if self.texts.get(name) == text:
                break
            if name not in self.texts and name not in self.reserved:
                self.texts[name] = text
                break
            number += 1
        users = self.users.setdefault(name, [])
        users += [kernel] * (kernel not in users)
        return name


def translate(kernels: Mapping[str, str], groups: Mapping[str, int]) -> tuple[str, dict[str, str]]:
    """Return the WGSL text that several kernels share, and the WGSL text of each kernel.

    kernels: the C text of each kernel, with all declarations that the kernel uses.
    groups: the number of lanes in a work-group of each kernel.

    Raises:
        Unsupported: a text uses C beyond the subset.
    """
    module = Module(reserved={*kernels, CALL, "hs_call_arguments"})
    for name, text in kernels.items():
        try:
            if name in RESERVED:
                refuse(f"{name} is a reserved word of WGSL")
            _kernel(module, name, Builder(parsed(text)), groups[name])
        except Unsupported as e:
            e.kernel = name
            raise
    single: dict[str, list[str]] = {name: [] for name in kernels}
    exchanges = any(map(_EXCHANGE.search, [*module.texts.values(), *module.kernels.values()]))
    common = [_UNPROVED * exchanges + _CALL]
    for name, text in module.texts.items():
        users = module.users[name]
        (single[users[0]] if len(users) == 1 else common).append(text)
    return "".join(common), {n: "".join([*single[n], *("\n" * bool(single[n])), module.kernels[n]]) for n in kernels}


def _kernel(module: Module, name: str, builder: Builder, lanes: int) -> None:
    kernel = builder.scope.functions[name]
    share(kernel)
    names: dict[object, str] = {}
    for var in kernel.uses:
        _variable(module, name, builder.buffers, var, names)
    for function in builder.scope.functions.values():
        if function in _called(kernel):
            callee = Body(function, names)
            inner = callee.text()
            _constants(module, name, callee)
            names[function] = module.add(name, function.name, partial(_function, function, inner))
    body = Body(kernel, names)
    lines = body.text()
    _constants(module, name, body)
    for type_ in sorted(body.shared):
        shared_name = module.add(name, SHARED.format(type_), partial(_shared, type_))
        assert shared_name == SHARED.format(type_)
    inputs = [v.name for v in kernel.uses if v.space == "builtin"]
    if body.shared and "local_invocation_index" not in inputs:
        inputs.append("local_invocation_index")
    params = ", ".join(
        f"@builtin({x}) {x}: {'vec3<u32>' if x.endswith(('_id', 'groups')) and 'sub' not in x else 'u32'}"
        for x in inputs
    )
    head = f"@compute @workgroup_size({lanes})\nfn {name}({params}) {{\n"
    module.kernels[name] = head + "".join(f"    {x}\n" for x in lines) + "}\n"


def _constant(value: Const, name: str) -> str:
    return f"const {name}: {value.type} = {number(value.value, value.type)};\n"


def _shared(type_: str, name: str) -> str:
    return f"var<workgroup> {name}: {type_};\n"


def _constants(module: Module, kernel: str, body: Body) -> None:
    """Add declarations of the named constants that the statements of a printed body use."""
    for name, value in body.expression.constants.items():
        module.add(kernel, name, partial(_constant, value))


def _function(function: Function, lines: Sequence[str], name: str) -> str:
    """Return the text of a function; `lines` are the lines of its body."""
    head = signature(function, name)
    if len(lines) == 1 and len(lines[0]) < 100:
        return f"{head} {{ {lines[0]} }}\n"
    return f"{head} {{\n" + "".join(f"    {x}\n" for x in lines) + "}\n"


def _called(function: Function) -> list[Function]:
    """Return all functions that a function calls, directly or indirectly, callees before callers."""
    functions: list[Function] = []
    for callee in function.calls:
        functions += [f for f in (*_called(callee), callee) if f not in functions]
    return functions


def _variable(module: Module, kernel: str, buffers: Sequence[Var], var: Var, names: dict[object, str]) -> None:
    """Add the declaration of a module-scope variable, and store its name in the module in `names`."""
    if var.space == "private":
        names[var] = module.add(kernel, var.name, lambda name: f"var<private> {name}: {var.type};\n")
    elif var.space == "workgroup":
        type_ = f"atomic<{var.type}>" if var.atomic else var.type
        names[var] = module.add(kernel, var.name, lambda name: f"var<workgroup> {name}: array<{type_}, {var.count}>;\n")
    elif var.space == "storage":
        narrow = var.type in NARROW
        type_ = "u32" if narrow else var.type
        atomic = var.atomic or (narrow and var.written > 0)
        type_ = f"atomic<{type_}>" if atomic else type_
        access = "read" if var.read_only else "read_write"
        head = f"@group(0) @binding({buffers.index(var)}) var<storage, {access}> "
        names[var] = module.add(kernel, var.name, lambda name: f"{head}{name}: array<{type_}>;\n")
        if narrow:
            _accessors(module, kernel, var, atomic, names)
    if var.exchanged:
        form = partial(_EXCHANGE_WORD.format, buffer=names[var])
        names["exchange", var] = module.add(kernel, f"hs_exchange_{var.name}", lambda name: form(name=name))


def _accessors(module: Module, kernel: str, var: Var, atomic: bool, names: dict[object, str]) -> None:
    """Add the functions that load and store elements of 8 or 16 bits in the 32-bit words of a buffer."""
    bits, buffer = NARROW[var.type], names[var]
    mask, log, every = 32 // bits - 1, (32 // bits).bit_length() - 1, (1 << bits) - 1
    word = f"{buffer}[u32(i) >> {log}u]"
    load = f"atomicLoad(&{word})" if atomic else word
    values = {"mask": mask, "bits": bits, "log": log, "all": every, "load": load, "buffer": buffer}
    names["get", var] = module.add(kernel, f"hs_get_{var.name}", lambda name: _GET.format(name=name, **values))
    if atomic:
        names["put", var] = module.add(kernel, f"hs_put_{var.name}", lambda name: _PUT.format(name=name, **values))
