"""The Jinja environment of all templates, which records the templates that Jinja opens while it renders a text."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from textwrap import indent
from typing import Any

import jinja2
from jinja2.bccache import Bucket

from hsgen.core import buffers, flags
from hsgen.core.errors import Unavailable
from hsgen.emit import repeated, sharing, unroll
from hsgen.system import folders, resources

_opened: ContextVar[set[str] | None] = ContextVar("opened", default=None)


class _Template(jinja2.Template):
    """A template that remembers which templates it imports, for `recording`.

    When Jinja imports a template for the first time, it creates the template's module, and opens the templates that it
    imports in turn.  Later imports reuse the module and open nothing, but `recording` must report the same names.
    """

    environment: Environment

    def make_module(
        self, vars: dict[str, Any] | None = None, shared: bool = False, locals: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the module, and store in `Environment.behind` which templates its creation opened."""
        with recording() as opened:
            module = super().make_module(vars, shared, locals)
        if self.name:
            self.environment.behind[self.name] = frozenset(opened)
        return module


class _Compiled(jinja2.BytecodeCache):
    """The cache of compiled templates in the user's cache folder.

    If there is no usable folder, each process compiles the templates that it needs.  An entry of the cache is valid for
    one text of the template and of this Python module, and one version of Python and of Jinja.  The text of this module
    matters because, at compile time, Jinja applies the module's filters to constants.
    """

    def __init__(self) -> None:
        try:
            module = Path(__file__).read_text(encoding="utf-8")
            self._compiler = f"{sys.implementation.cache_tag} {version('jinja2')} {module}"
            self._folder = folders.usable("templates")
        except (OSError, PackageNotFoundError):  # a frozen program has no source text or package metadata
            self._compiler, self._folder = "", None

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the file name of an entry, which depends only on the template's name, so installations share it."""
        return hashlib.sha256(name.encode()).hexdigest()

    def get_source_checksum(self, source: str) -> str:
        """Return a checksum of the template's text, the versions of Python and Jinja, and this module's text."""
        return hashlib.sha256(f"{self._compiler}{source}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the entry of a template if it exists and is valid."""
        if self._folder and (data := folders.load(self._folder / bucket.key)):
            bucket.bytecode_from_string(data)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store the entry of a template; a failure is ignored."""
        if self._folder:
            with suppress(Unavailable):
                folders.keep(self._folder / bucket.key, bucket.bytecode_to_string())


class Environment(jinja2.Environment):
    """A Jinja environment that reports each opened template to `recording`, even if Jinja already has it in memory."""

    template_class = _Template

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.behind: dict[str, frozenset[str]] = {}
        """The names of the templates that the creation of a template's module opened, by the name of the template."""

    def get_template(
        self,
        name: str | jinja2.Template,
        parent: str | None = None,
        globals: MutableMapping[str, Any] | None = None,
    ) -> jinja2.Template:
        """Return a template, and record it as opened; Jinja also calls this method for imports and includes."""
        template = super().get_template(name, parent, globals)
        _note({str(template.name), *self.behind.get(str(template.name), ())})
        return template


def _note(names: set[str] | frozenset[str]) -> None:
    if (known := _opened.get()) is not None:
        known |= names


@contextmanager
def recording() -> Iterator[set[str]]:
    """Yield a set; until the context ends, the environment adds to it the name of each template that Jinja opens."""
    opened: set[str] = set()
    token = _opened.set(opened)
    try:
        yield opened
    finally:
        _opened.reset(token)
        _note(opened)


def _one_line(text: str) -> str:
    """Return the lines of a text, such as the definition of a C macro, joined to one line."""
    first, *rest = text.splitlines()
    return " ".join([first, *(line.strip() for line in rest)]) + "\n"


@cache
def environment() -> Environment:
    """Return the environment of all templates.  Undefined names are errors; output does not depend on the locale."""
    env = Environment(
        loader=jinja2.FileSystemLoader(resources.templates(), encoding="utf-8"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        newline_sequence="\n",
        autoescape=False,
        bytecode_cache=_Compiled(),
    )
    env.globals |= {"PICKED": buffers.PICKED, "COUNT_BUFFER": buffers.COUNT_BUFFER, "bit": flags.BIT}
    env.globals |= {
        "unroll": unroll.unroll,
        "batches": unroll.batches,
        "constants": unroll.constants,
        "folds": unroll.folds,
        "digits": unroll.digits,
        "repeated": repeated.repeated,
        "shared": sharing.shared,
    }
    env.filters["block"] = lambda text: indent(text, "    ")  # indents the statements of a block, which may be empty
    env.filters["inside"] = lambda text: indent(text, "    ").rstrip("\n")  # like `block`, but without a final newline
    env.filters["one_line"] = _one_line
    env.filters["lg"] = lambda n: n.bit_length() - 1
    return env
