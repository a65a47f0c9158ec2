"""Element types of arrays of any library, by their names in numpy and PyTorch."""

from __future__ import annotations

from math import prod
from typing import Any

from hsgen.cuda.libraries import Facts


def named(type: Any) -> str:
    """Return the name of an element type, such as float32 or bfloat16."""
    return str(getattr(type, "name", None) or str(type).rpartition(".")[2])


def bytes_of(facts: Facts) -> int:
    """Return the size of an array in bytes."""
    return int(facts.type.itemsize) * prod(facts.shape)
