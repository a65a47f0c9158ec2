"""Radix sorts on Mesa's lavapipe: rankers and coordinations in its subgroup widths, under the validation layers.

The nightly run has every table of the targets in lanes/radix*.toml.  The fast run has one ranker with broadcasts, and
match-by-ballot with look-back, which also detects sorted input; its test_vulkan_forms.py has bitmask histograms, single
lanes and pairs of u32, under the same layers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from changed_templates import templates
from lavapipe import Lavapipe, lanes, lavapipe, validated
from nightly import nightly

from hsgen.targets import target

__all__ = ["lavapipe", "templates"]  # fixtures

SOME = [
    ("radix4", "u32", "radix-broadcast"),
]


def ways() -> list[Any]:
    """Return (target, key type, label, lanes of a subgroup)."""
    every = [
        (name, key, label)
        for name in ("radix1", "radix4", "radix8", "radix16", "radixpairs4")
        for label, key in target.find(lanes(name)).choices
    ]
    assert set(SOME) <= set(every)
    widths = {"radix1": 8, "radix4": 4, "radix8": 8, "radix16": 16, "radixpairs4": 4}
    return [(pytest.param if w in SOME else nightly)(*w, widths[w[0]], id="-".join(w)) for w in every]


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
    """Every result is right, and the layers stay silent."""
    lavapipe(width)
    code, rows, err = validated(
        capsys, "-t", lanes(name), "--key", key, "--algorithm", label, "--option", "validation=1"
    )
    assert code == 0 and len(rows) == 1, err
    (row,) = rows
    assert (row["target"], row["key"], row["algorithm"], row["api"]) == (name, key, label, "vulkan")
    assert row["failures"] == 0 and row["cases"] > 400 and row["greatest_n"] >= 1 << 17


@pytest.mark.device
@pytest.mark.nightly
@pytest.mark.parametrize(("order", "wrong"), [("both", False), ("ascending", True)])
def test_keys_in_order_leave_look_back(
    lavapipe: Lavapipe,
    templates: Callable[[str, str, str], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    order: str,
    wrong: bool,
) -> None:
    """Sorts with look-back that detect sorted input; a sort that takes all input for sorted is wrong."""
    lavapipe(8)
    if wrong:
        templates("radix/exit.j2", "if (falls) found[0] = 1u;", "if (falls) found[0] = 0u;")
    text = Path(lanes("radix8")).read_text(encoding="utf-8").replace('name = "radix8"', 'name = "exit8"')
    cut = text.index("[radix.u64.")
    (tmp_path / "exit8.toml").write_text(text[:cut].rstrip() + "\nsorted_exit = true\n", encoding="utf-8")
    more = ("--order", order, "--option", "validation=1")
    code, rows, err = validated(capsys, "-t", str(tmp_path / "exit8.toml"), "--key", "u32", *more)
    assert code == int(wrong) and len(rows) == 1, err
    assert rows[0]["api"] == "vulkan" and (rows[0]["failures"] > 0) == wrong and rows[0]["cases"] > 400 * (not wrong)
