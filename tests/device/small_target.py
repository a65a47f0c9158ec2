"""A fixture for tests of the code around sorts: a target whose kernels compile faster than those of cpu."""

from __future__ import annotations

from pathlib import Path

import pytest
from sorters import SMALL

from hsgen.engines.hosts import Host


@pytest.fixture
def small(embedded: Host, tmp_path: Path) -> Path:
    """A target file for the embedded device; cpu takes three times as long to compile."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def mine(small: Path) -> Path:
    """The same target under another name."""
    path = small.with_name("mine.toml")
    path.write_text(SMALL.replace('name = "small"', 'name = "mine"'), encoding="utf-8")
    return path
