"""The scopes of a C text: the visible names with their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hsgen.emit.wgsl.tree import U32, Function, Var, refuse
from hsgen.emit.wgsl.types import TYPES
from hsgen.tree.nodes import Token, Word

BUILTINS = {
    "local_invocation_index": U32,
    "workgroup_id": "vec3<u32>",
    "num_workgroups": "vec3<u32>",
    "subgroup_invocation_id": U32,
    "subgroup_size": U32,
}
"""The built-in inputs of a WGSL kernel, each with its type."""

CALL = "hs_call"
"""The name of the uniform buffer with the arguments of a launch, and of its type within this package."""


class Scope:
    """The variables, functions and constants that a C text can use at the current statement.

    constants: the text of the number of each named constant.
    levels: the variables of each nested scope by name, the innermost scope last.
    """

    def __init__(self, constants: Mapping[str, str]) -> None:
        self.constants = constants
        self.levels: list[dict[str, Var]] = [{name: Var(name, t, "builtin") for name, t in BUILTINS.items()}]
        self.levels[0][CALL] = Var(CALL, CALL, "uniform")
        self.levels.append({})
        self.functions: dict[str, Function] = {}

    def find(self, name: str, line: int) -> Var:
        """Return the variable with this name.

        Raises:
            Unsupported: no such variable is in scope.
        """
        for level in reversed(self.levels):
            if name in level:
                return level[name]
        refuse(f"the name {name} is not known", line)

    def add(self, var: Var, line: int) -> Var:
        """Add a variable to the innermost scope, and return it."""
        if var.name in self.levels[-1]:
            refuse(f"{var.name} is declared twice", line)
        self.levels[-1][var.name] = var
        return var

    def named(self, words: Sequence[Word]) -> str:
        """Return the WGSL type for the C type that `words` name; "" if they name no type."""
        names = [w.text for w in words if isinstance(w, Token)]
        return TYPES.get(" ".join(names), "") if names and len(names) == len(words) else ""
