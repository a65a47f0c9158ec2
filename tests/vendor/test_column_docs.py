"""The C program of docs/guides/columns.md sorts as its comment says."""

from __future__ import annotations

import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from building import embedded_only, folder, need, objects, opencl, program, run

from hsgen.cli import main
from hsgen.engines.hosts import Host

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/guides/columns.md"


@pytest.mark.device
def test_the_program_sorts_records(embedded: Host) -> None:
    need("gcc")
    opencl()
    text = DOCUMENT.read_text(encoding="utf-8")
    (source,) = re.findall(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(source.splitlines()) <= 40
    (line,) = re.findall(r"^hsgen (generate .*) -o tables$", text, re.MULTILINE)
    place, said = folder("tables") / "tables", StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        assert main([*line.split(), "-o", str(place)]) == 0, said.getvalue()
    path = folder("tables") / "main.c"
    path.write_text(source, encoding="utf-8")
    (shown,) = re.findall(r"/\* ([\d ]+) \*/", source)
    made = program(
        "tables", "gcc", "-Wall", f"-I{place / 'include'}", path, *objects(place, "gcc").values(), "-lOpenCL"
    )
    assert run(made, env=embedded_only()).split() == shown.split()


@pytest.mark.device
def test_the_measurements_run(embedded: Host, capsys: pytest.CaptureFixture[str]) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    lines = re.findall(r"^hsgen (bench .*)$", text, re.MULTILINE)
    for line, what in zip(lines, ("items of 4 values", "pack of two columns"), strict=True):
        assert main([*line.split(), "--device", "Intel(R) OpenCL"]) == 0
        out = capsys.readouterr().out
        assert what in out and "numpy" in out
