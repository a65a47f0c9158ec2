"""Loops for statements whose numbers are arithmetic sequences, such as the comparators of a network.

The statements keep their order, so that what they compute is the same as if each was written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hsgen.emit.unroll import Index, is_written_out, loop

Numbers = tuple[int, ...]
LEAST = 16
"""An array that a loop indexes stays an array in SPIR-V, where every access to it takes several instructions: loops
over fewer registers make a module larger."""
_COSTS = (1.0, 2.5, 4.0)  # of one statement, of a loop, and of two nested loops


@dataclass(frozen=True, slots=True)
class Piece:
    """Successive statements: `counts` has the iterations of each loop, the outer one first, `steps` what an iteration
    adds to the numbers of the first statement."""

    first: Numbers
    counts: tuple[int, ...] = ()
    steps: tuple[Numbers, ...] = ()


def pieces(items: Sequence[Numbers]) -> list[Piece]:
    """Return the fewest pieces, by cost, that are `items` in their order; found by dynamic programming."""
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
    return best[-1][1]


def _whole(items: Sequence[Numbers]) -> Iterator[Piece]:
    """The loop, and the two nested loops, that are exactly `items`."""
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
    """The difference between any two successive items, if it is always the same."""
    steps = {tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in pairwise(items)}
    return steps.pop() if len(steps) == 1 else None


def _at(first: Numbers, steps: Sequence[Numbers], at: Sequence[int]) -> Numbers:
    return tuple(x + sum(s[k] * i for s, i in zip(steps, at, strict=True)) for k, x in enumerate(first))


def repeated(items: Sequence[Numbers], registers: int, *, caller: Callable[..., str]) -> str:
    """Return the statements for all items, with loops where that is shorter: `caller` renders those for one item.

    It is called with numbers, or with text where a number differs between the iterations of a loop.  Statements on an
    array of fewer than `LEAST` registers are written out.
    """
    if is_written_out() or registers < LEAST:
        return "".join(caller(*x) for x in items)
    return "".join(_text(p, caller) for p in pieces(items))


def _text(piece: Piece, caller: Callable[..., str]) -> str:
    names = ("i", "j")[: len(piece.counts)]
    text = caller(*(_sum(x, names, [s[k] for s in piece.steps]) for k, x in enumerate(piece.first)))
    for name, count in zip(reversed(names), reversed(piece.counts), strict=True):
        text = loop(text, name, 0, count)
    return text


def _sum(first: int, names: Sequence[str], steps: Sequence[int]) -> int | Index:
    """The text of ``first + step * name + ...``, its positive terms first."""
    terms = [(s, n if abs(s) == 1 else f"{n} * {abs(s)}") for s, n in zip(steps, names, strict=True) if s]
    if not terms:
        return first
    terms += [(first, str(abs(first)))] if first else []
    terms.sort(key=lambda x: x[0] < 0)
    (sign, text), *rest = terms
    text = text if sign > 0 else f"0 - {text}"
    return Index(text + "".join(f" {'+' if s > 0 else '-'} {term}" for s, term in rest), len(terms) > 1)
