"""hsgen.distributed over processes of torch.distributed with gloo: see `gloo_ranks.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import nightly

pytest.importorskip("torch", reason="PyTorch is not installed (pip install torch)")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("ranks", [nightly(1), 2, nightly(3), nightly(4)])
def test_ranks_agree_with_one_sort(ranks: int, tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).with_name("gloo_ranks.py"))]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [*command, str(rank), str(ranks), str(tmp_path / "store")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(ranks)
    ]
    try:
        outputs = [p.communicate(timeout=300)[0] for p in processes]
    finally:
        for p in processes:
            p.kill()
    assert all(p.returncode == 0 and text.endswith("ok\n") for p, text in zip(processes, outputs, strict=True)), outputs
