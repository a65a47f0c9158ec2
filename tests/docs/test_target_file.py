"""docs/reference/target-file.md explains every key of the largest target."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hsgen.targets.evidence import LEVELS

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "targets/nvidia-hopper.toml"
PAGE = ROOT / "docs/reference/target-file.md"
NAMES = {"u32", "u64", "grid", "pairs"}
"""Key types, and names of variants."""


def keys(value: Any) -> Iterator[str]:
    """Yield the keys of tables within a value."""
    if isinstance(value, dict):
        yield from value
    for x in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys(x)


def test_every_key_of_the_largest_target_is_explained() -> None:
    data, page = tomllib.loads(TARGET.read_text(encoding="utf-8")), PAGE.read_text(encoding="utf-8")
    page = re.sub(r"(?ms)^```.*?^```$", "", page)
    words = set(re.findall(r"[a-z0-9_]+", " ".join(re.findall(r"`([^`]+)`", page))))
    found = set(keys(data))
    assert len(found) > 60 and found - NAMES - words == set()
    assert set(LEVELS) <= words


def test_the_numbers_of_the_page_are_those_of_the_target() -> None:
    data = tomllib.loads(TARGET.read_text(encoding="utf-8"))
    page = PAGE.read_text(encoding="utf-8").replace("\N{MULTIPLICATION SIGN}", "x")
    cases = data["radix"]["u32"]["pairs"]["hybrid"]
    assert cases[0]["name"] == "few" and str(cases[0]["up_to"]) in page
    onesweep, scan = data["radix"]["u32"]["onesweep"], data["scan"]["u32"]
    assert f"{onesweep['work_group']} x {onesweep['items']} keys of 4 bytes" in page
    assert f"65536 / ({onesweep['resident']} x {onesweep['work_group']}) = 85" in page
    assert f"{onesweep['sets']} sets of 4 x 256 counters" in page
    assert f"{scan['work_group']} x {scan['items']} elements of 4 bytes" in page
