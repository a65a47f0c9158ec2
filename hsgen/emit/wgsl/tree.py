"""The typed tree between C and WGSL: expressions have types, every conversion is explicit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

I32, U32, F32, BOOL, VOID = "i32", "u32", "f32", "bool", "void"
U8, U16 = "u8", "u16"
NARROW = {U8: 8, U16: 16}
"""Elements of storage buffers that are packed in words, with their bits."""
VECTORS = {f"vec{n}<u32>": n for n in (2, 3, 4)}


class Unsupported(Exception):
    """A construct outside of the subset; `line`: its line in the C text, 0 if unknown."""

    lacks = False  # whether WGSL lacks what the kernel needs

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what, self.line, self.kernel = what, line, ""


class Lacking(Unsupported):
    """Something that kernels need and WGSL does not have."""

    lacks = True


def refuse(what: str, line: int = 0) -> NoReturn:
    """Raise `Unsupported`."""
    raise Unsupported(what, line)


@dataclass(eq=False, slots=True)
class Var:
    """A variable.  space: function, parameter, private, workgroup, storage, uniform or builtin.

    count: the elements of an array, 0 for a runtime-sized one, None for no array.  written: how often it is assigned
    after its declaration.  atomic: whether any access is atomic.  exchanged: whether words are compared and exchanged.
    read_only: of storage, bound as such.
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
    """An expression, with its type."""

    type: str

    def parts(self) -> tuple[Expr, ...]:
        """Return the expressions in it."""
        found: list[Expr] = []
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            found += [x for x in (value if isinstance(value, tuple) else (value,)) if isinstance(x, Expr)]
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Const(Expr):
    """A number or a truth value, in the range of its type; `name`: that of a constant of the text, or ""."""

    value: int
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Name(Expr):
    """A variable."""

    var: Var


@dataclass(frozen=True, slots=True, eq=False)
class Element(Expr):
    """An element of an array."""

    var: Var
    index: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Member(Expr):
    """Components of a vector, or a member of a structure."""

    of: Expr
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Expr):
    """``-``, ``~`` or ``!``."""

    op: str
    of: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Expr):
    """An operation on two operands of suitable types."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Cast(Expr):
    """A conversion between scalar types."""

    of: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Call(Expr):
    """A call of a function of the text, or of one that WGSL predeclares."""

    name: str
    args: tuple[Expr, ...]
    function: Function | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Expr):
    """A conditional expression."""

    condition: Expr
    yes: Expr
    no: Expr


@dataclass(slots=True, eq=False)
class Stmt:
    """A statement; `line` is that of the C text."""

    line: int


@dataclass(slots=True, eq=False)
class Declare(Stmt):
    """A local variable; shared: its value is broadcast, since later control flow must be provably uniform."""

    var: Var
    value: Expr | None
    shared: bool = False


@dataclass(slots=True, eq=False)
class Assign(Stmt):
    """An assignment; op: "" or that of a compound one."""

    target: Expr
    op: str
    value: Expr


@dataclass(slots=True, eq=False)
class Evaluate(Stmt):
    """A call as a statement."""

    call: Call


@dataclass(slots=True, eq=False)
class Block(Stmt):
    """Statements with a scope."""

    body: list[Stmt]


@dataclass(slots=True, eq=False)
class If(Stmt):
    """A branch; shared: its condition is broadcast."""

    condition: Expr
    yes: list[Stmt]
    no: list[Stmt]
    shared: bool = False


@dataclass(slots=True, eq=False)
class Loop(Stmt):
    """A loop; first: whether the condition is checked before the first iteration."""

    begin: list[Stmt]
    condition: Expr | None
    step: list[Stmt]
    body: list[Stmt]
    first: bool = True
    shared: bool = False


@dataclass(slots=True, eq=False)
class Leave(Stmt):
    """``break`` or ``continue``."""

    word: str


@dataclass(slots=True, eq=False)
class Return(Stmt):
    """A return."""

    value: Expr | None


@dataclass(slots=True, eq=False)
class Note(Stmt):
    """A comment; trailing: it follows the statement before it."""

    text: str
    trailing: bool


@dataclass(eq=False, slots=True)
class Function:
    """A function of the text; the kernel is the last one."""

    name: str
    type: str
    params: list[Var]
    body: list[Stmt]
    calls: list[Function] = field(default_factory=list)
    uses: list[Var] = field(default_factory=list)
    """The variables that it names other than its own, in the order of their first use."""
    pure: bool = True
    """Whether it neither stores to memory nor uses storage buffers."""
