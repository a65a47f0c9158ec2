"""Build the two Markdown tables of docs/reference/dialect.md: what each dialect is capable of, and the words that
kernel bodies may use.
"""

from __future__ import annotations

from collections.abc import Iterator

import jinja2

from hsgen.dialects.contract import Group, contract
from hsgen.dialects.dialect import MAIN, Dialect, load


def dialects(env: jinja2.Environment) -> list[Dialect]:
    """Return the dialects of the templates, ordered by name."""
    begin, end = MAIN.split("{}")
    names = sorted(n.removeprefix(begin).removesuffix(end) for n in env.list_templates() if n.endswith(end))
    return [load(env, name) for name in names]


def table(env: jinja2.Environment) -> str:
    """Return two Markdown tables: the capabilities of each dialect, and the words (functions, types and macros) that
    kernel bodies may use.
    """
    known, all_ = contract(env), dialects(env)
    lines = ["## Capabilities", "", f"| capability | meaning | {' | '.join(d.name for d in all_)} |"]
    lines.append("|---" * (2 + len(all_)) + "|")
    for name, meaning in known.capabilities.items():
        has = " | ".join("yes" if name in d.capabilities else "" for d in all_)
        lines.append(f"| `{name}` | {meaning} | {has} |")
    lines += ["", "## Words", "", "| word | meaning |", "|---|---|"]
    for group in known.groups:
        lines += _rows(group)
    return "\n".join(lines) + "\n"


def _rows(group: Group) -> Iterator[str]:
    notes = [f"in dialects with `{group.needs}`"] * bool(group.needs)
    notes += [f"where {group.when}"] * bool(group.when)
    yield f"| **{group.title}** | {', '.join(notes)} |"
    for word in group.words:
        yield f"| `{word.signature}` | {word.meaning} |"
