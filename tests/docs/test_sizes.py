"""The table of code sizes in docs/reference/options.md matches `generate`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import hsgen
from hsgen.cli import main

PAGE = Path(hsgen.__file__).parent.parent / "docs/reference/options.md"
HEAD = "| options | kernels | kB |\n|---|---|---|\n"
SLACK = 0.05  # relative: small template changes need not change the table


def rows() -> list[tuple[str, int, int]]:
    """The table: options of `generate`, the number of kernels, and the thousands of bytes of their source."""
    table = PAGE.read_text(encoding="utf-8").partition(HEAD)[2].partition("\n\n")[0]
    found = re.findall(r"^\| (?:`(.*)`|none) \| (\d+) \| (\d+) \|$", table, re.M)
    assert len(found) == len(table.splitlines()) >= 10, "options.md: the table of sizes has another form"
    return [(options, int(kernels), int(size)) for options, kernels, size in found]


@pytest.mark.parametrize(("options", "kernels", "size"), rows(), ids=lambda x: str(x))
def test_sizes_are_those_of_the_page(tmp_path: Path, options: str, kernels: int, size: int) -> None:
    assert main(["generate", "-t", "intel-gen8", "--api", "opencl", *options.split(), "-o", str(tmp_path)]) == 0
    folder = tmp_path / "targets/intel-gen8"
    made = sum(len(json.loads(p.read_text())["kernels"]) for p in (folder / "plans").iterdir())
    text = sum(p.stat().st_size for p in (folder / "kernels/opencl").iterdir())
    told = f"| {f'`{options}`' if options else 'none'} | {made} | {round(text / 1000)} |"
    assert made == kernels and abs(text / 1000 - size) <= 0.5 + SLACK * size, f"options.md: the row is now {told}"
