"""Results that tests ask for again and again, kept for the rest of a process.

Only of functions whose results depend on nothing but their arguments, and that nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from hsgen.emit import repeated
from hsgen.targets.target import Target


def _of_target(method: Callable[[Target, str], list[str]]) -> Callable[[Target, str], list[str]]:
    """A method that keeps its results for a target and a key type; targets have no hash."""
    known: dict[tuple[int, str], tuple[Target, list[str]]] = {}

    def again(self: Target, key: str) -> list[str]:
        at = id(self), key
        if at not in known:
            known[at] = self, method(self, key)  # the target stays, so that no other gets its id
        return list(known[at][1])

    return again


def remember() -> None:
    """Keep what can be asked for of a target, and the loops that were found for lists of statements."""
    for name in ("labels", "implicit", "derived"):
        setattr(Target, name, _of_target(getattr(Target, name)))
    pieces = lru_cache(maxsize=4096)(repeated.pieces)

    def found(items: Sequence[repeated.Numbers]) -> list[repeated.Piece]:
        return list(pieces(tuple(items)))

    repeated.pieces = found
