"""Facts about functions and loops in the typed tree."""

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
    """Return the statements of a loop that runs exactly once, without the loop; [] for other loops.

    The loop has a variable that is 1 before the only iteration and 0 after it.
    """
    match begin, step:
        case [*earlier, Declare(var=var, value=Const(value=1))], [
            Assign(target=Name(var=target), op="", value=Const(value=0))
        ]:
            used = sum(
                isinstance(e, Name) and e.var is var for s in statements(body) for x in expressions(s) for e in walk(x)
            )
            leaves = any(isinstance(s, Leave) for s in statements(body))
            if var is target and condition is not None and not used and not leaves:
                return [Block(begin[0].line, [*earlier, *body])]
    return []


def survey(function: Function) -> None:
    """Record the variables that a function uses, the functions that it calls, and whether it is pure."""
    local = {id(p) for p in function.params}
    local |= {id(s.var) for s in statements(function.body) if isinstance(s, Declare)}
    for stmt in statements(function.body):
        for expr in (e for x in expressions(stmt) for e in walk(x)):
            if isinstance(expr, (Name, Element)) and id(expr.var) not in local and expr.var not in function.uses:
                function.uses.append(expr.var)
                function.pure &= expr.var.space not in ("storage",)
            if isinstance(expr, Call) and expr.function is not None:
                function.pure &= expr.function.pure
                function.calls += [expr.function] * (expr.function not in function.calls)
                function.uses += [v for v in expr.function.uses if v not in function.uses]
            elif isinstance(expr, Call) and (expr.name in ATOMICS or expr.type == VOID):
                function.pure = False
        if isinstance(stmt, Assign):
            root: Any = stmt.target
            while isinstance(root, Member):
                root = root.of
            function.pure &= id(root.var) in local


def is_name(word: nodes.Word | None) -> bool:
    """Whether a word is a single name."""
    return isinstance(word, nodes.Token) and word.text.isidentifier()
