"""The target for devices that no target names."""

from __future__ import annotations

from collections.abc import Iterable

from hsgen.core.errors import Usage
from hsgen.targets import target as targets
from hsgen.targets.matching import Match
from hsgen.targets.target import Target

GENERIC = "generic"
"""The target for any device of most APIs."""


def among(api: str, known: Iterable[Target]) -> Target | None:
    """Return the target of `known` for any device of an API: generic, or the first by name; None without one."""
    found = [t for t in known if api in t.apis and t.match == Match()]
    return min(found, key=lambda t: (t.name != GENERIC, t.name), default=None)


def of(api: str) -> Target:
    """Return the target that comes with hsgen for any device of an API.

    Raises:
        Usage: no target is for any device.
    """
    generic = targets.find(GENERIC)
    found = generic if api in generic.apis else among(api, map(targets.find, targets.names()))
    if found is None:
        raise Usage(f"no target is for any device of {api}; name one with --target")
    return found
