"""Kernel text for loops over an array of a lane's keys, which compilers must unroll to keep the array in registers.

A template contains the statements for one index.  `unroll` returns a loop over the statements, marked by the macro
HS_UNROLL.  Some compilers keep the array in memory if a loop variable indexes it, even if they unroll the loop.  For
such a compiler (`hsgen.core.device.Device.unroll`), `unroll` returns repeated statements, one copy for each index.
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
    """The kernel expression for an array index: a loop variable, or a sum or product of the variable and numbers.

    total: whether the expression is a sum, which needs parentheses as a factor of a product.
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
    """Successive indices from `begin` up to, but not including, `end`; each bound is a number or a kernel expression.

    size: the number of indices, if the batch is not shortened by `limit`.
    limit: if it is not 0, the batch has no indices of `limit` or more; the last of several batches may thus be shorter.
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
        """Return the statements `text` for index ``begin + j``, in an ``if`` if `limit` may exclude the index."""
        if not self.limit:
            return text
        return _headed(f"if ({self.begin + j} < {self.limit})", text)


@contextmanager
def written_out(chosen: bool, folds: bool = False) -> Iterator[None]:
    """Determine what `unroll` returns in the context: repeated statements if `chosen` is true, else loops.

    folds: whether compilers treat the variable of an unrolled loop as a constant, also in conditions.  If so, the loop
    of `batches` includes a last batch that is shorter than the others, and `constants` returns a loop.
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
    """Return whether `unroll` returns repeated statements instead of a loop."""
    return _written_out.get()


def unroll(
    end: int, begin: int = 0, variable: str = "i", breaks: bool = False, *, caller: Callable[[int | Index], str]
) -> str:
    """Return the statements for the indices from `begin` up to, but not including, `end`.

    variable: the name of the loop variable.
    breaks: whether the statements may skip the remaining indices by ``break``.
    caller: a function that returns the statements for one index.
    """
    if begin >= end:
        return ""
    if _written_out.get() or (end - begin == 1 and not breaks):
        text = "".join(caller(i) for i in range(begin, end))
        return f"do {{\n{indent(text, '    ')}}} while (false);\n" if breaks else text
    return loop(caller(Index(variable)), variable, begin, end)


def loop(text: str, variable: str, begin: int, end: int) -> str:
    """Return a loop with the statements `text`, marked by HS_UNROLL."""
    return _headed(f"HS_UNROLL for (int {variable} = {begin}; {variable} < {end}; {variable}++)", text)


def _headed(head: str, text: str) -> str:
    """Return `text` as the statement of a loop or an ``if`` with this head; several lines get braces."""
    lines = text.splitlines()
    first, *rest = lines
    margin = " " * (len(first) - len(first.lstrip()))
    if not rest:
        return f"{margin}{head} {first.lstrip()}\n"
    opening = f"{head} {{" if head else "{"
    end = next((i for i, line in enumerate(rest, 1) if line == f"{margin}}}"), 0)
    if head and first == f"{margin}{{" and end == len(rest):  # the text is a block with braces already
        return "\n".join([f"{margin}{opening}", *rest, ""])
    return "\n".join([f"{margin}{opening}", *(f"    {x}" if x else x for x in lines), f"{margin}}}\n"])


def digits(count: int, lanes: int, *, caller: Callable[[], str]) -> str:
    """Return statements in which the lanes of a work-group handle the digit values 0 to ``count - 1`` in parallel.

    lanes: the number of lanes in the work-group.
    caller: a function that returns the statements for one digit value, which is the kernel variable ``d``.
    """
    text = caller()
    if count > lanes:
        return _headed(f"for (int d = hs_local_id(); d < {count}; d += {lanes})", text)
    margin = " " * (len(text) - len(text.lstrip(" ")))
    return _headed(f"if (hs_local_id() < {count})" if count < lanes else "", f"{margin}int d = hs_local_id();\n{text}")


def batches(count: int, size: int, *, caller: Callable[[Batch], str]) -> str:
    """Return statements for the indices 0 to ``count - 1``, in batches of `size` indices; the last may be shorter.

    caller: a function that returns the statements for one batch.  The statements may skip the later batches by
    ``break``.  However, a shorter last batch may follow in a separate loop, which the ``break`` does not skip.  After a
    ``break``, the statements of the last batch must therefore have no effect.
    """
    full, rest = divmod(count, size)
    if full and rest and folds():
        return unroll(full + 1, variable="b", breaks=True, caller=lambda b: caller(Batch(b * size, size, count)))
    text = unroll(full, variable="b", breaks=True, caller=lambda b: caller(Batch(b * size, size)))
    return text + unroll(1 if rest else 0, variable="b", breaks=True, caller=lambda _: caller(Batch(full * size, rest)))


def constants(count: int, variable: str, *, caller: Callable[[int | Index], str]) -> str:
    """Return statements for the numbers 0 to ``count - 1``, each of which is a compile-time constant in its statements.

    variable: the name of the loop variable, if the statements are in a loop.

    caller: a function that returns the statements for one number.
    """
    if _folds.get():
        return unroll(count, variable=variable, caller=caller)
    return "".join(caller(i) for i in range(count))
