"""The measurements of docs/guides/columns.md run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hsgen.cli import main
from hsgen.engines.hosts import Host

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/guides/columns.md"


@pytest.mark.device
def test_the_measurements_run(embedded: Host, capsys: pytest.CaptureFixture[str]) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    lines = re.findall(r"^hsgen (bench .*)$", text, re.MULTILINE)
    for line, what in zip(lines, ("items of 4 values", "pack of two columns"), strict=True):
        assert main([*line.split(), "--device", "Intel(R) OpenCL"]) == 0
        out = capsys.readouterr().out
        assert what in out and "numpy" in out
