"""Functions that walk through expressions and statements."""

from __future__ import annotations

from collections.abc import Iterator

from hsgen.emit.wgsl.tree import Assign, Block, Declare, Evaluate, Expr, If, Loop, Return, Stmt


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield an expression and all expressions within it."""
    yield expr
    for part in expr.parts():
        yield from walk(part)


def inside(stmt: Stmt) -> list[list[Stmt]]:
    """Return the lists of statements directly within a statement."""
    match stmt:
        case Block(body=body):
            return [body]
        case If(yes=yes, no=no):
            return [yes, no]
        case Loop(begin=begin, step=step, body=body):
            return [begin, body, step]
    return []


def statements(body: list[Stmt]) -> Iterator[Stmt]:
    """Yield all statements, including inner statements."""
    for stmt in body:
        yield stmt
        for part in inside(stmt):
            yield from statements(part)


def expressions(stmt: Stmt) -> list[Expr]:
    """Return the expressions of a statement, without those of inner statements."""
    match stmt:
        case Declare(value=value) | Return(value=value):
            return [] if value is None else [value]
        case Assign(target=target, value=value):
            return [target, value]
        case Evaluate(call=call):
            return [call]
        case If(condition=condition):
            return [condition]
        case Loop(condition=condition):
            return [] if condition is None else [condition]
    return []
