"""The guides of operations: a program in Python, and commands that generate and measure."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hsgen.cli import main


def check(document: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Check that the program of a guide and its commands succeed; return the output of the commands."""
    text = document.read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert len(program.splitlines()) <= 40
    (folder / "program.py").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, folder / "program.py"], capture_output=True, text=True, cwd=document.parents[2], check=False
    )
    assert done.returncode == 0, done.stderr
    generate, measure = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    assert main([*generate.split()[1:-1], str(folder / "sorts")]) == 0
    for line in measure.splitlines():
        assert main([*line.split()[1:], "--device", "Intel(R) OpenCL"]) == 0, line
    return capsys.readouterr().out
