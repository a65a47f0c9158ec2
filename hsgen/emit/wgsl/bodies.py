"""The printer of statements and functions as WGSL text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from hsgen.emit.wgsl.printing import Printer, heavy, safe
from hsgen.emit.wgsl.tree import (
    I32,
    NARROW,
    U32,
    VOID,
    Assign,
    Binary,
    Block,
    Choice,
    Const,
    Declare,
    Element,
    Evaluate,
    Expr,
    Function,
    If,
    Leave,
    Loop,
    Name,
    Note,
    Return,
    Stmt,
    Unary,
    expressions,
    statements,
    walk,
)
from hsgen.emit.wgsl.types import folded

SHARED = "hs_shared_{}"
"""The name of the variable in local memory through which a lane broadcasts a value of the type `{}`."""


class Body:
    """A printer of the statements of a function.

    names: the names in the WGSL module of module-scope variables, of their access functions, and of functions.
    """

    def __init__(self, function: Function, names: Mapping[object, str]) -> None:
        self.function = function
        self.expression = Printer(names)
        self.names = names
        used = {
            e.var
            for s in statements(function.body)
            for x in expressions(s)
            for e in walk(x)
            if isinstance(e, (Name, Element))
        }
        self.used = used
        self.shared: set[str] = set()
        """The types of the values that the function broadcasts."""

    def text(self) -> list[str]:
        """Return the lines of the body."""
        copies = [f"var {safe(p.name)} = {safe(p.name)}_;" for p in self.function.params if p.written]
        return [*copies, *self._list(self.function.body)]

    def _list(self, body: list[Stmt]) -> list[str]:
        out: list[str] = []
        start = 0  # the index in `out` of the first line of the preceding statement
        for stmt in body:
            if isinstance(stmt, Note) and stmt.trailing and out and len(out) == start + 1:
                out[-1] += f" // {stmt.text}"
                continue
            if isinstance(stmt, Note) and stmt.trailing:
                out.insert(start, f"// {stmt.text}")
                continue
            start = len(out)
            out += self._statement(stmt)
        return out

    def _inner(self, body: list[Stmt]) -> list[str]:
        return [f"    {x}" for x in self._list(body)]

    def _take(self) -> list[str]:
        """Return the lines that must precede the expression printed last, and clear the list in the printer."""
        lines, self.expression.before = self.expression.before, []
        return lines

    def _statement(self, stmt: Stmt) -> list[str]:
        match stmt:
            case Declare():
                return self._declare(stmt)
            case Assign():
                text = self.assignment(stmt)
                return [*self._take(), f"{text};"]
            case Evaluate(call=call):
                text = self.expression(call)
                return [*self._take(), f"{text};"]
            case Block(body=body):
                return ["{", *self._inner(body), "}"]
            case If():
                return self._if(stmt)
            case Loop():
                return self._loop(stmt)
            case Leave(word=word):
                return [f"{word};"]
            case Return(value=value):
                text = "" if value is None else f" {self.expression(value)}"
                return [*self._take(), f"return{text};"]
            case Note(text=text):
                return [f"// {text}"]
        raise AssertionError(stmt)

    def _declare(self, stmt: Declare) -> list[str]:
        var, value = stmt.var, stmt.value
        if var not in self.used and not var.written and (value is None or not heavy(value)):
            return []
        name = safe(var.name)
        if value is None:
            type_ = var.type if var.count is None else f"array<{var.type}, {var.count}>"
            return [f"var {name}: {type_};"]
        if stmt.shared:
            return self._broadcast(value, var.type, lambda text: f"let {name} = {text};")
        if isinstance(value, Choice) and (heavy(value.yes) or heavy(value.no)):
            return [f"var {name}: {var.type};", *self._choose(name, value)]
        text = self.expression(value)
        plain = isinstance(value, (Const, Unary, Choice))
        return [*self._take(), f"{'var' if var.written else 'let'} {name}{f': {var.type}' if plain else ''} = {text};"]

    def _choose(self, name: str, value: Choice) -> list[str]:
        """Return an ``if`` that assigns the value of a conditional expression to the variable `name`."""
        condition = self.expression(value.condition)
        lines = [*self._take(), f"if {condition} {{"]
        lines += [f"    {x}" for x in self._store(name, value.yes)] + ["} else {"]
        return [*lines, *(f"    {x}" for x in self._store(name, value.no)), "}"]

    def _store(self, name: str, value: Expr) -> list[str]:
        if isinstance(value, Choice) and (heavy(value.yes) or heavy(value.no)):
            return self._choose(name, value)
        text = self.expression(value)
        return [*self._take(), f"{name} = {text};"]

    def _broadcast(self, value: Expr, type_: str, use: Callable[[str], str]) -> list[str]:
        self.shared.add(type_)
        name = self.names.get(SHARED.format(type_), SHARED.format(type_))
        lines = [f"    {x}" for x in self._store(name, value)]
        return ["if local_invocation_index == 0u {", *lines, "}", use(f"workgroupUniformLoad(&{name})")]

    def assignment(self, stmt: Assign) -> str:
        """Return the text of an assignment, without its semicolon."""
        target, op, value = stmt.target, stmt.op, stmt.value
        if isinstance(target, Element) and (target.var.atomic or target.var.type in NARROW):
            if op:
                value = Binary(target.type, op, target, value)
            text = self.expression(value)
            if target.var.type in NARROW:
                return f"{self.names['put', target.var]}({self.expression(target.index)}, {text})"
            return f"atomicStore(&{self.expression.place(target)}, {text})"
        place = self.expression.place(target) if isinstance(target, Element) else self.expression(target)
        if op in ("+", "-") and isinstance(value, Const) and value.value == 1 and value.type in (I32, U32):
            return f"{place}{op}{op}"
        return f"{place} {op}= {self.expression(value)}"

    def _if(self, stmt: If) -> list[str]:
        if stmt.shared:
            name = self.expression.fresh()
            lines = self._broadcast(stmt.condition, stmt.condition.type, lambda text: f"let {name} = {text};")
        else:
            name = self.expression(stmt.condition)
            lines = self._take()
        lines += [f"if {name} {{", *self._inner(stmt.yes)]
        if not stmt.no:
            return [*lines, "}"]
        last = self._list(stmt.no)
        if len(stmt.no) == 1 and isinstance(stmt.no[0], If) and last[0].startswith("if ") and not stmt.no[0].shared:
            return [*lines, f"}} else {last[0]}", *last[1:]]
        return [*lines, "} else {", *(f"    {x}" for x in last), "}"]

    def _loop(self, stmt: Loop) -> list[str]:
        begin = self._list(stmt.begin)
        if not stmt.first:
            return [
                "loop {",
                *self._inner(stmt.body),
                "    continuing {",
                *self._unless(stmt, "break if {};"),
                "    }",
                "}",
            ]
        condition, before = self._head(stmt)
        step = self._list(stmt.step)
        last = self._step(stmt.step)
        if not before and len(step) <= 1:
            if not begin and not step and condition:
                return [f"while {condition} {{", *self._inner(stmt.body), "}"]
            if len(begin) <= 1 and not (begin and begin[0].startswith(("let", "//"))):
                return [self._for(begin, condition, last), *self._inner(stmt.body), "}"]
            inner = [*begin, self._for([], condition, last), *self._inner(stmt.body), "}"]
            return ["{", *(f"    {x}" for x in inner), "}"]
        lines = [*before, *([f"if !({condition}) {{ break; }}"] if condition else []), *self._list(stmt.body)]
        tail = ["    continuing {", *(f"        {x}" for x in step), "    }"] if step else []
        lines = ["loop {", *(f"    {x}" for x in lines), *tail, "}"]
        return lines if not begin else ["{", *(f"    {x}" for x in [*begin, *lines]), "}"]

    @staticmethod
    def _for(begin: list[str], condition: str, step: str) -> str:
        return f"for ({begin[0] if begin else ';'} {condition}; {step}) {{"

    def _step(self, body: list[Stmt]) -> str:
        """Return the text of a loop's step, without its semicolon, if it is a single statement; otherwise ""."""
        match body:
            case [Assign() as stmt]:
                return self.assignment(stmt)
            case [Evaluate(call=call)]:
                return self.expression(call)
        return ""

    def _head(self, stmt: Loop) -> tuple[str, list[str]]:
        """Return the text of a loop's condition, and the lines that must precede it."""
        if stmt.condition is None:
            return "", []
        if stmt.shared:
            name = self.expression.fresh()
            return name, self._broadcast(stmt.condition, stmt.condition.type, lambda text: f"let {name} = {text};")
        text = self.expression(stmt.condition)
        return text, self._take()

    def _unless(self, stmt: Loop, form: str) -> Iterator[str]:
        assert stmt.condition is not None
        condition = folded(Unary("bool", "!", stmt.condition))
        text = self.expression(condition)
        yield from (f"        {x}" for x in self._take())
        yield f"        {form.format(text)}"


def signature(function: Function, name: str) -> str:
    """Return the head of a function that is no kernel, under its name in the WGSL module."""
    params = ", ".join(f"{safe(p.name)}{'_' if p.written else ''}: {p.type}" for p in function.params)
    return f"fn {name}({params}){f' -> {function.type}' if function.type != VOID else ''}"
