"""Kernel text for the heads of loops in which the lanes or the subgroups of a work-group share work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shared:
    """Numbered pieces of work that *workers*, the lanes or the subgroups of a work-group, divide among themselves.

    count: the number of pieces.
    workers: the number of workers.
    word: the kernel expression for the index of a worker, such as ``hs_local_id()``.
    variable: the name of the loop variable, which is used if there are more pieces than workers.
    In a template, ``{{ object }}`` renders the kernel expression for the index of a piece.
    """

    count: int
    workers: int
    word: str
    variable: str

    def __str__(self) -> str:
        return self.word if self.count <= self.workers else self.variable

    @property
    def each(self) -> str:
        """The text before a statement that handles one piece: ``for (...)``, or ``if (...)`` if no worker gets two."""
        return self.each_if("")

    def each_if(self, condition: str) -> str:
        """Return the text of `each` with an additional condition, which must not depend on the piece.

        In a ``for`` loop, the condition would otherwise end the loop before later pieces.
        """
        bound = f"{self} < {self.count}{f' && {condition}' if condition else ''}"
        if self.count <= self.workers:
            return f"if ({bound})"
        return f"for (int {self} = {self.word}; {bound}; {self} += {self.workers})"


def shared(count: int, workers: int, word: str = "hs_local_id()", variable: str = "piece") -> Shared:
    """Return `count` pieces of work for `workers` workers; templates call this function.

    The statement after `Shared.each` must not ``break`` or ``continue`` that loop, because the text may be an ``if``.
    """
    return Shared(count, workers, word, variable)
