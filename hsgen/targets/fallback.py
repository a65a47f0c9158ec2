"""The target for devices that no other target matches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from hsgen.core.errors import Usage
from hsgen.targets import heads
from hsgen.targets import target as targets
from hsgen.targets.heads import Head
from hsgen.targets.matching import Match, rank
from hsgen.targets.target import Target

Known = TypeVar("Known", bound=Target | Head)

GENERIC = "generic"
"""The target for any device of most APIs."""


def among(api: str, known: Iterable[Known]) -> Known | None:
    """Return the target for any device of an API: generic, or else the first such target by name, or None."""
    candidates = [t for t in known if api in t.apis and t.match == Match()]
    return min(candidates, key=lambda t: (t.name != GENERIC, t.name), default=None)


def of(api: str) -> Target:
    """Return the least specific target for an API among the targets of hsgen.

    Raises:
        Usage: no target is for the API.
    """
    candidates = [t for t in heads.shipped() if api in t.apis]
    if not candidates:
        raise Usage(f"no target is for {api}; name one with --target")
    return targets.find(min(candidates, key=lambda t: (t.name != GENERIC, rank(t.match), t.name)).name)
