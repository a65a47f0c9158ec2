"""Facts about functions and loops of the typed tree."""

from __future__ import annotations

from typing import Any

from hsgen.emit.wgsl.expressions import ATOMICS
from hsgen.emit.wgsl.tree import (
    VOID,
    Assign,
    Block,
    Call,
    Const,
    Declare,
    Element,
    Expr,
    Function,
    Leave,
    Member,
    Name,
    Stmt,
)
from hsgen.emit.wgsl.walking import expressions, statements, walk
from hsgen.tree import nodes


def once(begin: list[Stmt], condition: Expr | None, step: list[Stmt], body: list[Stmt]) -> list[Stmt]:
    """Return the statements of a loop with a variable for a single iteration, without the loop; [] for other loops."""
    match begin, step:
        case [*kept, Declare(var=var, value=Const(value=1))], [
            Assign(target=Name(var=other), op="", value=Const(value=0))
        ]:
            used = sum(
                isinstance(e, Name) and e.var is var for s in statements(body) for x in expressions(s) for e in walk(x)
            )
            leaves = any(isinstance(s, Leave) for s in statements(body))
            if var is other and condition is not None and not used and not leaves:
                return [Block(begin[0].line, [*kept, *body])]
    return []


def survey(made: Function) -> None:
    """Record what a function uses and calls, and whether it is pure."""
    own = {id(p) for p in made.params}
    own |= {id(s.var) for s in statements(made.body) if isinstance(s, Declare)}
    for stmt in statements(made.body):
        for expr in (e for x in expressions(stmt) for e in walk(x)):
            if isinstance(expr, (Name, Element)) and id(expr.var) not in own and expr.var not in made.uses:
                made.uses.append(expr.var)
                made.pure &= expr.var.space not in ("storage",)
            if isinstance(expr, Call) and expr.function is not None:
                made.pure &= expr.function.pure
                made.calls += [expr.function] * (expr.function not in made.calls)
                made.uses += [v for v in expr.function.uses if v not in made.uses]
            elif isinstance(expr, Call) and (expr.name in ATOMICS or expr.type == VOID):
                made.pure = False
        if isinstance(stmt, Assign):
            root: Any = stmt.target
            while isinstance(root, Member):
                root = root.of
            made.pure &= id(root.var) in own


def is_name(word: nodes.Word | None) -> bool:
    """Return whether a word is a name alone."""
    return isinstance(word, nodes.Token) and word.text.isidentifier()
