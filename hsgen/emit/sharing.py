"""Kernel text by which lanes or subgroups divide numbered pieces of work among themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shared:
    """Pieces of work that lanes or subgroups, the workers, divide among themselves.

    count: the number of pieces.
    workers: the number of workers.
    word: the kernel expression for the index of a worker.
    variable: the loop variable, if there are more pieces than workers.
    The text of the object is the kernel expression for the index of a piece.
    """

    count: int
    workers: int
    word: str
    variable: str

    def __str__(self) -> str:
        return self.word if self.count <= self.workers else self.variable

    @property
    def each(self) -> str:
        """The text before the statement for a piece: the head of an `if`, or of a `for` if pieces outnumber workers."""
        return self.each_if("")

    def each_if(self, condition: str) -> str:
        """Return the text `each` with a further condition, which must have the same value for all pieces."""
        bound = f"{self} < {self.count}{f' && {condition}' if condition else ''}"
        if self.count <= self.workers:
            return f"if ({bound})"
        return f"for (int {self} = {self.word}; {bound}; {self} += {self.workers})"


def shared(count: int, workers: int, word: str = "hs_local_id()", variable: str = "piece") -> Shared:
    """Return `count` pieces of work for `workers` workers; templates call this function.

    The statement after `each` must not contain a ``break`` or ``continue`` for it, because `each` may be an ``if``.
    """
    return Shared(count, workers, word, variable)
