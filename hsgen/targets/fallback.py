"""The target for devices that no other target matches."""

from __future__ import annotations

from collections.abc import Iterable

from hsgen.core.errors import Usage
from hsgen.targets import target as targets
from hsgen.targets.matching import Match, rank
from hsgen.targets.target import Target

GENERIC = "generic"
"""The target for any device of most APIs."""


def among(api: str, known: Iterable[Target]) -> Target | None:
    """Return the target for any device of an API: generic, or else the first such target by name, or None."""
    candidates = [t for t in known if api in t.apis and t.match == Match()]
    return min(candidates, key=lambda t: (t.name != GENERIC, t.name), default=None)


def of(api: str) -> Target:
    """Return the least specific target for an API among the targets of hsgen.

    Raises:
        Usage: no target is for the API.
    """
    generic = targets.find(GENERIC)
    if api in generic.apis:
        return generic
    candidates = [t for t in map(targets.find, targets.names()) if api in t.apis]
    if not candidates:
        raise Usage(f"no target is for {api}; name one with --target")
    return min(candidates, key=lambda t: (rank(t.match), t.name))
