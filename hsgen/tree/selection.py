"""A pass for kernel languages without pointers to buffers, for kernels that select a buffer at run time.

A kernel's statement ``hs_select_keys(from, at)`` declares that `from` is buffer number `at` of the three buffers of
keys in `hsgen.core.buffers.PICKED`.  The pass treats accesses to `from` in three ways:

- If `at` is a constant, accesses name the buffer directly.
- An ``if`` with `else`, such as one between a full and a partial tile, may access `from` in both branches.  The pass
  then makes a copy of the ``if`` for each possible buffer, and tests `at` once, before the copies.  A test at each
  access would prevent the accesses of a lane from overlapping.
- All other accesses stay calls such as ``hs_load(from, i)``.  The called functions test `at`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hsgen.core.buffers import PICKED
from hsgen.tree.nodes import (
    Block,
    Call,
    Group,
    If,
    Plain,
    Shifted,
    Statement,
    Token,
    Tree,
    Word,
)
from hsgen.tree.printing import text
from hsgen.tree.walking import arguments, call, changed, element, inner, name, spaced, words

SELECTS = {"hs_select_keys": "key", "hs_select_values": "value"}
LOADS, STORES = ("hs_load", "hs_load_value"), ("hs_store", "hs_store_value")
WORDS = frozenset((*LOADS, *STORES))
"""The functions that access a buffer selected at run time."""
BARRIERS = ("hs_barrier", "hs_barrier_global", "hs_subgroup_barrier")
"""The barriers.  The pass makes no copies of an ``if`` that contains one: such a statement does more than an access."""
MARGIN = " " * 4


@dataclass(frozen=True, slots=True)
class Selected:
    """A buffer that a kernel selects at run time.

    name: the name by which the kernel accesses the buffer.
    kind: "key" for a buffer of keys, "value" for a buffer of values.
    number: the kernel expression for the buffer's index in ``PICKED[kind]``.
    """

    name: str
    kind: str
    number: str


class _Selection:
    """The state of the pass: the selected buffers and the integer constants in scope.

    index: whether the sort is an argsort, whose input has no buffer of values, because value i is i.
    """

    def __init__(self, index: bool) -> None:
        self.index = index
        self.selected: list[Selected] = []
        self.constants: dict[str, int] = {}

    def body(self, statements: Sequence[Statement]) -> list[Statement]:
        """Return the statements of a scope after the pass, without the declarations of buffers that are now unused."""
        known, constants, out = len(self.selected), dict(self.constants), []
        for statement in statements:
            out.append(self._statement(statement))
        declared, self.selected, self.constants = self.selected[known:], self.selected[:known], constants
        return [x for x in out if not self._unused(x, declared, out)]

    def _unused(self, statement: Statement, local: Sequence[Selected], scope: Sequence[Statement]) -> bool:
        """Whether a statement declares a selected buffer that no other statement of the same scope uses."""
        declared = _declared(statement)
        if declared is None or declared not in local:
            return False
        rest = (w for x in scope if x is not statement for w in words(x))
        return not any(isinstance(w, Token) and w.text == declared.name for w in rest)

    def _statement(self, statement: Statement) -> Statement:
        match statement:
            case Plain():
                if declared := _declared(statement):
                    self.selected.append(declared)
                    return statement
                self.constants |= _constants(statement)
                return self._fixed(statement)
            case Block(open=opening, body=body, close=closing):
                return Block(opening, self.body(body), closing)
        copy = inner(statement, self._statement)
        return self._written_out(copy) if isinstance(copy, If) else copy

    def _fixed(self, statement: Statement) -> Statement:
        """Return a statement in which accesses to selected buffers with a constant number name the buffer directly."""
        numbers = {s.name: n for s in self.selected if (n := self._constant(s.number)) is not None}
        return self._named(statement, numbers) if numbers else statement

    def _constant(self, number: str) -> int | None:
        return int(number) if number.isdigit() else self.constants.get(number)

    def _written_out(self, statement: If) -> Statement:
        """Return a chain of tests of a selected buffer's number, with a copy of an ``if`` for each possible number.

        Return the ``if`` unchanged if it has no `else` or contains a barrier, or if its branches access no common
        selected buffer.
        """
        if statement.no is None or any(isinstance(w, Call) and w.name.text in BARRIERS for w in words(statement)):
            return statement
        both = _accessed(statement.yes) & _accessed(statement.no)
        chosen = next((s for s in self.selected if s.name in both), None)
        if chosen is None:
            return statement
        alike = [s.name for s in self.selected if s.number == chosen.number]
        numbers = (1, 2) if chosen.name in _stored(statement) else (0, 1, 2)  # no kernel stores to buffer 0, its input
        before = statement.word.before
        line = "\n" + before.rpartition("\n")[2]
        branch = If(Token(line, "if"), statement.condition, statement.yes, statement.otherwise, statement.no)
        chain: Statement | None = None
        for number in reversed(numbers):
            named = self._named(branch, dict.fromkeys(alike, number))
            block = Block(Token(" ", "{"), [Shifted(named, MARGIN)], Token(line, "}"))
            if chain is None:
                chain = block
                continue
            test: list[Word] = [Token("", chosen.name), Token(" ", "=="), Token(" ", str(number))]
            condition = Group(Token(" ", "("), test, Token("", ")"))
            first = number == numbers[0]
            chain = If(Token(before if first else " ", "if"), condition, block, Token(" ", "else"), chain)
        assert chain is not None
        return chain

    def _named(self, statement: Statement, numbers: dict[str, int]) -> Statement:
        return changed(statement, lambda listed: [x for word in listed for x in self._access(word, numbers)])

    def _access(self, word: Word, numbers: dict[str, int]) -> list[Word]:
        """Return the words of a direct access if `word` is a call that accesses a buffer in `numbers`; else ``[word]``.

        numbers: the index in `PICKED` of each selected buffer whose index is known, by the buffer's name.
        """
        if not isinstance(word, Call) or word.name.text not in WORDS:
            return [word]
        first, *operands = arguments(word)
        if name(first) not in numbers:
            return [word]
        number, before = numbers[name(first)], word.name.before
        match word.name.text:
            case "hs_load":
                return [call("hs_twiddle_in", [[element(PICKED["key"][number], operands[0])]], before)]
            case "hs_load_value" if self.index and number == 0:
                return [call("hs_index", [operands[1]], before)]
            case "hs_load_value":
                return [element(PICKED["value"][number], operands[1], before)]
            case "hs_store":
                target = PICKED["key"][number]
                value: list[Word] = [call("hs_twiddle_out", [operands[1]])]
            case _:
                target, value = PICKED["value"][number], operands[1]
        return [element(target, operands[0], before), Token(" ", "="), *spaced(value, " ")]


def selected(tree: Tree, index: bool) -> Tree:
    """Return a tree after this module's pass.

    index: whether the sort is an argsort, whose input has no buffer of values, because value i is i.
    """
    return Tree(_Selection(index).body(tree.body), tree.end)


def called(tree: Tree) -> frozenset[str]:
    """Return the names of those functions in `WORDS` that a tree still calls after the pass."""
    return frozenset(w.name.text for w in words(tree) if isinstance(w, Call) and w.name.text in WORDS)


def _declared(statement: Statement) -> Selected | None:
    """Return the selected buffer that a statement declares, or None if it declares none."""
    match statement:
        case Plain(words=[Call(name=Token(text=word)) as select]) if word in SELECTS:
            buffer, number = arguments(select)
            return Selected(name(buffer), SELECTS[word], "".join(map(text, number)).strip())
    return None


def _constants(statement: Plain) -> dict[str, int]:
    """Return the integer constants that a statement declares, by name."""
    match statement.words:
        case [Token(text="const"), Token(text="int"), *rest]:
            listed = [w.text if isinstance(w, Token) else "" for w in rest]
            each = " ".join(listed).split(" , ")
            pairs = (x.partition(" = ") for x in each)
            return {name: int(value) for name, _, value in pairs if value.isdigit()}
    return {}


def _calls(statement: Statement, functions: Collection[str]) -> set[str]:
    """Return the names of the buffers that a statement accesses through calls of `functions`."""
    calls = (w for w in words(statement) if isinstance(w, Call) and w.name.text in functions)
    return {name(arguments(x)[0]) for x in calls}


def _accessed(statement: Statement) -> set[str]:
    return _calls(statement, WORDS)


def _stored(statement: Statement) -> set[str]:
    return _calls(statement, STORES)
