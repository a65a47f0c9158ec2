"""hsgen.distributed over processes of torch.distributed with gloo: see `gloo_ranks.py`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

pytest.importorskip("torch", reason="PyTorch is not installed (pip install torch)")
from doc_blocks import ROOT, only


def started(program: str, ranks: int, *arguments: str) -> list[Any]:
    """Start the ranks of a program of this folder; each gets its number, the number of ranks and the arguments."""
    command = [sys.executable, str(Path(__file__).with_name(program))]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return [
        subprocess.Popen(
            [*command, str(rank), str(ranks), *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(ranks)
    ]


def outputs_of(processes: list[Any], timeout: float) -> list[str]:
    """Return what processes print; processes that do not end in time are killed."""
    try:
        return [p.communicate(timeout=timeout)[0] for p in processes]
    finally:
        for p in processes:
            p.kill()


@pytest.mark.parametrize("ranks", [nightly(1), 2, nightly(3), nightly(4)])
def test_ranks_agree_with_one_sort(ranks: int, tmp_path: Path) -> None:
    processes = started("gloo_ranks.py", ranks, str(tmp_path / "store"))
    outputs = outputs_of(processes, 300)
    assert all(p.returncode == 0 and text.endswith("ok\n") for p, text in zip(processes, outputs, strict=True)), outputs


def test_a_killed_rank_ends_all(tmp_path: Path) -> None:
    seconds = 20
    processes = started("gloo_killed.py", 3, str(tmp_path / "store"), str(seconds))
    outputs = outputs_of(processes, 120)
    assert [p.returncode for p in processes] == [0, -signal.SIGKILL, 0], outputs
    assert all(float(outputs[rank].split()[-1]) < seconds + 5 for rank in (0, 2)), outputs


def test_the_program_of_the_guide_runs(tmp_path: Path) -> None:
    program = tmp_path / "sort_ranks.py"
    program.write_text(only(ROOT / "docs/guides/several-gpus.md", "python")[0], encoding="utf-8")
    assert program.read_text(encoding="utf-8").count("\n") <= 32
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(program)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    parts = re.findall(r"rank (\d): (\d+) keys from -?\d+ to -?\d+, 50 groups", done.stdout)
    assert sorted(parts) == [("0", "1000001"), ("1", "1000000")], done.stdout


def test_the_benchmark_compares_and_times(tmp_path: Path) -> None:
    program = ROOT / "tests/device/several_gpus.py"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(program)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    times = tmp_path / "times.jsonl"
    options = ["--great", "9", "--greatest", "10", "--small", "8", "--json", str(times)]
    done = subprocess.run([*command, *options], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "36 results compared, 0 wrong\n" in done.stdout and "40 results compared, 0 wrong\n" in done.stdout
    rows = [json.loads(line) for line in times.read_text(encoding="utf-8").splitlines()]
    assert [row["keys"] for row in rows] == [512] * 9 + [1024] + [512] + [256] * 2
    assert all(x > 0 for row in rows for x in row["ms"].values()) and rows[10]["table"] == "DTensor"
