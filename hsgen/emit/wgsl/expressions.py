"""The parser of C expressions, which returns typed trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn, TypeAlias

from hsgen.emit.wgsl import types
from hsgen.emit.wgsl.scope import Scope
from hsgen.emit.wgsl.tree import (
    BOOL,
    I32,
    NARROW,
    U32,
    VECTORS,
    VOID,
    Call,
    Choice,
    Const,
    Element,
    Expr,
    Member,
    Name,
    Unary,
    Var,
    refuse,
)
from hsgen.emit.wgsl.types import converted, folded
from hsgen.tree import nodes
from hsgen.tree.printing import text as printed

SAME = "same"
"""The placeholder in `PREDECLARED` for the type of the first argument."""
PREDECLARED: dict[str, tuple[str, tuple[str, ...]]] = {
    "vec2u": ("vec2<u32>", (U32,) * 2),
    "vec3u": ("vec3<u32>", (U32,) * 3),
    "vec4u": ("vec4<u32>", (U32,) * 4),
    "countOneBits": (U32, (U32,)),
    "workgroupBarrier": (VOID, ()),
    "storageBarrier": (VOID, ()),
    "subgroupBarrier": (VOID, ()),
    "subgroupShuffleXor": (SAME, (SAME, U32)),
    "subgroupShuffle": (SAME, (SAME, U32)),
    "subgroupBallot": ("vec4<u32>", (BOOL,)),
    "float_of_bits": ("f32", (U32,)),
    "bits_of_float": (U32, ("f32",)),
}
"""The result type and the argument types of functions that C texts may call without a definition, by name.

They are predeclared functions of WGSL, a barrier of subgroups, and conversions between floats and their bits.
"""
ATOMICS = {
    "atomicAdd": 2,
    "atomicOr": 2,
    "atomicAnd": 2,
    "atomicMax": 2,
    "atomicMin": 2,
    "atomicLoad": 1,
    "atomicStore": 2,
    "atomicCompareExchange": 3,
}
"""The atomic functions that C texts may call, each with the number of its arguments.

WGSL has all of them except ``atomicCompareExchange``, which never fails spuriously.  Its translation is a loop.
"""


_LEVELS = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
"""The precedence of each binary operator; operators of equal precedence associate to the left."""
Words: TypeAlias = Sequence[nodes.Word]
_PREFIXES = ("-", "~", "!", "+")
_STEPS = ("++", "--")


def split(words: Words, by: str) -> list[list[nodes.Word]]:
    """Return the lists of words between the separators `by`, such as commas."""
    out: list[list[nodes.Word]] = [[]]
    for word in words:
        if isinstance(word, nodes.Token) and word.text == by:
            out.append([])
        else:
            out[-1].append(word)
    return out


class Expressions:
    """A parser of expressions, which reads the words of `hsgen.tree` and returns typed trees.

    scope: the variables and functions that the expressions may use.
    line: the line of the current statement, for errors.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.line = 0
        self.words: list[nodes.Word] = []

    def __call__(self, words: Words) -> Expr:
        """Return the expression that `words` form.

        Raises:
            Unsupported: `words` is not an expression of the subset.
        """
        outer, self.words = self.words, list(reversed(words))
        expression = self._choice()
        if self.words:
            self._refuse()
        self.words = outer
        return expression

    def condition(self, words: Words) -> Expr:
        """Return the expression that `words` form, converted to bool."""
        return converted(self(words), BOOL, self.line)

    def _refuse(self) -> NoReturn:
        word = self.words[-1] if self.words else None
        if word is None:
            refuse("Invalid expression", self.line)
        text = printed(word).strip()
        if text in _STEPS:
            refuse(f"{text} is translated only as a statement", self.line)
        refuse(f"{text} is not an operand", self.line)

    def _next(self) -> str:
        """Return the text of the next word if it is a token; otherwise ""."""
        word = self.words[-1] if self.words else None
        return word.text if isinstance(word, nodes.Token) else ""

    def _choice(self) -> Expr:
        condition = self._operation(1)
        if self._next() != "?":
            return condition
        self.words.pop()
        condition, yes = converted(condition, BOOL, self.line), self._choice()
        if self._next() != ":":
            self._refuse()
        self.words.pop()
        no = self._choice()
        if not yes.type == no.type == BOOL:
            yes, no = types.common(yes, no, self.line)
        return folded(Choice(yes.type, condition, yes, no))

    def _operation(self, level: int) -> Expr:
        """Parse words up to a binary operator of a lower precedence than `level`, and return their expression."""
        left = self._operand()
        while (found_level := _LEVELS.get(self._next(), 0)) >= level:
            op = self._next()
            self.words.pop()
            left = types.binary(op, left, self._operation(found_level + 1), self.line)
        return left

    def _operand(self) -> Expr:
        if self._next() in _PREFIXES:
            op = self._next()
            self.words.pop()
            return self._unary(op, self._operand())
        match self.words[-1:]:
            case [nodes.Group(open=nodes.Token(text="("), words=[*names])] if type_ := self.scope.named(names):
                self.words.pop()
                return converted(self._operand(), type_, self.line)
        operand = self._primary()
        while self._next() == ".":
            self.words.pop()
            name = self._next()
            self.words.pop()
            operand = self._member(operand, name)
        return operand

    def _primary(self) -> Expr:
        match self.words.pop() if self.words else None:
            case nodes.Token(text=text) if text[0].isdigit():
                return self._number(text)
            case nodes.Token(text=text) if text in ("true", "false"):
                return Const(BOOL, int(text == "true"))
            case nodes.Token(text=text) if text in self.scope.constants:
                return replace(self._number(self.scope.constants[text]), name=text)
            case nodes.Token(text=text) if text.isidentifier():
                var = self.scope.find(text, self.line)
                return Name(var.type, var)
            case nodes.Element(name=nodes.Token(text=text), index=nodes.Group(words=index)):
                return self._element(self.scope.find(text, self.line), self(index))
            case nodes.Call(name=nodes.Token(text=text), arguments=nodes.Group(words=listed)):
                return self._call(text, [self(x) for x in split(listed, ",")] if listed else [])
            case nodes.Group(open=nodes.Token(text="("), words=inner):
                return self(inner)
            case word:
                self.words += [] if word is None else [word]
                self._refuse()

    def _number(self, number: str) -> Const:
        digits = number.lower().rstrip("ul")
        if not (digits.isdecimal() or digits.startswith("0x")):
            refuse(f"{number}: only numbers are translated", self.line)
        value = int(digits, 0) if digits.startswith("0x") else int(digits)
        type_ = U32 if "u" in number.lower() or value >= 1 << 31 else I32
        return Const(type_, types.wrapped(value, type_))

    def _element(self, var: Var, index: Expr) -> Expr:
        if var.count is None or index.type not in (I32, U32):
            refuse(f"{var.name}: not an element of an array", self.line)
        return Element(U32 if var.type in NARROW else var.type, var, index)

    def _member(self, of: Expr, name: str) -> Expr:
        if of.type == "hs_call":
            return Member(I32, of, name)
        if of.type not in VECTORS or any(c not in "xyzw"[: VECTORS[of.type]] for c in name):
            refuse(f"{of.type} has no member {name}", self.line)
        return Member(U32 if len(name) == 1 else f"vec{len(name)}<u32>", of, name)

    def _unary(self, op: str, of: Expr) -> Expr:
        if op == "!":
            return folded(Unary(BOOL, "!", converted(of, BOOL, self.line)))
        if op == "+":
            return of
        of = converted(of, I32, self.line) if of.type == BOOL else of
        if op == "-" and of.type == U32:
            return types.binary("-", Const(U32, 0), of, self.line)
        return folded(Unary(of.type, op, of))

    def _call(self, name: str, args: list[Expr]) -> Expr:
        line = self.line
        if name in ATOMICS:
            return self._atomic(name, args, line)
        function = self.scope.functions.get(name)
        if function is not None:
            expected, type_ = tuple(p.type for p in function.params), function.type
        elif name in ("min", "max") and len(args) == 2:
            args = list(types.common(args[0], args[1], line))
            expected, type_ = (args[0].type,) * 2, args[0].type
        elif name in PREDECLARED:
            type_, expected = PREDECLARED[name]
            first = args[0].type if args else VOID
            expected = tuple(first if w == SAME else w for w in expected)
            type_ = first if type_ == SAME else type_
        else:
            refuse(f"the function {name} is not known", line)
        if len(args) != len(expected):
            refuse(f"{name} takes {len(expected)} arguments, not {len(args)}", line)
        arguments = tuple(x if x.type == w else converted(x, w, line) for x, w in zip(args, expected, strict=True))
        call = Call(type_, name, arguments, function)
        return converted(call, I32, line) if name == "countOneBits" else call

    def _atomic(self, name: str, args: list[Expr], line: int) -> Expr:
        if len(args) != ATOMICS[name] or not isinstance(args[0], Element) or args[0].type != U32:
            refuse(f"{name} takes a word of an array, and {ATOMICS[name] - 1} more arguments", line)
        args[0].var.atomic = True
        args[0].var.exchanged |= name == "atomicCompareExchange"
        arguments = (args[0], *(converted(x, U32, line) for x in args[1:]))
        return Call(VOID if name == "atomicStore" else U32, name, arguments)
