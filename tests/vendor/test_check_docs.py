"""The programs of docs/guides/digest.md do what their comments and assertions say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hsgen.engines.hosts import Host

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/guides/digest.md"


@pytest.mark.device
def test_the_example_in_python_runs(embedded: Host) -> None:
    (source,) = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    exec(compile(source, "docs/guides/digest.md", "exec"), {})
