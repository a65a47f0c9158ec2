"""The typed syntax tree between C and WGSL.  Every expression has a type; every conversion is explicit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

I32, U32, F32, BOOL, VOID = "i32", "u32", "f32", "bool", "void"
U8, U16 = "u8", "u16"
NARROW = {U8: 8, U16: 16}
"""The number of bits of each narrow type.  Storage buffers pack narrow elements into 32-bit words."""
VECTORS = {f"vec{n}<u32>": n for n in (2, 3, 4)}


class Unsupported(Exception):
    """The error for C beyond the subset.  line: the line in the C text, from 1, or 0 if unknown."""

    lacks = False  # whether the reason is a feature that WGSL lacks

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.problem, self.line, self.kernel = problem, line, ""


class Lacking(Unsupported):
    """The error for a feature that a kernel needs and WGSL lacks."""

    lacks = True


def refuse(problem: str, line: int = 0) -> NoReturn:
    """Raise `Unsupported` for a problem in a line."""
    raise Unsupported(problem, line)


@dataclass(eq=False, slots=True)
class Var:
    """A variable.

    space: function, parameter, private, workgroup, storage, uniform or builtin.  count: the number of elements of an
    array; 0 for a runtime-sized array, None for other variables.  written: the number of assignments after the
    declaration.  atomic: at least one access is atomic.  exchanged: at least one access is a compare-and-exchange.
    read_only: the binding of the storage buffer is read-only.
    """

    name: str
    type: str
    space: str
    count: int | None = None
    written: int = 0
    atomic: bool = False
    exchanged: bool = False
    read_only: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Expr:
    """An expression with its type."""

    type: str

    def parts(self) -> tuple[Expr, ...]:
        """Return the operands of the expression."""
        out: list[Expr] = []
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            out += [x for x in (value if isinstance(value, tuple) else (value,)) if isinstance(x, Expr)]
        return tuple(out)


@dataclass(frozen=True, slots=True, eq=False)
class Const(Expr):
    """A number or a truth value in the range of its type.  name: the name of the constant in the C text, or ""."""

    value: int
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Name(Expr):
    """The value of a variable."""

    var: Var


@dataclass(frozen=True, slots=True, eq=False)
class Element(Expr):
    """An element of an array."""

    var: Var
    index: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Member(Expr):
    """One or more components of a vector, or a member of a structure."""

    of: Expr
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Expr):
    """An operation ``-``, ``~`` or ``!``."""

    op: str
    of: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Expr):
    """An operation with two operands."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Cast(Expr):
    """A conversion between scalar types."""

    of: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Call(Expr):
    """A call of `function` from the C text, or of a predeclared function if `function` is None."""

    name: str
    args: tuple[Expr, ...]
    function: Function | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Expr):
    """A conditional expression ``condition ? yes : no``."""

    condition: Expr
    yes: Expr
    no: Expr


@dataclass(slots=True, eq=False)
class Stmt:
    """A statement.  line: its line in the C text."""

    line: int


@dataclass(slots=True, eq=False)
class Declare(Stmt):
    """A local variable.  shared: its value is broadcast, because later control flow must be provably uniform."""

    var: Var
    value: Expr | None
    shared: bool = False


@dataclass(slots=True, eq=False)
class Assign(Stmt):
    """An assignment.  op: the operation of a compound assignment, or ""."""

    target: Expr
    op: str
    value: Expr


@dataclass(slots=True, eq=False)
class Evaluate(Stmt):
    """A call as a statement."""

    call: Call


@dataclass(slots=True, eq=False)
class Block(Stmt):
    """Statements in a scope."""

    body: list[Stmt]


@dataclass(slots=True, eq=False)
class If(Stmt):
    """A branch.  shared: its condition is broadcast."""

    condition: Expr
    yes: list[Stmt]
    no: list[Stmt]
    shared: bool = False


@dataclass(slots=True, eq=False)
class Loop(Stmt):
    """A loop.  first: the condition is also checked before the first iteration.  shared: the condition is broadcast."""

    begin: list[Stmt]
    condition: Expr | None
    step: list[Stmt]
    body: list[Stmt]
    first: bool = True
    shared: bool = False


@dataclass(slots=True, eq=False)
class Leave(Stmt):
    """A jump ``break`` or ``continue``."""

    word: str


@dataclass(slots=True, eq=False)
class Return(Stmt):
    """A return from a function.  value: None in a function without a result."""

    value: Expr | None


@dataclass(slots=True, eq=False)
class Note(Stmt):
    """A comment.  trailing: the comment follows a statement on the same line."""

    text: str
    trailing: bool


@dataclass(eq=False, slots=True)
class Function:
    """A function of the C text.  The last function of a text is the kernel."""

    name: str
    type: str
    params: list[Var]
    body: list[Stmt]
    calls: list[Function] = field(default_factory=list)
    uses: list[Var] = field(default_factory=list)
    """The module-scope variables that the function uses, in the order of first use."""
    pure: bool = True
    """Whether the function neither stores to memory nor uses storage buffers."""


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield an expression and all expressions within it."""
    yield expr
    for part in expr.parts():
        yield from walk(part)


def inside(stmt: Stmt) -> list[list[Stmt]]:
    """Return the statement lists that a statement directly contains."""
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
    """Return the expressions of a statement; the expressions of inner statements are excluded."""
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
