"""Pieces of work in kernel text that lanes or subgroups do by number: one each, or several where there are too few."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shared:
    """Some pieces of work that `workers` lanes or subgroups share.

    count: the number of pieces.  word: the number of a lane or subgroup.  variable: the number of a piece, in a loop.
    As text it is the number of the piece that is done.
    """

    count: int
    workers: int
    word: str
    variable: str

    def __str__(self) -> str:
        return self.word if self.count <= self.workers else self.variable

    @property
    def each(self) -> str:
        """What stands before the statement for a piece: a condition, or a loop where there are more pieces."""
        return self.each_if("")

    def each_if(self, condition: str) -> str:
        """Return the same for pieces that are done only if a condition holds, which is the same for all."""
        bound = f"{self} < {self.count}{f' && {condition}' if condition else ''}"
        if self.count <= self.workers:
            return f"if ({bound})"
        return f"for (int {self} = {self.word}; {bound}; {self} += {self.workers})"


def shared(count: int, workers: int, word: str = "hs_local_id()", variable: str = "piece") -> Shared:
    """Return pieces of work for templates; the statement after `each` may not leave its loop."""
    return Shared(count, workers, word, variable)
