"""Holds the program of docs/guides/vulkan-pairs.md, changes and builds it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from hsgen.system import compilers

TEXT = (Path(__file__).resolve().parents[2] / "docs/guides/vulkan-pairs.md").read_text(encoding="utf-8")
OPTIONS = "options.deferred = 1;"
"""The statement of the program that sets the options of its sorter."""


def program() -> str:
    """The program of the page."""
    source = re.search(r"^```c\n(/\* pairs\.c: .*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert source and len(source[1].splitlines()) < 125
    return source[1]


def built(place: Path, arguments: str) -> Path:
    """The program, compiled with these arguments."""
    command = f"{' '.join(compilers.c_compiler())} {arguments} -o pairs"
    done = subprocess.run(["sh", "-ec", command], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place / "pairs"


def changed(place: Path, *changes: tuple[str, str]) -> None:
    """Change the program of the page."""
    text = (place / "pairs.c").read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (place / "pairs.c").write_text(text, encoding="utf-8")
