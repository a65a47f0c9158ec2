"""Kernel text that distributes numbered pieces of work among lanes or subgroups."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shared:
    """Pieces of work that lanes or subgroups, the workers, share.

    count: the number of pieces.  workers: the number of workers.  word: the kernel text of a worker's index.  variable:
    the loop variable, if workers loop over pieces.  The text of the object is the kernel text of a piece's index.
    """

    count: int
    workers: int
    word: str
    variable: str

    def __str__(self) -> str:
        return self.word if self.count <= self.workers else self.variable

    @property
    def each(self) -> str:
        """The head before the statement for a piece: an `if`, or a `for` if there are more pieces than workers."""
        return self.each_if("")

    def each_if(self, condition: str) -> str:
        """Return the head `each` with a further condition; the condition must have the same value for all pieces."""
        bound = f"{self} < {self.count}{f' && {condition}' if condition else ''}"
        if self.count <= self.workers:
            return f"if ({bound})"
        return f"for (int {self} = {self.word}; {bound}; {self} += {self.workers})"


def shared(count: int, workers: int, word: str = "hs_local_id()", variable: str = "piece") -> Shared:
    """Return `count` pieces of work that `workers` share, for templates.

    The statement after `each` may not leave its loop, because `each` is not always a loop.
    """
    return Shared(count, workers, word, variable)
