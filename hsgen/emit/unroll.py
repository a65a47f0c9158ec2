"""Loops over the registers of a lane in kernel text, which compilers unroll.

A template writes the statements for one register, and `unroll` makes a loop of them, marked for the compiler.  In the
other form they are written out for each register, for a compiler that keeps arrays of registers in memory if their
index is a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from textwrap import indent

_written_out: ContextVar[bool] = ContextVar("written_out", default=False)
_folds: ContextVar[bool] = ContextVar("folds", default=False)


@dataclass(frozen=True, slots=True)
class Index:
    """The variable of a loop in kernel text; sums and products with numbers are text, too.

    total: whether the text is a sum, which needs parentheses as a factor.
    """

    text: str
    total: bool = False

    def __str__(self) -> str:
        return self.text

    def __add__(self, other: int | Index) -> Index:
        return Index(f"{self.text} + {other}", True) if other else self

    def __radd__(self, other: int) -> Index:
        return Index(f"{other} + {self.text}", True) if other else self

    def __mul__(self, number: int) -> Index:
        return self if number == 1 else Index(f"{f'({self.text})' if self.total else self.text} * {number}")


@dataclass(frozen=True, slots=True)
class Batch:
    """Some successive indices, from `begin` up to `end`, where `begin` may be text.

    limit: what the indices stay below, where a batch may have fewer than `size`; 0: no batch has.
    """

    begin: int | Index
    size: int
    limit: int = 0

    @property
    def end(self) -> int | Index:
        """The index after the last one."""
        end = self.begin + self.size
        return Index(f"({end} < {self.limit} ? {end} : {self.limit})") if self.limit else end

    def each(self, *, caller: Callable[[int | Index], str]) -> str:
        """Return statements for these indices."""
        return unroll(self.size, variable="j", caller=lambda j: self._bounded(j, caller(self.begin + j)))

    def _bounded(self, j: int | Index, text: str) -> str:
        """The statements for index j of the batch, where there is one."""
        if not self.limit:
            return text
        return _headed(f"if ({self.begin + j} < {self.limit})", text)


@contextmanager
def written_out(chosen: bool, folds: bool = False) -> Iterator[None]:
    """While this is open, `unroll` writes statements out if `chosen`, and else as loops.

    folds: what depends on the variable of such a loop is as good as a constant: the last of some batches is a round of
    the same loop, cut short by a condition, and `constants` writes a loop.
    """
    tokens = _written_out.set(chosen), _folds.set(folds)
    try:
        yield
    finally:
        _written_out.reset(tokens[0])
        _folds.reset(tokens[1])


def is_written_out() -> bool:
    """Whether statements are written out."""
    return _written_out.get()


def unroll(
    end: int, begin: int = 0, variable: str = "i", breaks: bool = False, *, caller: Callable[[int | Index], str]
) -> str:
    """Return statements for the indices from `begin` up to `end`: `caller` renders those for one index.

    breaks: the statements may leave the loop by `break`.
    """
    if begin >= end:
        return ""
    if _written_out.get() or (end - begin == 1 and not breaks):
        text = "".join(caller(i) for i in range(begin, end))
        return f"do {{\n{indent(text, '    ')}}} while (false);\n" if breaks else text
    return loop(caller(Index(variable)), variable, begin, end)


def loop(text: str, variable: str, begin: int, end: int) -> str:
    """Return a loop of the statements `text`, which the compiler unrolls."""
    return _headed(f"HS_UNROLL for (int {variable} = {begin}; {variable} < {end}; {variable}++)", text)


def _headed(head: str, text: str) -> str:
    """Return statements as those of a loop or a condition; one line is one statement."""
    lines = text.splitlines()
    first, *rest = lines
    margin = " " * (len(first) - len(first.lstrip()))
    if not rest:
        return f"{margin}{head} {first.lstrip()}\n"
    opening = f"{head} {{" if head else "{"
    end = next((i for i, line in enumerate(rest, 1) if line == f"{margin}}}"), 0)
    if head and first == f"{margin}{{" and end == len(rest):  # one block already
        return "\n".join([f"{margin}{opening}", *rest, ""])
    return "\n".join([f"{margin}{opening}", *(f"    {x}" if x else x for x in lines), f"{margin}}}\n"])


def digits(count: int, lanes: int, *, caller: Callable[[], str]) -> str:
    """Return statements for the numbers below `count`, dealt to the lanes of a work-group: `caller` renders those for
    one, the variable d."""
    text = caller()
    if count > lanes:
        return _headed(f"for (int d = hs_local_id(); d < {count}; d += {lanes})", text)
    margin = " " * (len(text) - len(text.lstrip(" ")))
    return _headed(f"if (hs_local_id() < {count})" if count < lanes else "", f"{margin}int d = hs_local_id();\n{text}")


def batches(count: int, size: int, *, caller: Callable[[Batch], str]) -> str:
    """Return statements for the indices below `count` in batches: `caller` renders those for one batch.

    Statements leave for what follows the batches by `break`, and have no effect for batches after one that they left.
    """
    full, rest = divmod(count, size)
    if full and rest and _folds.get() and not _written_out.get():
        return unroll(full + 1, variable="b", breaks=True, caller=lambda b: caller(Batch(b * size, size, count)))
    text = unroll(full, variable="b", breaks=True, caller=lambda b: caller(Batch(b * size, size)))
    return text + unroll(1 if rest else 0, variable="b", breaks=True, caller=lambda _: caller(Batch(full * size, rest)))


def constants(count: int, variable: str, *, caller: Callable[[int | Index], str]) -> str:
    """Return statements for the numbers below `count`, each as good as a constant; `caller` renders those for one."""
    if _folds.get():
        return unroll(count, variable=variable, caller=caller)
    return "".join(caller(i) for i in range(count))
