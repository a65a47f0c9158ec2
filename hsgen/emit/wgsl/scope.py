"""Names in scope, and the types that declarations give."""

from __future__ import annotations

from typing import Any

from hsgen.emit.wgsl.tree import I32, U32, Function, Var, refuse
from hsgen.emit.wgsl.types import TYPES

BUILTINS = {
    "local_invocation_index": U32,
    "workgroup_id": "vec3<u32>",
    "num_workgroups": "vec3<u32>",
    "subgroup_invocation_id": U32,
    "subgroup_size": U32,
}
"""Inputs of a kernel by the names of WGSL."""

CALL = "hs_call"
"""The uniform buffer with the arguments of a launch, and the name of its type here."""


class Scope:
    """The variables and functions that a text may name."""

    def __init__(self) -> None:
        self.levels: list[dict[str, Var]] = [{name: Var(name, t, "builtin") for name, t in BUILTINS.items()}]
        self.levels[0][CALL] = Var(CALL, CALL, "uniform")
        self.levels.append({})
        self.functions: dict[str, Function] = {}

    def find(self, name: str, line: int) -> Var:
        """Return a variable.

        Raises:
            Unsupported: it is not in scope.
        """
        for level in reversed(self.levels):
            if name in level:
                return level[name]
        refuse(f"the name {name} is not known", line)

    def add(self, var: Var, line: int) -> Var:
        """Declare a variable in the innermost scope."""
        if var.name in self.levels[-1]:
            refuse(f"{var.name} is declared twice", line)
        self.levels[-1][var.name] = var
        return var

    def type_of(self, node: Any, line: int) -> str:
        """Return the type that a syntax node names."""
        names = getattr(getattr(node, "type", None), "names", None)
        if type(node).__name__ != "TypeDecl" or names is None or " ".join(names) not in TYPES:
            refuse("a type that is not translated", line)
        return TYPES[" ".join(names)]

    def declared(self, node: Any, space: str, line: int) -> Var:
        """Return the variable of a declaration, an array of constant size or not."""
        type_, count = node.type, None
        if type(type_).__name__ == "ArrayDecl":
            count = 0 if type_.dim is None else self._size(type_.dim, line)
            type_ = type_.type
        read_only = space == "storage" and "const" in node.quals
        return Var(node.name, self.type_of(type_, line), space, count, read_only=read_only)

    def _size(self, node: Any, line: int) -> int:
        from hsgen.emit.wgsl.expressions import Expressions
        from hsgen.emit.wgsl.tree import Const

        size = Expressions(self)(node)
        if not isinstance(size, Const) or size.type not in (I32, U32):
            refuse("the size of an array is not constant", line)
        return size.value
