"""Small selections: a work-group holds 64 keys, and 5 work-groups share rows of more than 300 keys.

Up to 8 keys are selected by bounds, for k up to 2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sorts import sort_by

from hsgen.algorithms import radix_select
from hsgen.algorithms.radix_select.params import Bounded
from hsgen.core.keys import KEYS, Signature
from hsgen.core.sort import Sort


def sort_of(key: str, value: str = "none", features: tuple[str, ...] = (), **values: Any) -> Sort:
    """Return a small selection with these features of rows; `values` replace its parameters."""
    signature = Signature(value=value, key_transform=True, rows=True, **dict.fromkeys(features, True))
    small = {"work_group": 32, "items": 2, "capacity": 64, "bits": 5, "groups": 5, "row_limit": 300}
    few = {
        "short": Bounded(lanes=4, items=2, take=2),
        "chunk": Bounded(lanes=4, items=2, take=2),
    }
    p = radix_select.Params(key=KEYS[key], signature=signature, **{**small, **few, **values})
    return replace(sort_by("radix_select", p), signature=signature)
