"""What algorithms without tables have in common: nothing is chosen, so nothing is wrong or to be tuned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hsgen.algorithms.search_space import Box
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.keys import KeyType

FIELDS: Mapping[str, Field] = {}
"""The keys of a table: there is none."""


def alone(values: Mapping[str, Any], device: Device) -> Iterable[tuple[str, str, str]]:
    """Return what is wrong with single values: there are none."""
    return ()


def problems(p: Any, device: Device) -> list[tuple[str, str, str]]:
    """Return what cannot work: nothing, since all follows from the device and the target's other choices."""
    return []


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return the shapes worth trying: none, for there is no table to tune."""
    return ()
