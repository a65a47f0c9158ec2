"""Results that tests ask for again and again, kept for the rest of a process.

Only of functions whose results depend on nothing but their arguments, and that nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from hsgen.emit import repeated
from hsgen.targets import target


def remember() -> None:
    """Keep the targets that were read, by their texts, and the loops that were found for lists of statements."""
    target.parse = lru_cache(maxsize=256)(target.parse)
    pieces = lru_cache(maxsize=4096)(repeated.pieces)

    def found(items: Sequence[repeated.Numbers]) -> list[repeated.Piece]:
        return list(pieces(tuple(items)))

    repeated.pieces = found
