"""The typed syntax tree between C and WGSL.  Every expression has a WGSL type, and every conversion is explicit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

I32, U32, F32, BOOL, VOID = "i32", "u32", "f32", "bool", "void"
U8, U16 = "u8", "u16"
NARROW = {U8: 8, U16: 16}
"""The number of bits of each narrow type.  WGSL lacks these types, so buffers have 2 or 4 elements per 32-bit word."""
VECTORS = {f"vec{n}<u32>": n for n in (2, 3, 4)}


class Unsupported(Exception):
    """The error for C text beyond the subset that the package translates.

    line: the number of the line in the C text, from 1; 0 if unknown.
    """

    lacks = False  # whether WGSL lacks a feature that the kernel needs

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

    space: where the variable lies: "function", "parameter", "private", "workgroup", "storage", "uniform" or "builtin".
    count: the number of elements of an array; 0 for a buffer, None for a variable that is no array.
    written: the number of assignments after the declaration.
    atomic: whether an access is atomic.
    exchanged: whether an access is a compare-and-exchange.
    read_only: whether the variable is a buffer that the kernel only reads.
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
        """Return the expressions of which the expression directly consists, such as operands and arguments."""
        out: list[Expr] = []
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            out += [x for x in (value if isinstance(value, tuple) else (value,)) if isinstance(x, Expr)]
        return tuple(out)


@dataclass(frozen=True, slots=True, eq=False)
class Const(Expr):
    """A number or a truth value.

    name: the name of the constant in the C text; "" for a literal.
    """

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
    """One or more components of a vector, or a member of the structure with the arguments of a launch."""

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
    """A call of a function.

    function: the function that the C text defines; None for a predeclared or an atomic function.
    """

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
    """A statement; `line` is the number of its line in the C text."""

    line: int


@dataclass(slots=True, eq=False)
class Declare(Stmt):
    """The declaration of a local variable.

    shared: whether one lane broadcasts the initial value, so that WGSL can prove that it is uniform.
    """

    var: Var
    value: Expr | None
    shared: bool = False


@dataclass(slots=True, eq=False)
class Assign(Stmt):
    """An assignment.

    op: the operation of a compound assignment, such as "+"; otherwise "".
    """

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
    """An ``if`` statement.

    shared: whether one lane broadcasts the value of the condition.
    """

    condition: Expr
    yes: list[Stmt]
    no: list[Stmt]
    shared: bool = False


@dataclass(slots=True, eq=False)
class Loop(Stmt):
    """A loop.

    first: whether the condition is checked before each iteration, as in ``for``; otherwise after it, as in ``do``.
    shared: whether one lane broadcasts the value of the condition.
    """

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
    """A return from a function; `value` is None in a function without a result."""

    value: Expr | None


@dataclass(slots=True, eq=False)
class Note(Stmt):
    """A comment.

    trailing: whether the comment follows a statement on the same line.
    """

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
    """Return the lists of statements that a statement directly contains."""
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
    """Return the expressions of a statement, without those of its inner statements."""
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
