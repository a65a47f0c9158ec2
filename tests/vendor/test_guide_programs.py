"""The C programs of the guides to operations print what their last comment says."""

from __future__ import annotations

import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from building import embedded_only, folder, need, objects, opencl, program, run

from hsgen.cli import main
from hsgen.engines.hosts import Host

GUIDES = Path(__file__).resolve().parents[2] / "docs/guides"
SCAN = "generate -t generic --api opencl --key u32 --algorithm scan-x4"


SHOWN = {"digest": r"/\* (order .*?) \*/", "merge": r"/\* ([\d: ]+) \*/"}
"""How a program of a guide says what it prints; the others end with numbers."""
LONGEST = {"digest": 47, "merge": 51}
"""The greatest number of lines of a guide's programs, if it is not 42."""


@pytest.mark.device
@pytest.mark.parametrize("name", ["columns", "digest", "merge", "reduce-by-key", "scan", "segmented-sort", "top-k"])
def test_the_program_prints_what_it_says(name: str, embedded: Host) -> None:
    need("gcc")
    opencl()
    text = (GUIDES / f"{name}.md").read_text(encoding="utf-8")
    sources = re.findall(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert sources and all(len(source.splitlines()) <= LONGEST.get(name, 42) for source in sources)
    lines = re.findall(r"^hsgen (generate .*--api opencl.*) -o \S+$", text, re.MULTILINE)
    (line,) = lines or [SCAN]  # which the text of scan.md describes
    place, said = folder(f"guide-{name}") / "sorts", StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        assert main([*line.split(), "-o", str(place)]) == 0, said.getvalue()
    warnings = ("-Wall", "-Wextra", "-Wno-deprecated-declarations", "-Wno-missing-field-initializers")
    for number, source in enumerate(sources):
        path = folder(f"guide-{name}") / f"main{number}.c"
        path.write_text(source, encoding="utf-8")
        shown = re.findall(SHOWN.get(name, r"/\* ([\d ]+) \*/"), source)[-1]
        given = (*warnings, f"-I{place / 'include'}", path, *objects(place, "gcc").values(), "-lOpenCL")
        assert run(program(f"guide-{name}-{number}", "gcc", *given), env=embedded_only()).split() == shown.split()
