"""How the output of compute-sanitizer's tools is judged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import sanitized

RACES = """
12 calls, 0 wrong
========= COMPUTE-SANITIZER
========= Warning: Race reported between Write access at histogram(const unsigned int *, unsigned int *, int)+0x260
=========     and Write access at histogram(const unsigned int *, unsigned int *, int)+0x260 [294291 hazards]
=========
========= Error: Race reported between Read access at pairs_deal+0x3f0 in kernels.cu:22
=========     and Write access at pairs_deal+0x320 in kernels.cu:19 [127 hazards]
=========
========= Error: Race reported between Read access at 0x3f0 in kernels.cu:22:grid(unsigned int *)
=========     and Write access at 0x320 in kernels.cu:19:grid(unsigned int *) [127 hazards]
=========
========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)
"""
READS = """
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at reduce_sections(unsigned int *, int)+0x1a0
=========     by thread (3,0,0) in block (0,0,0)
=========     Address 0x7f1ebfc00200
=========
========= ERROR SUMMARY: 1 error
"""
CLEAN = "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
WARNED = RACES.splitlines()[2:6]


def judged(text: str, code: int = 0) -> list[str]:
    return sanitized.judged(code, sanitized.report(text.splitlines()))


def test_races_are_counted_by_severity_and_kernel() -> None:
    found = sanitized.report(RACES.splitlines())
    assert found.kernels == {"warning": {"histogram": 1}, "error": {"pairs_deal": 1, "grid": 1}}
    assert found.errors == 2
    assert found.lines()[-1] == "summary: 3 hazards displayed (2 errors, 1 warning)"
    assert "warning: 1 reports: histogram 1" in found.lines()
    assert judged(RACES) == ["2 errors"]


def test_reads_of_uninitialized_memory_are_errors() -> None:
    found = sanitized.report(READS.splitlines())
    assert (found.errors, found.kernels) == (1, {"error": {"reduce_sections": 1}})


def test_warnings_pass_and_what_ends_early_fails() -> None:
    assert judged(CLEAN) == []
    summary = "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)"
    assert judged("\n".join([*WARNED, summary])) == []
    assert judged("\n".join(WARNED)) == ["the tool ended without a summary"]
    assert judged(CLEAN, 1) == ["the program exits with 1"]
    limit = "========= Warning: Maximum number of hazards reached. Environment variable X can increase this count."
    assert sanitized.report([limit]).kernels == {"info": {"the tool's limit of reports": 1}}


@pytest.mark.parametrize(("text", "code"), [(CLEAN, 0), (RACES, 1), (READS, 1), ("nothing", 1)])
def test_a_tool_is_run_and_its_output_shown(
    text: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "said").write_text(text)
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(f'#!/bin/sh\necho "$@"\ncat {tmp_path}/said\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert sanitized.main(["racecheck", "python3", "ways.py"]) == code
    said = capsys.readouterr().out
    words = f"--tool racecheck --print-limit 10000 --kernel-name-exclude regex={sanitized.OTHERS} python3 ways.py"
    assert words in said and text.strip() in said


def test_wrong_words_and_a_missing_tool(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert sanitized.main(["oddcheck", "x"]) == 2
    monkeypatch.setenv("PATH", "/nowhere")
    assert sanitized.main(["racecheck", "x"]) == 3
    assert "not installed" in capsys.readouterr().err
