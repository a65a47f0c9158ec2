"""Changes texts in a copy of the templates."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hsgen.emit import kernels as render
from hsgen.system import resources

Change = Callable[[str, str, str], None]
"""Replaces a text of a file of templates: file, old text, new text."""


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Change]:
    """Change a text in a copy of the templates, from which everything is then generated."""
    place = tmp_path / "templates"
    shutil.copytree(resources.templates(), place)

    def change(file: str, old: str, new: str) -> None:
        text = (place / file).read_text(encoding="utf-8")
        assert old in text
        (place / file).write_text(text.replace(old, new), encoding="utf-8")
        monkeypatch.setattr(resources, "templates", lambda: place)
        render.environment.cache_clear()

    yield change
    render.environment.cache_clear()
