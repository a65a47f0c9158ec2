"""Loops in kernel text, in place of successive statements that differ only in numbers with a constant difference.

For example, the comparators ``swap(0, 4)``, ``swap(1, 5)`` and so on of a sorting network become a loop over
``swap(i, i + 4)``.  The loop runs the statements in their original order, so the results do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from hsgen.emit.unroll import Index, is_written_out, loop

Numbers = tuple[int, ...]
LEAST = 16
"""The least size of an array in registers for which loops over the array make the SPIR-V module smaller.

An array that a loop indexes stays an array in SPIR-V, so each access takes several instructions.  For small arrays,
loops therefore make the module larger.
"""
_COSTS = (1.0, 2.5, 4.0)  # the estimated costs, in statements, of a statement, a loop, and two nested loops


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement, a loop or two nested loops that run some successive statements.

    first: the numbers in the first of these statements.
    counts: the number of iterations of each loop, the outer loop first.
    steps: for each loop, the difference of each number from one iteration to the next.
    """

    first: Numbers
    counts: tuple[int, ...] = ()
    steps: tuple[Numbers, ...] = ()


@lru_cache(maxsize=4096)
def pieces(items: tuple[Numbers, ...]) -> tuple[Piece, ...]:
    """Return pieces that together run all statements in order, with the least total of `_COSTS`.

    items: the numbers in each statement.
    Dynamic programming finds the cheapest pieces for the first 1, 2, 3, ... statements.
    """
    best: list[tuple[float, list[Piece]]] = [(0.0, [])]
    for end in range(1, len(items) + 1):
        best.append((best[end - 1][0] + _COSTS[0], [*best[end - 1][1], Piece(items[end - 1])]))
        for begin in range(end - 2, -1, -1):
            cost = best[begin][0]
            if cost + _COSTS[1] >= best[end][0]:
                continue
            for piece in _whole(items[begin:end]):
                total = cost + _COSTS[len(piece.counts)]
                if total < best[end][0]:
                    best[end] = total, [*best[begin][1], piece]
    return tuple(best[-1][1])


def _whole(items: Sequence[Numbers]) -> Iterator[Piece]:
    """Yield a loop, or two nested loops, that run exactly the statements with the numbers `items`, if possible."""
    step = _step(items)
    if step is not None:
        yield Piece(items[0], (len(items),), (step,))
        return
    for inner in range(2, len(items) // 2 + 1):
        if len(items) % inner:
            continue
        outer, within = _step(items[::inner]), _step(items[:inner])
        if outer is None or within is None:
            continue
        counts = len(items) // inner, inner
        if all(x == _at(items[0], (outer, within), divmod(k, inner)) for k, x in enumerate(items)):
            yield Piece(items[0], counts, (outer, within))
            return


def _step(items: Sequence[Numbers]) -> Numbers | None:
    """Return the difference of each number from one statement to the next; None if a difference is not constant."""
    steps = {tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in pairwise(items)}
    return steps.pop() if len(steps) == 1 else None


def _at(first: Numbers, steps: Sequence[Numbers], at: Sequence[int]) -> Numbers:
    return tuple(x + sum(s[k] * i for s, i in zip(steps, at, strict=True)) for k, x in enumerate(first))


def repeated(items: Sequence[Numbers], registers: int, *, caller: Callable[..., str]) -> str:
    """Return the text of statements that differ only in their numbers, with loops where `_COSTS` says they are cheaper.

    items: the numbers in each statement.
    registers: the size of the array that the statements access.  For fewer than `LEAST` registers, there are no loops.
    caller: a function that returns one statement, given its numbers.  For a statement in a loop, a number that changes
    between iterations is an `Index`, an expression of the loop variable.
    """
    if is_written_out() or registers < LEAST:
        return "".join(caller(*x) for x in items)
    return "".join(_text(p, caller) for p in pieces(tuple(items)))


def _text(piece: Piece, caller: Callable[..., str]) -> str:
    names = ("i", "j")[: len(piece.counts)]
    text = caller(*(_sum(x, names, [s[k] for s in piece.steps]) for k, x in enumerate(piece.first)))
    for name, count in zip(reversed(names), reversed(piece.counts), strict=True):
        text = loop(text, name, 0, count)
    return text


def _sum(first: int, names: Sequence[str], steps: Sequence[int]) -> int | Index:
    """Return the expression ``first + step * name + ...``, positive terms first; if all steps are 0, return `first`."""
    terms = [(s, n if abs(s) == 1 else f"{n} * {abs(s)}") for s, n in zip(steps, names, strict=True) if s]
    if not terms:
        return first
    terms += [(first, str(abs(first)))] if first else []
    terms.sort(key=lambda x: x[0] < 0)
    (sign, text), *rest = terms
    text = text if sign > 0 else f"0 - {text}"
    return Index(text + "".join(f" {'+' if s > 0 else '-'} {term}" for s, term in rest), len(terms) > 1)
