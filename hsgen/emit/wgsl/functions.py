"""Functions and statements of C as typed trees."""

from __future__ import annotations

from typing import Any

from hsgen.emit.wgsl import types
from hsgen.emit.wgsl.expressions import ATOMICS, Expressions, line_of
from hsgen.emit.wgsl.reading import MARK
from hsgen.emit.wgsl.scope import Scope
from hsgen.emit.wgsl.tree import (
    I32,
    U32,
    VOID,
    Assign,
    Block,
    Call,
    Const,
    Declare,
    Element,
    Evaluate,
    Expr,
    Function,
    If,
    Leave,
    Loop,
    Member,
    Name,
    Note,
    Return,
    Stmt,
    Var,
    refuse,
)
from hsgen.emit.wgsl.types import converted
from hsgen.emit.wgsl.walking import expressions, statements, walk

_SPACES = {"extern": "storage", "static": "workgroup"}


class Builder:
    """The functions of a C text, in its order."""

    def __init__(self, tree: Any) -> None:
        self.scope = Scope()
        self.expression = Expressions(self.scope)
        self.type = VOID
        self.buffers: list[Var] = []
        for node in tree.ext:
            kind = type(node).__name__
            if kind == "Decl":
                self._global(node)
            elif kind == "FuncDef":
                self._function(node)
            elif kind not in ("Typedef", "Pragma"):
                refuse(f"{kind} outside of functions", line_of(node))

    def _global(self, node: Any) -> None:
        line = line_of(node)
        space = _SPACES[node.storage[0]] if node.storage else "private"
        var = self.scope.add(self.scope.declared(node, space, line), line)
        self.buffers += [var] if space == "storage" else []

    def _function(self, node: Any) -> None:
        kind, line = node.decl.type, line_of(node.decl)
        self.type = self.scope.type_of(kind.type, line)
        self.scope.levels.append({})
        params = []
        for p in kind.args.params if kind.args else ():
            if p.name is not None:  # (void)
                params.append(self.scope.add(self.scope.declared(p, "parameter", line), line))
        body = self._list(node.body.block_items or ())
        self.scope.levels.pop()
        made = Function(node.decl.name, self.type, params, body)
        _survey(made)
        self.scope.functions[made.name] = made

    def _list(self, nodes: Any) -> list[Stmt]:
        return [s for node in nodes for s in self._statement(node)]

    def _scoped(self, node: Any) -> list[Stmt]:
        """The statements of a branch or a loop, in a scope of their own."""
        self.scope.levels.append({})
        if node is None:
            made = []
        elif type(node).__name__ == "Compound":
            made = self._list(node.block_items or ())
        else:
            made = self._statement(node)
        self.scope.levels.pop()
        return made

    def _statement(self, node: Any) -> list[Stmt]:
        made = getattr(self, f"_{type(node).__name__.lower()}", None)
        if made is None:
            refuse(f"the statement {type(node).__name__} is not translated", line_of(node))
        found: list[Stmt] = made(node)
        return found

    def _compound(self, node: Any) -> list[Stmt]:
        body = self._scoped(node)
        return [Block(line_of(node), body)] if body else []

    def _emptystatement(self, node: Any) -> list[Stmt]:
        return []

    def _decl(self, node: Any) -> list[Stmt]:
        line = line_of(node)
        value = None if node.init is None else self.expression(node.init)
        var = self.scope.add(self.scope.declared(node, "function", line), line)
        if value is not None:
            value = converted(value, var.type, line)
        return [Declare(line, var, value)]

    def _decllist(self, node: Any) -> list[Stmt]:
        return self._list(node.decls)

    def _assignment(self, node: Any) -> list[Stmt]:
        line, target = line_of(node), self.expression(node.lvalue)
        if type(node.rvalue).__name__ != "Assignment":
            return self._assigned(target, node.op[:-1], self.expression(node.rvalue), line)
        first = self._assignment(node.rvalue)
        inner = first[-1]
        if not isinstance(inner, Assign) or inner.op or any(isinstance(e, Call) for e in walk(inner.value)):
            refuse("a chain of assignments of more than a plain value", line)
        return [*first, *self._assigned(target, node.op[:-1], inner.value, line)]

    def _assigned(self, target: Expr, op: str, value: Expr, line: int) -> list[Stmt]:
        root = target
        while isinstance(root, Member):
            root = root.of
        if not isinstance(root, (Name, Element)) or root.var.space in ("uniform", "builtin"):
            refuse("an assignment to something other than a variable", line)
        root.var.written += 1
        if op and op not in ("<<", ">>", "+", "-", "*", "&", "|", "^") and value.type != target.type:
            value, op = types.binary(op, target, value, line), ""
        wanted = U32 if op in ("<<", ">>") else target.type
        return [Assign(line, target, op, converted(value, wanted, line))]

    def _unaryop(self, node: Any) -> list[Stmt]:
        if node.op not in ("++", "p++", "--", "p--"):
            refuse(f"{node.op} as a statement", line_of(node))
        target = self.expression(node.expr)
        one = Const(I32 if target.type == I32 else U32, 1)
        return self._assigned(target, "+" if "+" in node.op else "-", one, line_of(node))

    def _exprlist(self, node: Any) -> list[Stmt]:
        return self._list(node.exprs)

    def _funccall(self, node: Any) -> list[Stmt]:
        if node.name.name == MARK:
            trailing, text = node.args.exprs
            return [Note(line_of(node), text.value[1:-1], trailing.value == "1")]
        call = self.expression(node)
        if not isinstance(call, Call):
            refuse("a value without use", line_of(node))
        return [Evaluate(line_of(node), call)]

    def _if(self, node: Any) -> list[Stmt]:
        condition = self.expression.condition(node.cond)
        yes, no = self._scoped(node.iftrue), self._scoped(node.iffalse)
        if isinstance(condition, Const):
            kept = yes if condition.value else no
            return [Block(line_of(node), kept)] if kept else []
        return [If(line_of(node), condition, yes, no)]

    def _for(self, node: Any) -> list[Stmt]:
        self.scope.levels.append({})
        begin = self._statement(node.init) if node.init is not None else []
        condition = self.expression.condition(node.cond) if node.cond is not None else None
        step = self._statement(node.next) if node.next is not None else []
        body = self._scoped(node.stmt)
        self.scope.levels.pop()
        return _once(begin, condition, step, body) or [Loop(line_of(node), begin, condition, step, body)]

    def _while(self, node: Any) -> list[Stmt]:
        return [Loop(line_of(node), [], self.expression.condition(node.cond), [], self._scoped(node.stmt))]

    def _dowhile(self, node: Any) -> list[Stmt]:
        condition = self.expression.condition(node.cond)
        return [Loop(line_of(node), [], condition, [], self._scoped(node.stmt), first=False)]

    def _break(self, node: Any) -> list[Stmt]:
        return [Leave(line_of(node), "break")]

    def _continue(self, node: Any) -> list[Stmt]:
        return [Leave(line_of(node), "continue")]

    def _return(self, node: Any) -> list[Stmt]:
        value = None if node.expr is None else converted(self.expression(node.expr), self.type, line_of(node))
        return [Return(line_of(node), value)]


def _once(begin: list[Stmt], condition: Expr | None, step: list[Stmt], body: list[Stmt]) -> list[Stmt]:
    """The statements of a loop with a variable for a single iteration, without the loop; none for other loops."""
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


def _survey(made: Function) -> None:
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
