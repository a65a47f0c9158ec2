"""C text for the calls of all operations (sort, merge, top-k and so on) in all GPU APIs (CUDA, OpenCL and so on).

The text declares the structs of arguments, and defines the functions and their test harnesses.
`hsgen.operations.arguments` describes the arguments.  ``templates/bundle/calls.j2`` has the text that all APIs share.
``templates/apis/NAME/calls.j2`` has the macros in which APIs differ.
"""

from __future__ import annotations

import textwrap
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from hsgen import operations
from hsgen.apis.api import Api
from hsgen.emit.c_values import C_ROLES
from hsgen.emit.templates import environment
from hsgen.operations.arguments import Arguments, N
from hsgen.operations.base import Operation

PLACE = "/* HSGEN_CALLS */\n"
"""The line in a C file that `completed` or `harness` replaces by the C text for the calls of all operations."""
COLUMNS = 120
_AT = 41
"""The column at which a comment beside the member of a struct begins."""
KINDS, FUNCTIONS = "/* HSGEN_KINDS */\n", "/* HSGEN_FUNCTIONS */"
"""Two placeholders: in hs.h for the members of the enum hs_kind, and in a harness for the names of the C functions."""
LENGTHS = "/* HSGEN_LENGTHS */\n"
"""The placeholder in hs_call.c for the `switch` cases that compute how many elements a buffer has."""


def listed() -> list[Operation]:
    """Return all operations in the order of their values of the enum hs_kind.

    Several operations may have the same value.  Among these, the sort comes first.
    """
    return sorted(operations.EVERY.values(), key=lambda o: (o.c_number, not o.by_count))


def of_kinds() -> list[Operation]:
    """Return one operation for each value of the enum hs_kind: the first in the order of `listed`."""
    return list({o.c_number: o for o in reversed(listed())}.values())[::-1]


def kinds() -> str:
    """Return the members of the enum hs_kind as C text."""
    return ",\n".join(f"    {o.c_kind} = {o.c_number}" for o in of_kinds()) + "\n"


def lengths() -> str:
    """Return the `switch` cases of the C function ``hs_length``, which computes how many elements a call's buffer has.

    The cases select by operation, then by the buffer's role.  There are no cases for reports and for buffers of a
    single word, because the runtimes know their lengths.
    """
    cases, plain = "", ""
    for o in of_kinds():
        roles: dict[str, list[str]] = {}
        for b in o.arguments.buffers:
            if b.role and not b.single and b.role != "report" and b.length != N:
                roles.setdefault(b.length.text, []).append(f"role == {C_ROLES[b.role]}")
        if not roles:
            plain += f"    case {o.c_kind}:\n"
            continue
        cases += f"    case {o.c_kind}:\n"
        cases += "".join(f"        if ({' || '.join(names)}) return {text};\n" for text, names in roles.items())
        cases += "        return n;\n"
    return f"{cases}{plain}    default: return n;\n"


def comment(text: str, margin: str = "") -> str:
    """Return `text` as a C comment, wrapped to lines that start with the white space `margin`."""
    first, rest = f"{margin}/* ", f"{margin} * "
    lines = textwrap.wrap(text, COLUMNS - 3, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return "\n".join(lines) + " */"


def member(declaration: str, meaning: str) -> str:
    """Return the declaration of a struct's member, with the comment `meaning` on the same line or above."""
    line = f"    {declaration};"
    if not meaning:
        return line
    beside = f"{line:<{_AT}}/* {meaning} */"
    return beside if len(line) < _AT and len(beside) <= COLUMNS else f"{comment(meaning, '    ')}\n{line}"


def expression(text: str, api: str, words: Any, arguments: Arguments) -> str:
    """Return the C expression for a number that a C function passes to the runtime, such as a number of segments.

    text: the expression in `arguments`, such as `Arguments.number`, with ``{NAME}`` for the argument NAME.
    words: the API's macros, as the module of the template that defines them.
    """
    names = {m.name.partition("[")[0]: f"args->{m.name.partition('[')[0]}" for m in arguments.members}
    presence = {f"has_{b.name}": words.present(b.name) for b in arguments.buffers}
    text = text.format_map({**names, **presence, "sort": f"hs_{api}_sort_of({words.given().split(',')[0]})"})
    return ("\n" + " " * 12).join(textwrap.wrap(text, COLUMNS - 30, break_on_hyphens=False))


def completed(api: Api, pattern: str) -> str:
    """Return the text of an API's C file: its template, with the calls of all operations, and with the API's C names.

    pattern: the name of the file, as in `Api.sources`.
    """
    path = api.file(pattern)
    text = path.read_text(encoding="utf-8")
    if PLACE in text:
        part = "declarations" if path.suffix == ".h" else "definitions"
        text = text.replace(PLACE, _calls(api.template("calls.j2"), part))
    return api.renamed(text, path)


def harness(api: Api, text: str) -> str:
    """Return `text`, a C file of the test harness of an API, with the calls of all operations inserted.

    If the API extends another API, the result may have C names of that other API.  The caller changes them by
    `Api.renamed`.
    """
    names = ", ".join(f'"hs_" api "_{o.name}" more' for o in of_kinds())
    text = text.replace(FUNCTIONS, f"{{{names}}}")
    return text.replace(PLACE, _calls(api.template("calls.j2"), "harness")) if PLACE in text else text


@cache
def _calls(template: str, part: str) -> str:
    """Return the text for the calls of all operations in one C file.

    template: the template with the macros of an API.  The text has the C names of that API.
    part: "declarations", "definitions" or "harness", a macro of ``templates/bundle/calls.j2``.
    """
    env = environment()
    env.filters |= {"c_comment": comment, "c_member": member, "c_role": C_ROLES.__getitem__, "c_expression": expression}
    module: Any = env.get_template("bundle/calls.j2").module
    words: Any = env.get_template(template).module
    calls = of_kinds() if part == "harness" else listed()
    return str(getattr(module, part)(PurePosixPath(template).parent.name, words, calls))
