"""Compiled templates in the user's cache: used by the next process, and compiled again where an entry does not fit."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import jinja2
import pytest

from hsgen.emit import templates
from hsgen.system import folders, resources


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the templates that environments of this test compile, with a copy of the templates and a cache."""
    names: list[str] = []
    original = templates.Environment._compile

    def compile_(self: templates.Environment, source: str, filename: str) -> object:
        names.append(Path(filename).name)
        return original(self, source, filename)

    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/a.j2").write_text("{{ 8 | lg }}", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(resources, "templates", lambda: tmp_path / "templates")
    monkeypatch.setattr(templates.Environment, "_compile", compile_)
    return names


def rendered() -> str:
    """The text of the template by a new environment, as a new process has it."""
    return templates.environment.__wrapped__().get_template("a.j2").render()


def test_the_next_process_compiles_nothing(compiled: list[str]) -> None:
    assert [rendered(), rendered()] == ["3", "3"] and compiled == ["a.j2"]


def test_a_changed_template_is_compiled(compiled: list[str]) -> None:
    assert rendered() == "3"
    (resources.templates() / "a.j2").write_text("{{ 16 | lg }}", encoding="utf-8")
    assert [rendered(), rendered()] == ["4", "4"] and compiled == ["a.j2", "a.j2"]


def test_another_version_of_jinja_compiles(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert rendered() == "3"
    monkeypatch.setattr(templates, "version", lambda name: "0")
    assert rendered() == "3" and compiled == ["a.j2", "a.j2"]


def test_a_damaged_entry_is_compiled(compiled: list[str]) -> None:
    assert rendered() == "3"
    folder = folders.usable("templates")
    assert folder is not None
    (entry,) = folder.iterdir()
    entry.write_bytes(entry.read_bytes()[:-40])
    assert [rendered(), rendered()] == ["3", "3"] and compiled == ["a.j2", "a.j2"]


def test_without_a_cache_each_process_compiles(
    compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [rendered(), rendered()] == ["3", "3"] and compiled == ["a.j2", "a.j2"]
    assert not recwarn.list


def test_a_frozen_program_compiles(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(templates, "version", version)
    assert [rendered(), rendered()] == ["3", "3"] and compiled == ["a.j2", "a.j2"]


def test_errors_name_the_template(compiled: list[str]) -> None:
    (resources.templates() / "a.j2").write_text("{{ missing }}", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(jinja2.UndefinedError, match="missing"):
            rendered()
    assert compiled == ["a.j2"]
