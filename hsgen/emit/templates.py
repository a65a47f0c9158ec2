"""The environment of all templates, which records the templates that are opened while a text is rendered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from textwrap import indent
from typing import Any

import jinja2

from hsgen.core import buffers, flags
from hsgen.emit import repeated, sharing, unroll
from hsgen.system import resources

_opened: ContextVar[set[str] | None] = ContextVar("opened", default=None)


class _Template(jinja2.Template):
    """A template that records the templates opened while its module is created.

    Jinja creates the module of an imported template once, so that later imports open nothing; imports within a macro
    are opened by each call.
    """

    environment: Environment

    def make_module(
        self, vars: dict[str, Any] | None = None, shared: bool = False, locals: Mapping[str, Any] | None = None
    ) -> Any:
        """Create the module and record the templates that this opens, which every import of it counts as opened."""
        with recording() as mine:
            made = super().make_module(vars, shared, locals)
        if self.name:
            self.environment.behind[self.name] = frozenset(mine)
        return made


class Environment(jinja2.Environment):
    """An environment that reports to `recording` each template that is opened, from its cache or not."""

    template_class = _Template

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.behind: dict[str, frozenset[str]] = {}
        """The templates that the creation of a module opened, by the name of the module's template."""

    def get_template(
        self,
        name: str | jinja2.Template,
        parent: str | None = None,
        globals: MutableMapping[str, Any] | None = None,
    ) -> jinja2.Template:
        """Return a template and record that it was opened; Jinja calls this for imports and includes, too."""
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
    """Return the environment of all templates: undefined names are errors, and output is independent of the locale."""
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
    env.globals |= {
        "unroll": unroll.unroll,
        "batches": unroll.batches,
        "constants": unroll.constants,
        "digits": unroll.digits,
        "repeated": repeated.repeated,
        "shared": sharing.shared,
    }
    env.filters["block"] = lambda text: indent(text, "    ")  # statements of a block, if there are any
    env.filters["inside"] = lambda text: indent(text, "    ").rstrip("\n")  # likewise, of a line of its own
    env.filters["lg"] = lambda n: n.bit_length() - 1
    return env
