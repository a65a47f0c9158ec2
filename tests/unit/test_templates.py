"""Every template opened for a text is recorded, independently of Jinja's cache."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from hsgen.emit.templates import Environment, recording

FILES = {
    "root.j2": '{% import "top.j2" as top %}{{ top.plain() }}{% if deep %}{{ top.deep("made") }}{% endif %}',
    "top.j2": '{% import "below.j2" as below %}{% macro plain() %}{{ below.x }}{% endmacro %}'
    '{% macro deep(name) %}{% import "late_%s.j2" | format(name) as late %}{{ late.y }}{% endmacro %}',
    "below.j2": '{% set x = "x" %}',
    "late_made.j2": '{% import "below.j2" as below %}{% import "last.j2" as last %}{% set y = "y" %}',
    "last.j2": "",
    "included.j2": '{% include "words.j2" %}{% include which %}',
    "words.j2": '{% import "below.j2" as below %}{{ below.x }}',
    "never.j2": "",
}
SHALLOW = {"root.j2", "top.j2", "below.j2"}
DEEP = SHALLOW | {"late_made.j2", "last.j2"}


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Environment(loader=jinja2.FileSystemLoader(tmp_path), undefined=jinja2.StrictUndefined)


def opened(env: Environment, name: str, **values: object) -> set[str]:
    with recording() as found:
        env.get_template(name).render(**values)
    return found


def test_names_made_up_and_imports_in_macros_are_recorded_each_time(env: Environment) -> None:
    for deep in (False, True, False, True):  # imports of a macro belong to its calls alone
        assert opened(env, "root.j2", deep=deep) == (DEEP if deep else SHALLOW)


def test_modules_that_jinja_keeps_are_recorded_with_what_they_opened(env: Environment) -> None:
    assert opened(env, "root.j2", deep=True) == DEEP
    assert str(env.get_template("top.j2").module) == ""  # cached
    assert opened(env, "root.j2", deep=False) == SHALLOW


def test_what_is_included_is_recorded(env: Environment) -> None:
    for _ in range(2):
        assert opened(env, "included.j2", which="last.j2") == {"included.j2", "words.j2", "below.j2", "last.j2"}


def test_records_nest_and_nothing_is_recorded_outside(env: Environment) -> None:
    env.get_template("never.j2")
    with recording() as outer:
        env.get_template("last.j2")
        with recording() as inner:
            env.get_template("below.j2")
    assert (outer, inner) == ({"last.j2", "below.j2"}, {"below.j2"})
