"""The environment of all templates, which records what is opened while a text is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import jinja2

from hsgen.core import buffers, flags
from hsgen.system import resources

_opened: ContextVar[set[str] | None] = ContextVar("opened", default=None)


class _Template(jinja2.Template):
    """A template whose module, once made, remembers which others its making opened.

    Jinja makes the module of an imported template once and keeps it, so later imports of it open nothing; what a macro
    imports is opened by each call.
    """

    environment: Environment

    def make_module(
        self, vars: dict[str, Any] | None = None, shared: bool = False, locals: Mapping[str, Any] | None = None
    ) -> Any:
        """Make the module; what it opens belongs to all who import it from now on."""
        with recording() as mine:
            made = super().make_module(vars, shared, locals)
        if self.name:
            self.environment.behind[self.name] = frozenset(mine)
        return made


class Environment(jinja2.Environment):
    """An environment that tells `recording` of each template that is opened, whether from its cache or not."""

    template_class = _Template

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.behind: dict[str, frozenset[str]] = {}
        """By the name of a template, those that its module opened when it was made."""

    def get_template(
        self,
        name: str | jinja2.Template,
        parent: str | None = None,
        globals: MutableMapping[str, Any] | None = None,
    ) -> jinja2.Template:
        """Return a template and note that it was opened; templates themselves import by this."""
        found = super().get_template(name, parent, globals)
        _note({str(found.name), *self.behind.get(str(found.name), ())})
        return found


def _note(names: set[str] | frozenset[str]) -> None:
    if (known := _opened.get()) is not None:
        known |= names


@contextmanager
def recording() -> Iterator[set[str]]:
    """Collect the names of all templates that are opened until the context ends."""
    mine: set[str] = set()
    token = _opened.set(mine)
    try:
        yield mine
    finally:
        _opened.reset(token)
        _note(mine)


@cache
def environment() -> Environment:
    """Return the environment of all templates: undefined names are errors, nothing depends on the locale."""
    env = Environment(
        loader=jinja2.FileSystemLoader(resources.templates(), encoding="utf-8"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        newline_sequence="\n",
        autoescape=False,
    )
    env.globals |= {"PICKED": buffers.PICKED, "COUNT_BUFFER": buffers.COUNT_BUFFER, "bit": flags.BIT}
    env.filters["lg"] = lambda n: n.bit_length() - 1
    return env
