"""The program of the guide for Ray, on workers of this host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import ROOT, only

pytest.importorskip("ray.data", reason="Ray is not installed (pip install 'ray[data]')")


def test_the_program_of_the_guide_sorts(tmp_path: Path) -> None:
    (tmp_path / "ray_sort.py").write_text(only(ROOT / "docs/guides/ray.md", "python")[0], encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_AUTH_MODE": "disabled"}
    command = [sys.executable, "ray_sort.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "300000 keys in order"
