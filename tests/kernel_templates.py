"""Kernels as they stand in templates: the lines of each, its statements of Jinja, and the parameters of macros."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import covering

from hsgen.system import resources

HOSTS = ("apis", "bundle", "operations", "report")
"""The folders of templates that kernels do not use."""
LINES, SHARE, PARAMETERS, COLUMNS = 40, 7, 5, 120
"""At most: lines of a kernel, lines a statement of Jinja among them, parameters of a macro, columns."""
COMMENT = re.compile(r"\{#.*?#\}\s*", re.DOTALL)
IMPORT = re.compile(r"\{%-? *(?:import|from) ")
STATEMENT = re.compile(r"\s*\{%")
MACRO = re.compile(r"\{%-? *macro +(\w+)\(([^)]*(?:\([^)]*\)[^)]*)*)\)")


@dataclass(frozen=True, slots=True)
class Body:
    """A kernel's lines, without comments of the template and without imports; and its statements of Jinja."""

    name: str
    lines: tuple[str, ...]

    @property
    def statements(self) -> int:
        """The lines that start a statement of Jinja."""
        return sum(bool(STATEMENT.match(line)) for line in self.lines)

    def faults(self) -> list[str]:
        """Return what exceeds a bound."""
        found = []
        if len(self.lines) > LINES:
            found.append(f"{len(self.lines)} lines")
        if self.statements * SHARE > len(self.lines):
            found.append(f"{self.statements} statements in {len(self.lines)} lines")
        return found


def body(template: str) -> Body:
    """Return the body of a kernel: a file, or a macro of a file of several kernels."""
    file, _, macro = template.partition(":")
    text = (resources.templates() / f"{file}.j2").read_text(encoding="utf-8")
    if macro:
        head = re.search(rf"\{{%-? *macro {macro}\(\) *-?%\}}\n?", text)
        assert head, f"{template}: there is no such macro without parameters"
        text = text[head.end() :]
        text = text[: re.search(r"^\{%-? *endmacro", text, re.MULTILINE).start()]  # type: ignore[union-attr]
    lines = COMMENT.sub("", text).splitlines()
    return Body(template, tuple(x for x in lines if x.strip() and not IMPORT.match(x)))


@cache
def kernels() -> tuple[str, ...]:
    """Return the templates of the kernels of `covering`, in order."""
    return tuple(sorted({k.template for sort, _ in covering.sorts() for k in sort.kernels}))


def files() -> list[str]:
    """Return the templates that kernels use."""
    top = resources.templates()
    found = (p.relative_to(top).as_posix() for p in top.rglob("*.j2"))
    return sorted(x for x in found if x.split("/")[0] not in HOSTS)


def faults(file: str) -> list[str]:
    """Return the macros of a file with too many parameters, and its lines that are too long."""
    text = (resources.templates() / file).read_text(encoding="utf-8")
    found = []
    for name, parameters in MACRO.findall(text):
        names = [x.split("=")[0].strip() for x in re.sub(r"\([^)]*\)", "", parameters).split(",") if x.strip()]
        count = len([x for x in names if x != "caller"])
        if count > PARAMETERS:
            found.append(f"{name}: {count} parameters")
    return found + [f"line {i}: {len(x)} columns" for i, x in enumerate(text.splitlines(), 1) if len(x) > COLUMNS]
