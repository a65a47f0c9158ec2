"""Radix sorts on Mesa's lavapipe: rankers and coordinations in its subgroup widths, under the validation layers.

The nightly run has every table of the targets in lanes/radix*.toml.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from test_vulkan import Lavapipe, lanes, lavapipe, validated

from hsgen import target

NIGHTLY = os.environ.get("HSGEN_NIGHTLY") == "1"
__all__ = ["lavapipe"]  # a fixture

SOME = [
    ("radix8", "u32", "radix"),  # votes, looking back
    ("radix4", "u32", "radix-broadcast"),
    ("radix1", "u32", "radix-serial"),
    ("radixpairs4", "u64", "radix-broadcast"),
]


def ways() -> list[Any]:
    """Return (target, key type, label, lanes of a subgroup)."""
    every = [
        (name, key, label)
        for name in ("radix1", "radix4", "radix8", "radix16", "radixpairs4")
        for label, key in target.find(lanes(name)).choices
    ]
    assert set(SOME) <= set(every)
    chosen = [w for w in every if w in SOME or NIGHTLY]
    widths = {"radix1": 8, "radix4": 4, "radix8": 8, "radix16": 16, "radixpairs4": 4}
    return [pytest.param(*w, widths[w[0]], id="-".join(w)) for w in chosen]


@pytest.mark.device
@pytest.mark.parametrize(("name", "key", "label", "width"), ways())
def test_sorts(
    lavapipe: Lavapipe,
    name: str,
    key: str,
    label: str,
    width: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is wrong, and the layers stay silent."""
    lavapipe(width)
    code, rows, err = validated(
        capsys, "-t", lanes(name), "--key", key, "--algorithm", label, "--option", "validation=1"
    )
    assert code == 0 and len(rows) == 1, err
    (row,) = rows
    assert (row["target"], row["key"], row["algorithm"], row["api"]) == (name, key, label, "vulkan")
    assert row["failures"] == 0 and row["cases"] > 400 and row["greatest_n"] >= 1 << 17
