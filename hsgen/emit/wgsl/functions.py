"""The parser of C functions and statements, which returns typed trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hsgen.emit.wgsl import types
from hsgen.emit.wgsl.expressions import ATOMICS, Expressions, Words, split
from hsgen.emit.wgsl.reading import Remark, Text
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
    expressions,
    refuse,
    statements,
    walk,
)
from hsgen.emit.wgsl.types import converted
from hsgen.tree import nodes


def once(begin: list[Stmt], condition: Expr | None, step: list[Stmt], body: list[Stmt]) -> list[Stmt]:
    """Return the statements of a ``for`` loop without the loop around them, if the loop runs exactly once.

    Such a loop has a variable that is 1 at first and 0 after the iteration, as in ``for (int i = 0, once = 1; once !=
    0; once = 0)``.  For any other loop, return [].
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
    """Set the attributes `uses`, `calls` and `pure` of a function according to its body."""
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


_SPACES = {"extern": "storage", "static": "workgroup"}
_KINDS = (*_SPACES, "const")
"""The keywords that may precede the type of a declaration."""
_ASSIGNMENTS = {"=": "", **{f"{op}=": op for op in ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")}}
"""The arithmetic or bit operation of each assignment operator; "" for the plain ``=``."""


class Builder:
    """The result of parsing a whole C text, which the constructor does.

    scope: the scope with the functions of the text, in their order.
    buffers: the buffers that the text declares, in their order.
    """

    def __init__(self, text: Text) -> None:
        self.text = text
        self.scope = Scope(text.constants)
        self.expression = Expressions(self.scope)
        self.type = VOID
        self.buffers: list[Var] = []
        for statement in text.tree.body:
            self._at(statement)
            match statement:
                case nodes.Function(head=head, body=body):
                    self._function(head, body)
                case nodes.Plain(words=words):
                    self._globals(words)
                case _:
                    refuse(f"{type(statement).__name__} outside of functions", self.line)

    @property
    def line(self) -> int:
        """The line of the current statement."""
        return self.expression.line

    def _at(self, statement: nodes.Statement) -> None:
        self.expression.line = self.text.lines[id(statement)]

    def _declared(self, words: Words) -> tuple[str, set[str], list[list[nodes.Word]]]:
        """Return the type of a declaration, the keywords before the type, and the words of each declared variable.

        If `words` are no declaration, the type is "".
        """
        kinds = [w.text for w in words[:2] if isinstance(w, nodes.Token) and w.text in _KINDS]
        rest = words[len(kinds) :]
        for count in (2, 1):
            if len(rest) > count and (type_ := self.scope.named(rest[:count])):
                return type_, set(kinds), split(rest[count:], ",")
        if kinds or (len(rest) > 1 and is_name(rest[0]) and (isinstance(rest[1], nodes.Element) or is_name(rest[1]))):
            refuse("a type that is not translated", self.line)
        return "", set(), []

    def _variable(self, words: Words, type_: str, space: str, kinds: set[str]) -> tuple[Var, list[nodes.Word]]:
        """Return a declared variable, and the words of its initial value.

        words: the name, and for an array the size, then ``=`` and the initial value if there is one.
        space, kinds: `Var.space`, and the keywords before the type.
        """
        name, count, value = (words[0] if words else None), None, list(words[2:])
        if isinstance(name, nodes.Element):
            index, name = name.index.words, name.name
            count = self._size(index) if index else 0
        if not isinstance(name, nodes.Token) or not name.text.isidentifier() or (len(words) > 1 and not value):
            refuse("a type that is not translated" if not is_name(name) else "Invalid expression", self.line)
        return Var(name.text, type_, space, count, read_only=space == "storage" and "const" in kinds), value

    def _size(self, words: Words) -> int:
        match self.expression(words):
            case Const(type="i32" | "u32", value=size):
                return size
        refuse("the size of an array is not constant", self.line)

    def _globals(self, words: Words) -> None:
        if not words:
            return
        type_, kinds, listed = self._declared(words)
        if not type_:
            refuse("a statement outside of functions", self.line)
        space = next((_SPACES[kind] for kind in kinds if kind in _SPACES), "private")
        for each in listed:
            var = self.scope.add(self._variable(each, type_, space, kinds)[0], self.line)
            self.buffers += [var] if space == "storage" else []

    def _function(self, head: Words, block: nodes.Block) -> None:
        *words, call = head
        assert isinstance(call, nodes.Call)
        self.type = self.scope.named(words) or refuse("a type that is not translated", self.line)
        self.scope.levels.append({})
        params = []
        declarations = split(call.arguments.words, ",") if self.scope.named(call.arguments.words) != VOID else []
        for each in declarations if call.arguments.words else []:
            type_, kinds, listed = self._declared(each)
            if not type_ or len(listed) != 1:
                refuse("a type that is not translated", self.line)
            params.append(self.scope.add(self._variable(listed[0], type_, "parameter", kinds)[0], self.line))
        body = self._block(block)
        self.scope.levels.pop()
        function = Function(call.name.text, self.type, params, body)
        survey(function)
        self.scope.functions[function.name] = function

    def _block(self, block: nodes.Block) -> list[Stmt]:
        out = [s for inner in block.body for s in self._statement(inner)]
        return out + self._notes(self.text.ends.get(id(block), ()))

    def _notes(self, remarks: Sequence[Remark]) -> list[Stmt]:
        return [Note(self.line, x.text, x.trailing) for x in remarks if x.text]

    def _scoped(self, statement: nodes.Statement | None) -> list[Stmt]:
        """Return the statements of the body of a branch or a loop, which has a scope of its own."""
        self.scope.levels.append({})
        out: list[Stmt] = []
        if isinstance(statement, nodes.Block):
            out = [*self._notes(self.text.remarks[id(statement)]), *self._block(statement)]
        elif statement is not None:
            out = self._statement(statement)
        self.scope.levels.pop()
        return out

    def _statement(self, statement: nodes.Statement) -> list[Stmt]:
        self._at(statement)
        notes = self._notes(self.text.remarks[id(statement)])
        match statement:
            case nodes.Plain(words=words):
                return [*notes, *self._plain(words)]
            case nodes.Block():
                self.scope.levels.append({})
                body = self._block(statement)
                self.scope.levels.pop()
                return [*notes, *([Block(self.line, body)] if body else [])]
            case nodes.If():
                return [*notes, *self._if(statement)]
            case nodes.Loop(word=nodes.Token(text="for")):
                return [*notes, *self._for(statement)]
            case nodes.Loop(head=head, body=inner):
                line, condition = self.line, self.expression.condition(head.words)
                return [*notes, Loop(line, [], condition, [], self._scoped(inner))]
            case nodes.Repeat(body=inner, condition=group):
                line, condition = self.line, self.expression.condition(group.words)
                return [*notes, Loop(line, [], condition, [], self._scoped(inner), first=False)]
        refuse(f"the statement {type(statement).__name__} is not translated", self.line)

    def _plain(self, words: Words) -> list[Stmt]:
        match words:
            case []:
                return []
            case [nodes.Token(text="return"), *value]:
                return [Return(self.line, converted(self.expression(value), self.type, self.line) if value else None)]
            case [nodes.Token(text="break" | "continue" as word)]:
                return [Leave(self.line, word)]
            case [nodes.Token(text="goto" | "switch" | "case" | "default" as word), *_] | [
                nodes.Call(name=nodes.Token(text="switch" as word)),
                *_,
            ]:
                refuse(f"the statement {word.capitalize()} is not translated", self.line)
        type_, kinds, listed = self._declared(words)
        if type_:
            return [self._declare(each, type_, kinds) for each in listed]
        return [s for each in split(words, ",") for s in self._evaluated(each)]

    def _declare(self, words: Words, type_: str, kinds: set[str]) -> Stmt:
        var, words = self._variable(words, type_, "function", kinds)
        value = converted(self.expression(words), type_, self.line) if words else None
        return Declare(self.line, self.scope.add(var, self.line), value)

    def _evaluated(self, words: Words) -> list[Stmt]:
        """Return the statements of an assignment, an increment, a decrement or a call."""
        at = next((i for i, w in enumerate(words) if isinstance(w, nodes.Token) and w.text in _ASSIGNMENTS), None)
        if at is not None:
            return self._assignment(words, at)
        match words:
            case [nodes.Token(text="++" | "--" as op), *target] | [*target, nodes.Token(text="++" | "--" as op)]:
                place = self.expression(target)
                return self._assigned(place, op[0], Const(I32 if place.type == I32 else U32, 1))
        call = self.expression(words)
        if not isinstance(call, Call):
            refuse("a value without use", self.line)
        return [Evaluate(self.line, call)]

    def _assignment(self, words: Words, at: int) -> list[Stmt]:
        operator = words[at]
        assert isinstance(operator, nodes.Token)
        target, op, rest = self.expression(words[:at]), _ASSIGNMENTS[operator.text], words[at + 1 :]
        if not any(isinstance(w, nodes.Token) and w.text in _ASSIGNMENTS for w in rest):
            return self._assigned(target, op, self.expression(rest))
        first = self._evaluated(rest)
        inner = first[-1]
        if not isinstance(inner, Assign) or inner.op or any(isinstance(e, Call) for e in walk(inner.value)):
            refuse("a chain of assignments of more than a plain value", self.line)
        return [*first, *self._assigned(target, op, inner.value)]

    def _assigned(self, target: Expr, op: str, value: Expr) -> list[Stmt]:
        root, line = target, self.line
        while isinstance(root, Member):
            root = root.of
        if not isinstance(root, (Name, Element)) or root.var.space in ("uniform", "builtin"):
            refuse("an assignment to something other than a variable", line)
        root.var.written += 1
        if op and op not in ("<<", ">>", "+", "-", "*", "&", "|", "^") and value.type != target.type:
            value, op = types.binary(op, target, value, line), ""
        type_ = U32 if op in ("<<", ">>") else target.type
        return [Assign(line, target, op, converted(value, type_, line))]

    def _if(self, statement: nodes.If) -> list[Stmt]:
        line, condition = self.line, self.expression.condition(statement.condition.words)
        yes, no = self._scoped(statement.yes), self._scoped(statement.no)
        if isinstance(condition, Const):
            branch = yes if condition.value else no
            return [Block(line, branch)] if branch else []
        return [If(line, condition, yes, no)]

    def _for(self, statement: nodes.Loop) -> list[Stmt]:
        line, head = self.line, split(statement.head.words, ";")
        if len(head) != 3:
            refuse("a loop without three parts", line)
        self.scope.levels.append({})
        begin = self._plain(head[0])
        condition = self.expression.condition(head[1]) if head[1] else None
        step = self._plain(head[2])
        body = self._scoped(statement.body)
        self.scope.levels.pop()
        return once(begin, condition, step, body) or [Loop(line, begin, condition, step, body)]
