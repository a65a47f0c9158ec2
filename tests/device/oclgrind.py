"""Runs a script inside oclgrind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conftest import OCLGRIND, missing


def grind(*arguments: str, script: str = "grind.py") -> subprocess.CompletedProcess[str]:
    if not Path(OCLGRIND).exists():
        missing("oclgrind is not installed (apt-get install oclgrind)")
    checks = {
        "OCL_ICD_VENDORS": OCLGRIND,
        "OCLGRIND_DATA_RACES": "1",
        "OCLGRIND_UNINITIALIZED": "1",
        "PYOPENCL_NO_CACHE": "1",
    }
    command = [sys.executable, str(Path(__file__).with_name(script)), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **checks}, timeout=600, check=False
    )
