"""Evaluates lines of kernel templates as terms of z3: C expressions over 32-bit signed integers.

A line is evaluated as written. `Run.obligations` collects what C demands of each operation: no overflow, no division by
zero. `Run.accesses` collects each index of an array, with the condition under which the line reads the array.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import z3

TOKEN = re.compile(r"\d+|[A-Za-z_]\w*|&&|\|\||[<>=!]=|\+=|[-+*/%<>=!?:()\[\]{},;]")
BINARY = (("||",), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))
"""The binary operators of C that lines use, from the weakest to the strongest."""


class Numbers(Protocol):
    """What `Run` needs of a kind of integer."""

    def literal(self, value: int) -> Any: ...

    def variable(self, name: str) -> Any: ...

    def legal(self, operator: str, x: Any, y: Any) -> Any: ...

    def divided(self, operator: str, x: Any, y: Any) -> Any: ...


class Vectors:
    """Bit-vectors of 32 bits: exactly what a kernel computes."""

    def literal(self, value: int) -> Any:
        """Return a constant."""
        return z3.BitVecVal(value, 32)

    def variable(self, name: str) -> Any:
        """Return an unknown."""
        return z3.BitVec(name, 32)

    def legal(self, operator: str, x: Any, y: Any) -> Any:
        """Return the condition that the operation does not overflow."""
        if operator == "+":
            return z3.And(z3.BVAddNoOverflow(x, y, True), z3.BVAddNoUnderflow(x, y))
        if operator == "-":
            return z3.And(z3.BVSubNoOverflow(x, y), z3.BVSubNoUnderflow(x, y, True))
        if operator == "*":
            return z3.And(z3.BVMulNoOverflow(x, y, True), z3.BVMulNoUnderflow(x, y))
        return z3.And(y != 0, z3.Not(z3.And(x == -(2**31), y == -1)))

    def divided(self, operator: str, x: Any, y: Any) -> Any:
        """Return the quotient or the remainder; both truncate, as in C."""
        return x / y if operator == "/" else z3.SRem(x, y)


class Integers:
    """Unbounded integers. Where every operation is legal, they are equal to the 32-bit integers of a kernel.

    Legal operations stay within 32 bits. Divisions are legal only for operands that are not negative, since those of
    z3 round in another direction than those of C.
    """

    def literal(self, value: int) -> Any:
        """Return a constant."""
        return z3.IntVal(value)

    def variable(self, name: str) -> Any:
        """Return an unknown."""
        return z3.Int(name)

    def legal(self, operator: str, x: Any, y: Any) -> Any:
        """Return the condition that the operation stays within 32 bits."""
        if operator in "/%":
            return z3.And(x >= 0, y > 0)
        value = {"+": x + y, "-": x - y, "*": x * y}[operator]
        return z3.And(value >= -(2**31), value < 2**31)

    def divided(self, operator: str, x: Any, y: Any) -> Any:
        """Return the quotient or the remainder."""
        return x / y if operator == "/" else x % y


@dataclass
class Run:
    """One evaluation of lines.

    values: the value of each variable; lines change it.
    arrays: for each array, the function from an index to an element.
    functions: the functions that lines call, by name.
    """

    numbers: Numbers
    values: dict[str, Any]
    arrays: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    obligations: list[Any] = field(default_factory=list)
    accesses: list[tuple[str, Any, Any]] = field(default_factory=list)
    _conditions: list[Any] = field(default_factory=list)
    _tokens: list[str] = field(default_factory=list)

    def execute(self, lines: str) -> None:
        """Execute statements: declarations, assignments, `if` and `else`."""
        self._tokens = _tokens(lines)
        while self._tokens:
            self._statement()

    def value(self, text: str) -> Any:
        """Return the value of an expression."""
        self._tokens = _tokens(text)
        found = self._expression()
        if self._tokens:
            raise ValueError(f"not an expression: {text}")
        return found

    def legal(self) -> Any:
        """Return the condition that every operation so far is legal in C."""
        return z3.And(*self.obligations)

    def within(self, low: Any, counts: dict[str, Any]) -> Any:
        """Return the condition that every access so far is in its array, of indices from `low` up to its count."""
        return z3.And(*(z3.Implies(when, z3.And(low <= i, i < counts[name])) for name, i, when in self.accesses))

    def _take(self, *expected: str) -> str:
        token = self._tokens.pop(0)
        if expected and token not in expected:
            raise ValueError(f"{token!r} stands where {expected} is expected")
        return token

    def _next(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def _when(self, condition: Any, evaluate: Callable[[], Any]) -> Any:
        """Evaluate what runs under a condition."""
        self._conditions.append(condition)
        found = evaluate()
        self._conditions.pop()
        return found

    def _statement(self) -> None:
        token = self._next()
        if token == "{":
            self._take()
            while self._next() != "}":
                self._statement()
            self._take()
        elif token == "if":
            self._take()
            self._take("(")
            condition = self._expression()
            self._take(")")
            before = dict(self.values)
            self._when(condition, self._statement)
            then, self.values = self.values, before
            other = dict(before)
            if self._next() == "else":
                self._take()
                self.values = other
                self._when(z3.Not(condition), self._statement)
                other = self.values
            self.values = {n: z3.If(condition, then.get(n, x), x) for n, x in other.items()}
        else:
            if token in ("int", "bool"):
                self._take()
            self._assign()
            while self._take(",", ";") == ",":
                self._assign()

    def _assign(self) -> None:
        name = self._take()
        if self._take("=", "+=") == "=":
            self.values[name] = self._expression()
        else:
            self.values[name] = self._binary("+", self.values[name], self._expression())

    def _expression(self) -> Any:
        condition = self._level(0)
        if self._next() != "?":
            return condition
        self._take()
        then = self._when(condition, self._expression)
        self._take(":")
        return z3.If(condition, then, self._when(z3.Not(condition), self._expression))

    def _level(self, level: int) -> Any:
        if level == len(BINARY):
            return self._primary()
        left = self._level(level + 1)
        while self._next() in BINARY[level]:
            operator = self._take()
            if operator in ("&&", "||"):
                right = self._when(left if operator == "&&" else z3.Not(left), lambda: self._level(level + 1))
                left = z3.And(left, right) if operator == "&&" else z3.Or(left, right)
            else:
                left = self._binary(operator, left, self._level(level + 1))
        return left

    def _binary(self, operator: str, x: Any, y: Any) -> Any:
        compared = {"<": "__lt__", ">": "__gt__", "<=": "__le__", ">=": "__ge__", "==": "__eq__", "!=": "__ne__"}
        if operator in compared:
            return getattr(x, compared[operator])(y)
        self.obligations.append(z3.Implies(z3.And(*self._conditions), self.numbers.legal(operator, x, y)))
        if operator in "/%":
            return self.numbers.divided(operator, x, y)
        return {"+": x + y, "-": x - y, "*": x * y}[operator]

    def _primary(self) -> Any:
        token = self._take()
        if token == "!":
            return z3.Not(self._primary())
        if token == "(":
            found = self._expression()
            self._take(")")
            return found
        if token.isdigit():
            return self.numbers.literal(int(token))
        if self._next() == "[":
            self._take()
            index = self._expression()
            self._take("]")
            self.accesses.append((token, index, z3.And(*self._conditions)))
            return self.arrays[token](index)
        if self._next() == "(":
            self._take()
            arguments = []
            while self._next() != ")":
                arguments.append(self._expression())
                if self._next() == ",":
                    self._take()
            self._take()
            return self.functions[token](*arguments)
        return self.values[token]


def _tokens(text: str) -> list[str]:
    text = re.sub(r"//.*", "", text)
    rest = TOKEN.sub("", text).strip()
    if rest:
        raise ValueError(f"not of this C: {rest!r}")
    return TOKEN.findall(text)
