"""Members of the interface `Algorithm` that are the same for all algorithms without a table in targets.

The modules of such algorithms import these names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hsgen.algorithms.search_space import Box
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.keys import KeyType

FIELDS: Mapping[str, Field] = {}
"""The keys that the algorithm's table in a target may have: none, because targets have no such table."""


def alone(values: Mapping[str, Any], device: Device) -> Iterable[tuple[str, str, str]]:
    """Return no problems, because targets state no values for the algorithm."""
    return ()


def problems(p: Any, device: Device) -> list[tuple[str, str, str]]:
    """Return no problems, because all parameters are derived from the device and from the target's tables for sorts."""
    return []


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return an empty search space."""
    return ()
