"""Expressions of C as typed trees."""

from __future__ import annotations

from typing import Any

from hsgen.emit.wgsl import types
from hsgen.emit.wgsl.scope import Scope
from hsgen.emit.wgsl.tree import (
    BOOL,
    I32,
    NARROW,
    U32,
    VECTORS,
    VOID,
    Call,
    Choice,
    Const,
    Element,
    Expr,
    Member,
    Name,
    Unary,
    refuse,
)
from hsgen.emit.wgsl.types import converted, folded

SAME = "same"
"""The type of the first argument."""
PREDECLARED: dict[str, tuple[str, tuple[str, ...]]] = {
    "vec2u": ("vec2<u32>", (U32,) * 2),
    "vec3u": ("vec3<u32>", (U32,) * 3),
    "vec4u": ("vec4<u32>", (U32,) * 4),
    "countOneBits": (U32, (U32,)),
    "workgroupBarrier": (VOID, ()),
    "storageBarrier": (VOID, ()),
    "subgroupBarrier": (VOID, ()),
    "subgroupShuffleXor": (SAME, (SAME, U32)),
    "subgroupShuffle": (SAME, (SAME, U32)),
    "subgroupBallot": ("vec4<u32>", (BOOL,)),
    "float_of_bits": ("f32", (U32,)),
    "bits_of_float": (U32, ("f32",)),
}
"""Functions that WGSL predeclares, and conversions between floats and their bits: the type, and those of arguments."""
ATOMICS = {
    "atomicAdd": 2,
    "atomicOr": 2,
    "atomicAnd": 2,
    "atomicMax": 2,
    "atomicMin": 2,
    "atomicLoad": 1,
    "atomicStore": 2,
    "atomicCompareExchange": 3,
}
"""Atomic functions with the number of their arguments: those of WGSL, and a comparison that exchanges whenever it is
equal, for which WGSL needs a loop."""


def line_of(node: Any) -> int:
    """Return the line of a node in the C text; 0 if unknown."""
    return getattr(node.coord, "line", 0) or 0


class Expressions:
    """Makes expressions in a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def __call__(self, node: Any) -> Expr:
        """Return the expression of a syntax node.

        Raises:
            Unsupported: it is not in the subset.
        """
        made = getattr(self, f"_{type(node).__name__.lower()}", None)
        if made is None:
            refuse(f"the expression {type(node).__name__} is not translated", line_of(node))
        found: Expr = made(node)
        return found

    def condition(self, node: Any) -> Expr:
        """Return a truth value."""
        return converted(self(node), BOOL, line_of(node))

    def _constant(self, node: Any) -> Expr:
        if node.type not in ("int", "unsigned int"):
            refuse(f"{node.value}: only numbers are translated", line_of(node))
        text = node.value.lower().rstrip("ul")
        value = int(text, 0) if text.startswith("0x") else int(text)
        type_ = U32 if "u" in node.value.lower() or value >= 1 << 31 else I32
        return Const(type_, types.wrapped(value, type_))

    def _id(self, node: Any) -> Expr:
        if node.name in ("true", "false"):
            return Const(BOOL, int(node.name == "true"))
        var = self.scope.find(node.name, line_of(node))
        return Name(var.type, var)

    def _arrayref(self, node: Any) -> Expr:
        if type(node.name).__name__ != "ID":
            refuse("only elements of named arrays are translated", line_of(node))
        var = self.scope.find(node.name.name, line_of(node))
        index = self(node.subscript)
        if var.count is None or index.type not in (I32, U32):
            refuse(f"{var.name}: not an element of an array", line_of(node))
        return Element(U32 if var.type in NARROW else var.type, var, index)

    def _structref(self, node: Any) -> Expr:
        of, name = self(node.name), node.field.name
        if of.type == "hs_call":
            return Member(I32, of, name)
        if of.type not in VECTORS or any(c not in "xyzw"[: VECTORS[of.type]] for c in name):
            refuse(f"{of.type} has no member {name}", line_of(node))
        return Member(U32 if len(name) == 1 else f"vec{len(name)}<u32>", of, name)

    def _cast(self, node: Any) -> Expr:
        type_ = self.scope.type_of(node.to_type.type, line_of(node))
        made = converted(self(node.expr), type_, line_of(node))
        return made

    def _unaryop(self, node: Any) -> Expr:
        of = self(node.expr)
        if node.op == "!":
            return folded(Unary(BOOL, "!", converted(of, BOOL, line_of(node))))
        if node.op == "+":
            return of
        if node.op not in ("-", "~"):
            refuse(f"{node.op} is translated only as a statement", line_of(node))
        of = converted(of, I32, line_of(node)) if of.type == BOOL else of
        if node.op == "-" and of.type == U32:
            return types.binary("-", Const(U32, 0), of, line_of(node))
        return folded(Unary(of.type, node.op, of))

    def _binaryop(self, node: Any) -> Expr:
        return types.binary(node.op, self(node.left), self(node.right), line_of(node))

    def _ternaryop(self, node: Any) -> Expr:
        condition, yes, no = self.condition(node.cond), self(node.iftrue), self(node.iffalse)
        if not yes.type == no.type == BOOL:
            yes, no = types.common(yes, no, line_of(node))
        return folded(Choice(yes.type, condition, yes, no))

    def _funccall(self, node: Any) -> Expr:
        name, line = node.name.name, line_of(node)
        args = [self(x) for x in (node.args.exprs if node.args else ())]
        if name in ATOMICS:
            return self._atomic(name, args, line)
        function = self.scope.functions.get(name)
        if function is not None:
            wanted, type_ = tuple(p.type for p in function.params), function.type
        elif name in ("min", "max") and len(args) == 2:
            args = list(types.common(args[0], args[1], line))
            wanted, type_ = (args[0].type,) * 2, args[0].type
        elif name in PREDECLARED:
            type_, wanted = PREDECLARED[name]
            first = args[0].type if args else VOID
            wanted = tuple(first if w == SAME else w for w in wanted)
            type_ = first if type_ == SAME else type_
        else:
            refuse(f"the function {name} is not known", line)
        if len(args) != len(wanted):
            refuse(f"{name} takes {len(wanted)} arguments, not {len(args)}", line)
        given = tuple(x if x.type == w else converted(x, w, line) for x, w in zip(args, wanted, strict=True))
        made = Call(type_, name, given, function)
        return converted(made, I32, line) if name == "countOneBits" else made

    def _atomic(self, name: str, args: list[Expr], line: int) -> Expr:
        if len(args) != ATOMICS[name] or not isinstance(args[0], Element) or args[0].type != U32:
            refuse(f"{name} takes a word of an array, and {ATOMICS[name] - 1} more arguments", line)
        args[0].var.atomic = True
        args[0].var.exchanged |= name == "atomicCompareExchange"
        given = (args[0], *(converted(x, U32, line) for x in args[1:]))
        return Call(VOID if name == "atomicStore" else U32, name, given)
