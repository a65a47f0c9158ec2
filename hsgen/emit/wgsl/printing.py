"""The printer of expressions as WGSL text."""

from __future__ import annotations

from collections.abc import Mapping

from hsgen.emit.wgsl.expressions import ATOMICS
from hsgen.emit.wgsl.tree import (
    BOOL,
    I32,
    NARROW,
    U32,
    VECTORS,
    Binary,
    Call,
    Cast,
    Choice,
    Const,
    Element,
    Expr,
    Member,
    Name,
    Unary,
    Var,
    walk,
)

_LEVELS = {"*": 5, "/": 5, "%": 5, "+": 4, "-": 4}
_COMPARED = ("<", ">", "<=", ">=", "==", "!=")
_LARGE = 1 << 20
_PRINTED = {"subgroupBarrier": "workgroupBarrier"}
"""The functions that WGSL lacks, with the WGSL functions that replace them."""
_WORDS = """
alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let
loop override requires return struct switch true var while NULL Self abstract active alignas alignof as asm
asm_fragment async attribute auto await become cast catch class co_await co_return co_yield coherent column_major
common compile compile_fragment concept const_cast consteval constexpr constinit crate debugger decltype delete
demote demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough filter final
finally friend from fxgroup get goto groupshared highp impl implements import inline instanceof interface layout
lowp macro macro_rules match mediump meta mod module move mut mutable namespace new nil noexcept noinline
nointerpolation non_coherent noncoherent noperspective null nullptr of operator package packoffset partition pass
patch pixelfragment precise precision premerge priv protected pub public readonly ref regardless register
reinterpret_cast require resource restrict self set shared sizeof smooth snorm static static_assert static_cast std
subroutine super target template this thread_local throw trait try type typedef typeid typename typeof union
unless unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly yield
"""
RESERVED = frozenset(_WORDS.split())
"""The keywords and reserved words of WGSL."""


def safe(name: str) -> str:
    """Return `name` as a valid WGSL name: a reserved word gets a trailing ``_``."""
    return name + "_" if name in RESERVED else name


def number(value: int, type_: str) -> str:
    """Return the WGSL literal for a number or a truth value of the type."""
    if type_ == BOOL:
        return "true" if value else "false"
    if type_ == I32:
        return str(value)
    return f"0x{value:x}u" if value >= _LARGE else f"{value}u"


def heavy(e: Expr) -> bool:
    """Whether an expression reads buffers or has side effects.

    WGSL's ``select`` evaluates both cases, so it cannot replace a ``?:`` with such a case.
    """
    return any(
        (isinstance(x, Element) and x.var.space == "storage")
        or (isinstance(x, Call) and (x.name in ATOMICS or (x.function is not None and not x.function.pure)))
        for x in walk(e)
    )


class Printer:
    """A printer of expressions.

    names: the names in the WGSL module of variables and functions.
    before: the lines that must precede the expressions printed so far.  They are ``if`` statements, which replace
    ``?:``, ``&&`` and ``||`` if an operand must not be evaluated unless C evaluates it.
    """

    def __init__(self, names: Mapping[object, str]) -> None:
        self.names = names
        self.before: list[str] = []
        self.fresh_names = 0
        self.constants: dict[str, Const] = {}
        """The named constants that the expressions printed so far use."""

    def name(self, var: Var) -> str:
        """Return the name of a variable."""
        return self.names.get(var) or safe(var.name)

    def __call__(self, e: Expr) -> str:
        """Return the text of an expression."""
        match e:
            case Const(value=value, name=name):
                if name:
                    self.constants[name] = e
                return safe(name) if name else number(value, e.type)
            case Name(var=var):
                return self.name(var)
            case Element(var=var):
                return self._element(e)
            case Member(of=of, name=name):
                return f"{self.operand(of)}.{name}"
            case Unary(op=op, of=of):
                return f"{op}{self.operand(of)}"
            case Cast(of=of):
                return f"{e.type}({self(of)})"
            case Call():
                return self._call(e)
            case Choice():
                return self._choice(e)
            case Binary():
                return self._binary(e)
        raise AssertionError(e)

    def place(self, e: Element) -> str:
        """Return the text of an array element as a memory location, for a store or an atomic function."""
        return f"{self.name(e.var)}[{self(e.index)}]"

    def _element(self, e: Element) -> str:
        if e.var.type in NARROW:
            return f"{self.names['get', e.var]}({self(e.index)})"
        return f"atomicLoad(&{self.place(e)})" if e.var.atomic else self.place(e)

    def operand(self, e: Expr) -> str:
        """Return the text of an expression as an operand, in parentheses if it is an operation or starts with ``-``."""
        text = self(e)
        return f"({text})" if self._compound(e) or text.startswith("-") else text

    @staticmethod
    def _compound(e: Expr) -> bool:
        return isinstance(e, (Binary, Unary)) and not (
            isinstance(e, Binary) and e.left.type in VECTORS and e.type == BOOL
        )

    def _call(self, e: Call) -> str:
        args = [self._argument(x, i == len(e.args) - 1) for i, x in enumerate(e.args)]
        if e.name == "float_of_bits":
            return f"bitcast<f32>({args[0]})"
        if e.name == "bits_of_float":
            return f"bitcast<u32>({args[0]})"
        if e.name in ATOMICS:
            target = e.args[0]
            assert isinstance(target, Element)
            if e.name == "atomicCompareExchange":
                index = self(target.index)
                args[0] = index if target.index.type == I32 else f"i32({index})"
                return f"{self.names['exchange', target.var]}({', '.join(args)})"
            args[0] = f"&{self.place(target)}"
        name = self.names[e.function] if e.function is not None else _PRINTED.get(e.name, e.name)
        return f"{name}({', '.join(args)})"

    def _argument(self, e: Expr, last: bool) -> str:
        """Return the text of an argument, in parentheses if WGSL could read ``<`` as the start of a template list.

        last: whether the argument is the last one, after which no ``>`` can follow.
        """
        text = self(e)
        return f"({text})" if not last and "<" in text and isinstance(e, Binary) and e.op[0] in "<&|" else text

    def _binary(self, e: Binary) -> str:
        if e.left.type in VECTORS and e.type == BOOL:
            return f"{'all' if e.op == '==' else 'any'}({self.operand(e.left)} {e.op} {self.operand(e.right)})"
        left = self._beside(e, e.left, True)
        if e.op not in ("&&", "||"):
            return f"{left} {e.op} {self._beside(e, e.right, False)}"
        outer, self.before = self.before, []
        right, inner = self._beside(e, e.right, False), self.before
        self.before = outer
        if not inner:
            return f"{left} {e.op} {right}"
        name = self.fresh()
        self.before += [f"var {name} = {left};", f"if {name if e.op == '&&' else f'!{name}'} {{"]
        self.before += [*(f"    {x}" for x in inner), f"    {name} = {right};", "}"]
        return name

    def _beside(self, e: Binary, child: Expr, left: bool) -> str:
        """Return the text of an operand of `e`, in parentheses if WGSL requires them, or if they make the text clearer.

        left: whether the operand is the left one.
        """
        if not self._compound(child) or isinstance(child, Unary):
            text = self(child)
            return f"({text})" if text.startswith("-") and not left else text
        assert isinstance(child, Binary)
        outer, inner = _LEVELS.get(e.op, 0), _LEVELS.get(child.op, 0)
        plain = (
            (outer and inner and (inner > outer or (inner == outer and left)))
            or (e.op in _COMPARED and inner)
            or (e.op in ("&&", "||") and child.op in _COMPARED)
            or (e.op == child.op and left and e.op in ("&&", "||", "&", "|", "^"))
        )
        return self(child) if plain else f"({self(child)})"

    def fresh(self) -> str:
        """Return a name for a new variable of the printed text."""
        self.fresh_names += 1
        return f"hs_{self.fresh_names}"

    def _choice(self, e: Choice) -> str:
        if e.type != BOOL and _is_flag(e):
            return f"{e.type}({self(e.condition)})"
        outer, self.before = self.before, []
        condition, start = self(e.condition), self.before
        self.before = []
        yes, first = self(e.yes), self.before
        self.before = []
        no, second = self(e.no), self.before
        self.before = [*outer, *start]
        if not (first or second or heavy(e.yes) or heavy(e.no)):
            text = [f"({x})" if "<" in x and isinstance(y, Binary) else x for x, y in ((no, e.no), (yes, e.yes))]
            return f"select({text[0]}, {text[1]}, {condition})"
        name = self.fresh()
        self.before += [f"var {name}: {e.type};", f"if {condition} {{", *(f"    {x}" for x in first)]
        self.before += [f"    {name} = {yes};", "} else {", *(f"    {x}" for x in second), f"    {name} = {no};", "}"]
        return name


def _is_flag(e: Choice) -> bool:
    return (
        isinstance(e.yes, Const)
        and isinstance(e.no, Const)
        and e.yes.value == 1
        and e.no.value == 0
        and e.type in (I32, U32)
    )
