"""C text to a syntax tree: macros expanded by pcpp, parsed by pycparser; comments stay as marked statements."""

from __future__ import annotations

import io
import re
from typing import Any

from hsgen.core.errors import Unavailable
from hsgen.emit.wgsl.tree import refuse
from hsgen.system import extras

MARK = "hs_note"
"""The function whose calls stand for comments: its arguments are 1 for a trailing comment, and the text."""

_TYPES = "typedef unsigned uint; typedef _Bool bool; typedef int u8, u16, uvec2, uvec3, uvec4;\n"
_COMMENT = re.compile(r"^(?P<code>[^\"]*?)(?://\s*(?P<text>.*))?$")


def libraries() -> tuple[Any, Any]:
    """Return pcpp and pycparser's parser.

    Raises:
        Unavailable: they are not installed.
    """
    try:
        import pcpp
        from pycparser import c_parser
    except ImportError as e:
        raise Unavailable(f"WGSL requires {e.name}; {extras.command('wgsl')}") from None
    return pcpp, c_parser


def expanded(text: str) -> str:
    """Return a text with its macros expanded; lines keep their numbers by ``#line``."""
    pcpp, _ = libraries()
    problems: list[tuple[int, str]] = []

    class Preprocessor(pcpp.Preprocessor):  # type: ignore[misc, name-defined]
        def on_error(self, file: str, line: int, msg: str) -> None:
            problems.append((line, msg))

    made = Preprocessor()
    made.line_directive = "#line"
    made.parse(text, "")
    out = io.StringIO()
    made.write(out)
    if problems:
        refuse(problems[0][1], problems[0][0])
    return out.getvalue()


def parsed(text: str) -> Any:
    """Return pycparser's tree of a C text.

    Raises:
        Unavailable: pcpp or pycparser is not installed.
        Unsupported: the text is not in the subset.
    """
    _, c_parser = libraries()
    source = "#line 1\n" + expanded(marked(text))
    try:
        return c_parser.CParser().parse(_TYPES + source, "")
    except Exception as e:
        if type(e).__name__ != "ParseError":
            raise
        found = re.match(r".*?:(\d+):\d+: (.*)", str(e), re.DOTALL)
        refuse(found[2] if found else str(e).lstrip(": "), int(found[1]) if found else 0)


def marked(text: str) -> str:
    """Return a text whose comments between statements of functions are calls of `MARK`; others are gone."""
    lines, depth, ended, out = text.split("\n"), 0, True, []
    for at, line in enumerate(lines):
        found = _COMMENT.match(line)
        code, note = (found["code"], found["text"]) if found else (line, None)
        if code.lstrip().startswith("#"):
            out.append(code.rstrip())
            continue
        depth += code.count("{") - code.count("}")
        own = code.strip()
        ended = own.endswith((";", "{", "}")) if own else ended
        follows = next((x.strip() for x in lines[at + 1 :] if x.strip() and not x.strip().startswith("//")), "")
        alone = not own or own.endswith((";", "{"))
        if note and depth > 0 and ended and alone and not follows.startswith("else"):
            quoted = note.strip().replace("\\", "/").replace('"', "'")
            code = f'{code.rstrip()} {MARK}({1 if own else 0}, "{quoted}");'
        out.append(code)
    return "\n".join(out)
