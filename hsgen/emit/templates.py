"""The Jinja environment of all templates; it records the templates that are opened while a text is rendered."""

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
    """A template that records the templates opened during the creation of its module.

    Jinja creates the module of an imported template once, so later imports open no templates.  Imports within a macro
    open templates in each call.
    """

    environment: Environment

    def make_module(
        self, vars: dict[str, Any] | None = None, shared: bool = False, locals: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the module, and record the templates that its creation opens, for later imports."""
        with recording() as opened:
            module = super().make_module(vars, shared, locals)
        if self.name:
            self.environment.behind[self.name] = frozenset(opened)
        return module


class _Compiled(jinja2.BytecodeCache):
    """The compiled templates in the user's cache; without a usable cache, each process compiles its templates.

    An entry is valid for a text of a template, for a Python, for a version of Jinja, and for this module.  Jinja
    applies the filters of this module to constants.
    """

    def __init__(self) -> None:
        try:
            module = Path(__file__).read_text(encoding="utf-8")
            self._compiler = f"{sys.implementation.cache_tag} {version('jinja2')} {module}"
            self._folder = folders.usable("templates")
        except (OSError, PackageNotFoundError):  # in a frozen program
            self._compiler, self._folder = "", None

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the file name of an entry: by the template's name, so that copies of hsgen share entries."""
        return hashlib.sha256(name.encode()).hexdigest()

    def get_source_checksum(self, source: str) -> str:
        """Return the checksum of a template's text, of Python, Jinja and this module."""
        return hashlib.sha256(f"{self._compiler}{source}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load an entry, if there is a valid entry."""
        if self._folder and (data := folders.load(self._folder / bucket.key)):
            bucket.bytecode_from_string(data)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store an entry."""
        if self._folder:
            with suppress(Unavailable):
                folders.keep(self._folder / bucket.key, bucket.bytecode_to_string())


class Environment(jinja2.Environment):
    """An environment that reports each opened template to `recording`, including cached templates."""

    template_class = _Template

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.behind: dict[str, frozenset[str]] = {}
        """For each template, the templates that the creation of its module opened."""

    def get_template(
        self,
        name: str | jinja2.Template,
        parent: str | None = None,
        globals: MutableMapping[str, Any] | None = None,
    ) -> jinja2.Template:
        """Return a template and record it as opened; Jinja also calls this method for imports and includes."""
        template = super().get_template(name, parent, globals)
        _note({str(template.name), *self.behind.get(str(template.name), ())})
        return template


def _note(names: set[str] | frozenset[str]) -> None:
    if (known := _opened.get()) is not None:
        known |= names


@contextmanager
def recording() -> Iterator[set[str]]:
    """Yield a set that collects the names of all templates opened until the end of the block."""
    opened: set[str] = set()
    token = _opened.set(opened)
    try:
        yield opened
    finally:
        _opened.reset(token)
        _note(opened)


def _one_line(text: str) -> str:
    """Return lines of a template as one line of the output: a definition, for example."""
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
    env.filters["block"] = lambda text: indent(text, "    ")  # the statements of a block, possibly none
    env.filters["inside"] = lambda text: indent(text, "    ").rstrip("\n")  # the same, without the last line end
    env.filters["one_line"] = _one_line
    env.filters["lg"] = lambda n: n.bit_length() - 1
    return env
