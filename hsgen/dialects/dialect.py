"""Dialects: the facts of a kernel language that the generator needs; the rest is in ``templates/dialects/NAME/``."""

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
"""The facts that a dialect defines or inherits from the one that it extends."""
OPTIONAL = {"translator": str, "passes": tuple}
"""Facts that it may define."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A kernel language: its facts, and the two macros of its templates.

    prelude(sort): defines the words of bodies.  wrap(sort, kernel, body): adds signature, bindings and local arrays to
    a body; with passes, it also takes the functions for selected buffers and the names of those that the body calls.
    capabilities: optional features, by their names in the contract.  helpers: further words that it defines, which
    bodies do not use.  passes: those of `hsgen.tree` over bodies, in their order.  translator: the package of
    `hsgen.emit` that turns the text, which is C, into the language, or "".
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

    ``dialect.j2`` has the facts, and a macro `prelude` with all words; or it names the dialect that it `extends`, and
    has the facts that differ and a macro `words` with the definitions that differ.  ``kernel.j2`` has a macro `kernel`,
    the frame of a kernel.

    Raises:
        Wrong: a dialect extends itself, lacks a fact, or has a capability that is not in the contract.
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
        if e.name != FRAME.format(name):  # otherwise the frame is that of the base
            raise
    made = replace(base, name=name, **facts)
    return replace(made, prelude=lambda sort: _extended(env, made, base, sort, str(module.words(sort))))


def _frame(env: jinja2.Environment, name: str) -> Callable[..., str]:
    module: Any = env.get_template(FRAME.format(name)).module
    return lambda sort, kernel, body, *more: str(module.kernel(kernel, sort, *more, caller=lambda: body))


def _extended(env: jinja2.Environment, made: Dialect, base: Dialect, sort: Sort, own: str) -> str:
    """The prelude of a dialect that extends another, with its definitions `own`.

    Raises:
        Wrong: a definition is of a word that is neither in the contract nor a helper, or has another number of
            parameters than in the contract.
    """
    words = contract(env).words(made.capabilities)
    for d in definitions.split(own):
        for name in d.names:
            if name not in words and name not in made.helpers:
                what = "is neither a word of the contract nor a helper"
                raise Wrong(f"templates: {MAIN.format(made.name)}: {name} {what}; repair the template")
            want = words[name].parameters if name in words else None
            if want is not None and d.parameters is not None and len(want) != len(d.parameters):
                raise Wrong(
                    f"templates: {MAIN.format(made.name)}: {name} takes {len(d.parameters)} parameters, "
                    f"not {len(want)}; repair the template"
                )
    added = words.keys() - contract(env).words(base.capabilities).keys()
    return definitions.overridden(base.prelude(sort), own, made.helpers, added)
