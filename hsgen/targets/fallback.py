"""The selection of a target for a device that no device-specific target file matches."""

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
"""The name of the target that serves any device of most APIs."""


def among(api: str, known: Iterable[Known]) -> Known | None:
    """Return a target among `known` that serves every device of an API; None if there is none.

    If there are several, return the target `generic`, or else the first by name.
    """
    candidates = [t for t in known if api in t.apis and t.match == Match()]
    return min(candidates, key=lambda t: (t.name != GENERIC, t.name), default=None)


def of(api: str) -> Target:
    """Return, of the targets that come with hsgen, the one that serves the most devices of an API.

    Raises:
        Usage: no target of hsgen supports the API.
    """
    candidates = [t for t in heads.shipped() if api in t.apis]
    if not candidates:
        raise Usage(f"no target is for {api}; name one with --target")
    return targets.find(min(candidates, key=lambda t: (t.name != GENERIC, rank(t.match), t.name)).name)
