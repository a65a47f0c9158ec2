"""The distribution of numbered pieces of work among lanes or subgroups in kernel text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shared:
    """Pieces of work for lanes or subgroups.

    count: the number of pieces.  workers: the number of lanes or subgroups.  word: the index of a lane or subgroup in
    kernel text.  variable: the variable of a loop over pieces.  The text of the object is the index of a piece.
    """

    count: int
    workers: int
    word: str
    variable: str

    def __str__(self) -> str:
        return self.word if self.count <= self.workers else self.variable

    @property
    def each(self) -> str:
        """The head of a statement for a piece: a condition, or a loop if there are more pieces than workers."""
        return self.each_if("")

    def each_if(self, condition: str) -> str:
        """Return the head of a statement for pieces with a condition, which must be the same for all pieces."""
        bound = f"{self} < {self.count}{f' && {condition}' if condition else ''}"
        if self.count <= self.workers:
            return f"if ({bound})"
        return f"for (int {self} = {self.word}; {bound}; {self} += {self.workers})"


def shared(count: int, workers: int, word: str = "hs_local_id()", variable: str = "piece") -> Shared:
    """Return pieces of work for templates; the statement after `each` may not leave its loop."""
    return Shared(count, workers, word, variable)
