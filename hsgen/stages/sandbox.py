"""The process that renders a fragment, the Jinja template of an epilogue, with limited rights, time and memory.

A fragment may come from an untrusted bundle.  Jinja's immutable sandbox hides Python's objects from the fragment.  The
process cannot open files or start programs.  Where the operating system enforces limits, the process may use at most
`CPU_SECONDS` of processor time and `MEMORY` bytes.  The process reads a fragment from stdin, and writes one line of
JSON to stdout.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from types import MethodType
from typing import Any

import jinja2
from jinja2.runtime import LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

CPU_SECONDS = 1
MEMORY = 256 << 20
OUTPUT = 1 << 16
"""The greatest number of characters in a fragment's output, and in any string during rendering."""
MACRO = "epilogue"
SETTINGS = ("report_words", "report_words_per_key", "changes_keys")
VALUE_WORDS = 4  # the 32-bit words of the widest value
_FILTERS = ("abs", "default", "first", "format", "indent", "int", "join", "last", "length", "list", "lower", "max")
_MORE_FILTERS = ("min", "replace", "reverse", "string", "sum", "trim", "upper")
_ITERATIONS = 100_000
_AUDITED = ("compile", "exec", "code.__new__", "object.__getattr__")
"""Python's audit events that permitted fragments raise.  All other events are refused."""
_WARM = (
    "{% macro epilogue(i) %}{% for j in range(1) %}{{ loop.index ~ 'x' }}{% endfor %}{% endmacro %}",
    "{{ x }}",
    "{%",
)
"""Templates that the process renders before it gives up the right to open files.

Rendering these templates makes Jinja import all modules that it needs later.  Some templates are invalid on purpose,
for the modules that errors need.
"""


class Refused(Exception):
    """The error that is raised if a fragment performs a forbidden operation."""


class _Sandbox(ImmutableSandboxedEnvironment):
    """A Jinja environment in which templates may read attributes only of `loop`.

    Templates may call only macros, `loop`, methods of `loop`, and the functions of this module.
    """

    intercepted_binops = frozenset(ImmutableSandboxedEnvironment.default_binop_table)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may read an attribute: only attributes of `loop`."""
        return isinstance(obj, LoopContext) and not attr.startswith("_")

    def is_safe_callable(self, obj: Any) -> bool:
        """Whether a template may call an object.

        Undefined names are permitted here, because Jinja raises a clearer error if a template calls an undefined name.
        """
        if isinstance(obj, MethodType):
            return isinstance(obj.__self__, LoopContext)
        return isinstance(obj, (Macro, LoopContext, jinja2.Undefined)) or getattr(obj, "__module__", "") == __name__

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Return the result of an operator: a number of at most 64 bits, or a string of at most `OUTPUT` characters.

        Raises:
            Refused: the result exceeds these limits, or an operand is not a number and the operator is not +.
        """
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        if not numbers and operator != "+":
            raise Refused(f"{operator} is for numbers only; join strings by ~")
        if operator == "**" and not (abs(left) < 2**32 and 0 <= right <= 64):
            raise Refused("the result of ** exceeds 64 bits")
        out = super().call_binop(context, operator, left, right)
        if (numbers and abs(out) > 2**64) or (not numbers and len(out) > OUTPUT):
            raise Refused(f"the result of {operator} exceeds 64 bits or {OUTPUT} characters")
        return out


def _range() -> Callable[..., range]:
    left = _ITERATIONS

    def bounded(*bounds: int) -> range:
        nonlocal left
        numbers = range(*bounds)
        if not all(-(2**31) <= b < 2**31 for b in bounds) or len(numbers) > left:
            raise Refused(f"range yields more than {_ITERATIONS} numbers in total")
        left -= len(numbers)
        return numbers

    return bounded


def _environment() -> jinja2.Environment:
    env = _Sandbox(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    env.globals = {"range": _range()}
    env.filters = {name: env.filters[name] for name in (*_FILTERS, *_MORE_FILTERS)}
    return env


def place(name: str) -> str:
    """Return the text that stands for an argument in the statements until `epilogue.statements` replaces it."""
    return f"\1{name}\2"


def _value(word: int = 0) -> str:
    if type(word) is not int or not 0 <= word < VALUE_WORDS:
        raise Refused(f"value takes the number of a word, 0 to {VALUE_WORDS - 1}")
    return place(f"value{word}")


def _report(word: Any = 0) -> str:
    return f"report[({word})]"


def _argument(name: str) -> Any:
    return {"value": _value, "report": _report}.get(name) or place(name)


def read(text: str) -> dict[str, Any]:
    """Return the names of the macro's arguments, the fragment's `SETTINGS`, and the statements of the expanded macro.

    The result is ``{"macro": False}`` if the fragment has no macro with the name `MACRO`.

    Raises:
        Exception: the fragment is invalid or performs a forbidden operation; any exception of Jinja or Python.
    """
    module: Any = _environment().from_string(text).module
    macro = getattr(module, MACRO, None)
    if not isinstance(macro, Macro):
        return {"macro": False}
    body = str(macro(*(_argument(name) for name in macro.arguments)))
    if len(body) > OUTPUT:
        raise Refused(f"its output exceeds {OUTPUT} characters")
    settings = {word: getattr(module, word, 0) for word in SETTINGS}
    for word, value in settings.items():
        if type(value) not in (int, bool):
            settings[word] = repr(value)[:40] if isinstance(value, str) else type(value).__name__
    return {"macro": True, "arguments": list(macro.arguments), "settings": settings, "body": body}


def answer(text: str) -> dict[str, Any]:
    """Return the result of `read`, or ``{"error": line}``, where `line` describes the problem."""
    try:
        return read(text)
    except Exception as e:
        return {"error": _line(e)}


def confine() -> None:
    """Limit the processor time, the memory and the rights of this process, for its remaining life."""
    try:
        import resource
    except ImportError:  # on Windows, only the parent process limits the time
        pass
    else:
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(used.ru_utime + used.ru_stime) + 1 + CPU_SECONDS
        limits = {"CPU": seconds, "AS": MEMORY, "FSIZE": 0, "CORE": 0, "NPROC": 0}
        for name, most in limits.items():
            kind = getattr(resource, f"RLIMIT_{name}", None)
            if kind is not None:
                try:
                    resource.setrlimit(kind, (most, most))
                except (OSError, ValueError):
                    continue  # the system does not support this limit, or has a lower limit already
    sys.addaudithook(_audit)


def _audit(event: str, _: tuple[Any, ...]) -> None:
    if event not in _AUDITED:
        raise Refused(f"{event} is not permitted in epilogues")


def _line(error: BaseException) -> str:
    """Return one printable line that describes an error."""
    if isinstance(error, MemoryError):
        return f"takes more than {MEMORY >> 20} MB of memory"
    text = str(error) if not isinstance(error, RecursionError) else "is nested too deeply"
    where = f"line {error.lineno}: " if isinstance(error, jinja2.TemplateSyntaxError) else ""
    line = f"{where}{text or type(error).__name__}"[:200]
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in re.sub("[\1\2]", "", line))


def main() -> None:
    """Read a fragment from stdin, and write the answer to stdout."""
    text = sys.stdin.buffer.read().decode("ascii")
    for template in _WARM:
        answer(template)
    confine()
    sys.stdout.write(json.dumps(answer(text)) + "\n")


if __name__ == "__main__":
    main()
