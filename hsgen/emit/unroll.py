"""Kernel text for loops over a lane's registers, which compilers must unroll.

A template contains the statements for one register.  `unroll` returns a loop over the statements, with a mark that
makes compilers unroll the loop.  If a variable indexes an array of registers, certain compilers store the array in
memory.  For such a compiler, `unroll` repeats the statements for each register instead.
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
    """The kernel text of an index: a loop variable, or a sum or product of the variable and numbers.

    total: the text is a sum, so it needs parentheses when it becomes a factor.
    """

    text: str
    total: bool = False

    def __str__(self) -> str:
        return self.text

    def __add__(self, term: int | Index) -> Index:
        return Index(f"{self.text} + {term}", True) if term else self

    def __radd__(self, term: int) -> Index:
        return Index(f"{term} + {self.text}", True) if term else self

    def __mul__(self, number: int) -> Index:
        return self if number == 1 else Index(f"{f'({self.text})' if self.total else self.text} * {number}")


@dataclass(frozen=True, slots=True)
class Batch:
    """Successive indices from `begin` to `end`, without `end`; each bound is a number or kernel text.

    size: the number of indices.  limit: if not 0, only the indices below `limit` count, because the last batch may be
    shorter.
    """

    begin: int | Index
    size: int
    limit: int = 0

    @property
    def end(self) -> int | Index:
        """The index after the last index of the batch."""
        end = self.begin + self.size
        return Index(f"({end} < {self.limit} ? {end} : {self.limit})") if self.limit else end

    def each(self, *, caller: Callable[[int | Index], str]) -> str:
        """Return the statements for all indices of the batch; `caller` returns the statements for one index."""
        return unroll(self.size, variable="j", caller=lambda j: self._bounded(j, caller(self.begin + j)))

    def _bounded(self, j: int | Index, text: str) -> str:
        """Return the statements `text` for index j of the batch, under `if` where the batch may have no index j."""
        if not self.limit:
            return text
        return _headed(f"if ({self.begin + j} < {self.limit})", text)


@contextmanager
def written_out(chosen: bool, folds: bool = False) -> Iterator[None]:
    """While the context lasts, let `unroll` repeat statements if `chosen`, else return loops.

    folds: compilers treat the variable of an unrolled loop as a constant.  `batches` then handles a shorter last batch
    in its loop, and `constants` returns a loop.
    """
    tokens = _written_out.set(chosen), _folds.set(folds)
    try:
        yield
    finally:
        _written_out.reset(tokens[0])
        _folds.reset(tokens[1])


def folds() -> bool:
    """Return whether `unroll` returns loops whose variable compilers treat as a constant."""
    return _folds.get() and not _written_out.get()


def is_written_out() -> bool:
    """Return whether `unroll` currently repeats statements instead of a loop."""
    return _written_out.get()


def unroll(
    end: int, begin: int = 0, variable: str = "i", breaks: bool = False, *, caller: Callable[[int | Index], str]
) -> str:
    """Return the statements for the indices from `begin` to `end`, without `end`.

    caller: a function that returns the statements for one index.  breaks: the statements may leave the loop by `break`.
    """
    if begin >= end:
        return ""
    if _written_out.get() or (end - begin == 1 and not breaks):
        text = "".join(caller(i) for i in range(begin, end))
        return f"do {{\n{indent(text, '    ')}}} while (false);\n" if breaks else text
    return loop(caller(Index(variable)), variable, begin, end)


def loop(text: str, variable: str, begin: int, end: int) -> str:
    """Return a loop over the statements `text`, marked for unrolling."""
    return _headed(f"HS_UNROLL for (int {variable} = {begin}; {variable} < {end}; {variable}++)", text)


def _headed(head: str, text: str) -> str:
    """Return `text` as the statement of a loop or `if` with this head; more than one line gets braces."""
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
    """Return statements that handle each number below `count` once; the lanes of a work-group share the numbers.

    caller: a function that returns the statements for one number, the kernel variable ``d``.
    """
    text = caller()
    if count > lanes:
        return _headed(f"for (int d = hs_local_id(); d < {count}; d += {lanes})", text)
    margin = " " * (len(text) - len(text.lstrip(" ")))
    return _headed(f"if (hs_local_id() < {count})" if count < lanes else "", f"{margin}int d = hs_local_id();\n{text}")


def batches(count: int, size: int, *, caller: Callable[[Batch], str]) -> str:
    """Return the statements for the indices below `count`, in batches of `size` indices; the last may be shorter.

    caller: a function that returns the statements for one batch.  The statements may skip the remaining batches by
    ``break``.  A ``break`` may leave only one of two loops, so a later batch that runs must then have no effect.
    """
    full, rest = divmod(count, size)
    if full and rest and folds():
        return unroll(full + 1, variable="b", breaks=True, caller=lambda b: caller(Batch(b * size, size, count)))
    text = unroll(full, variable="b", breaks=True, caller=lambda b: caller(Batch(b * size, size)))
    return text + unroll(1 if rest else 0, variable="b", breaks=True, caller=lambda _: caller(Batch(full * size, rest)))


def constants(count: int, variable: str, *, caller: Callable[[int | Index], str]) -> str:
    """Return the statements for the numbers below `count` in a form in which each number is a compile-time constant.

    caller: a function that returns the statements for one number.
    """
    if _folds.get():
        return unroll(count, variable=variable, caller=caller)
    return "".join(caller(i) for i in range(count))
