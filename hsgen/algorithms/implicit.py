"""Defaults of algorithms without tables in target files: there is no value to check and none to tune."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hsgen.algorithms.search_space import Box
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.keys import KeyType

FIELDS: Mapping[str, Field] = {}
"""The keys of the table: none, because there is no table."""


def alone(values: Mapping[str, Any], device: Device) -> Iterable[tuple[str, str, str]]:
    """Return no problem: there are no single values."""
    return ()


def problems(p: Any, device: Device) -> list[tuple[str, str, str]]:
    """Return no problems: all parameters are derived from the device and the target's other tables."""
    return []


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return an empty search space."""
    return ()
