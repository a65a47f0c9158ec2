"""The class `Dialect`, which has the facts about a kernel language, such as its file suffix, and its definitions.  Both
come from ``templates/dialects/NAME/``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jinja2

from hsgen.core.errors import Wrong
from hsgen.core.sort import Sort
from hsgen.dialects import definitions
from hsgen.dialects.contract import contract

MAIN, FRAME = "dialects/{}/dialect.j2", "dialects/{}/kernel.j2"
FACTS = {"suffix": str, "comment": str, "capabilities": frozenset, "helpers": frozenset}
"""The facts that each dialect's template must define or inherit, with their types."""
OPTIONAL = {"translator": str, "passes": tuple}
"""The facts that a dialect's template may omit, with their types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A kernel language: its facts, and functions that call the macros of its templates.

    suffix: the suffix of kernel files.
    comment: the characters that start a comment.
    prelude(sort): returns the prelude of a sort, the definitions of the words that kernel bodies use.
    wrap(sort, kernel, body): returns a whole kernel: the body with signature, bindings and local arrays.  In a dialect
    with passes, `wrap` has two more parameters: the text of the functions for selected buffers, and the names of the
    functions that the body calls.
    capabilities: which capabilities the dialect has, of those that the contract lists.
    helpers: the names of further macros and functions that the dialect's own definitions use.
    passes: the names of the passes (`hsgen.tree.passes`) that change bodies, in order.
    translator: the package of `hsgen.emit` that translates kernels from C to the language; "" if none is needed.
    """

    name: str
    suffix: str
    comment: str
    capabilities: frozenset[str]
    helpers: frozenset[str]
    prelude: Callable[[Sort], str]
    wrap: Callable[..., str]
    passes: tuple[str, ...] = ()
    translator: str = ""


def load(env: jinja2.Environment, name: str) -> Dialect:
    """Return the dialect of the folder ``dialects/<name>/``.

    ``dialect.j2`` has the facts, and a macro `prelude` that defines all words.  In a dialect that `extends` another
    dialect, ``dialect.j2`` has only the facts that differ, and a macro `words` with the definitions that differ.
    ``kernel.j2`` has a macro `kernel`, which adds the signature, bindings and local arrays to a body.

    Raises:
        Wrong: a dialect extends itself, lacks a fact, or has a capability that the contract lacks.
    """
    return _load(env, name, ())


def _load(env: jinja2.Environment, name: str, extending: tuple[str, ...]) -> Dialect:
    main = MAIN.format(name)
    if name in extending:
        raise Wrong(f"templates: {main}: extends itself, through {', '.join(extending)}; extend another dialect")
    module: Any = env.get_template(main).module
    kinds = FACTS | OPTIONAL
    facts: dict[str, Any] = {fact: kind(getattr(module, fact)) for fact, kind in kinds.items() if hasattr(module, fact)}
    unknown = facts.get("capabilities", frozenset()) - contract(env).capabilities.keys()
    if unknown:
        raise Wrong(
            f"templates: {main}: not a capability of the contract: {', '.join(sorted(unknown))}; repair the template"
        )
    if not hasattr(module, "extends"):
        missing = [fact for fact in FACTS if fact not in facts]
        if missing:
            raise Wrong(f"templates: {main}: does not define {', '.join(missing)}; repair the template")
        return Dialect(name=name, **facts, prelude=lambda sort: str(module.prelude(sort)), wrap=_frame(env, name))
    base = _load(env, module.extends, (*extending, name))
    if "helpers" in facts:
        facts["helpers"] |= base.helpers
    try:
        facts["wrap"] = _frame(env, name)
    except jinja2.TemplateNotFound as e:
        if e.name != FRAME.format(name):  # without `kernel.j2`, the dialect uses the `kernel.j2` of its base
            raise
    dialect = replace(base, name=name, **facts)
    return replace(dialect, prelude=lambda sort: _extended(env, dialect, base, sort, str(module.words(sort))))


def _frame(env: jinja2.Environment, name: str) -> Callable[..., str]:
    module: Any = env.get_template(FRAME.format(name)).module
    return lambda sort, kernel, body, *more: str(module.kernel(kernel, sort, *more, caller=lambda: body))


def _extended(env: jinja2.Environment, dialect: Dialect, base: Dialect, sort: Sort, changes: str) -> str:
    """Return the prelude of a dialect that extends `base`; `changes` has the definitions that differ.

    Raises:
        Wrong: a defined word is neither in the contract nor a helper, or differs from the contract in its number of
            parameters.
    """
    words = contract(env).words(dialect.capabilities)
    for d in definitions.split(changes):
        for name in d.names:
            if name not in words and name not in dialect.helpers:
                problem = "is neither a word of the contract nor a helper"
                raise Wrong(f"templates: {MAIN.format(dialect.name)}: {name} {problem}; repair the template")
            expected = words[name].parameters if name in words else None
            if expected is not None and d.parameters is not None and len(expected) != len(d.parameters):
                raise Wrong(
                    f"templates: {MAIN.format(dialect.name)}: {name} takes {len(d.parameters)} parameters, "
                    f"not {len(expected)}; repair the template"
                )
    added = words.keys() - contract(env).words(base.capabilities).keys()
    return definitions.overridden(base.prelude(sort), changes, dialect.helpers, added)
