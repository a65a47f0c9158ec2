"""The programs of docs/guides/digest.md do what their comments and assertions say."""

from __future__ import annotations

import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from building import embedded_only, folder, need, objects, opencl, program, run

from hsgen.cli import main
from hsgen.engines.hosts import Host

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/guides/digest.md"


@pytest.mark.device
def test_the_program_in_c_finds_wrong_results(embedded: Host) -> None:
    need("gcc")
    opencl()
    text = DOCUMENT.read_text(encoding="utf-8")
    (source,) = re.findall(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (line,) = re.findall(r"^hsgen (generate .*) -o checked$", text, re.MULTILINE)
    place, said = folder("checks") / "checked", StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        assert main([*line.split(), "-o", str(place)]) == 0, said.getvalue()
    path = folder("checks") / "main.c"
    path.write_text(source, encoding="utf-8")
    made = program(
        "checks", "gcc", "-Wall", f"-I{place / 'include'}", path, *objects(place, "gcc").values(), "-lOpenCL"
    )
    shown = re.findall(r"/\* (order .*?) \*/", source)
    assert [run(made, env=embedded_only()).strip()] == shown


@pytest.mark.device
def test_the_example_in_python_runs(embedded: Host) -> None:
    (source,) = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    exec(compile(source, "docs/guides/digest.md", "exec"), {})
