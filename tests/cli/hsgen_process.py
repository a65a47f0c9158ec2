"""Runs hsgen in a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(
    *arguments: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hsgen", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **(env or {})}, cwd=cwd, check=False
    )
