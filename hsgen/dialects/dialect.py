"""Dialects: what of a kernel language the generator must know.  All else is in ``templates/dialects/NAME/``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jinja2

from hsgen.core.errors import Wrong
from hsgen.core.kernels import Kernel
from hsgen.core.sort import Sort
from hsgen.dialects import definitions
from hsgen.dialects.contract import contract

MAIN, FRAME = "dialects/{}/dialect.j2", "dialects/{}/kernel.j2"
FACTS = {"suffix": str, "comment": str, "capabilities": frozenset, "helpers": frozenset}
"""What a dialect says of itself, unless that is what the one says that it extends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One kernel language: facts, and the two macros that its templates define.

    `prelude(sort)` defines the words that bodies are written in; `wrap(sort, kernel, body)` gives a body its
    signature, bindings and local arrays.  `capabilities`: what not every dialect has, names of the contract.
    `helpers`: words that it defines for itself, which bodies do not use.
    """

    name: str
    suffix: str
    comment: str
    capabilities: frozenset[str]
    helpers: frozenset[str]
    prelude: Callable[[Sort], str]
    wrap: Callable[[Sort, Kernel, str], str]


def load(env: jinja2.Environment, name: str) -> Dialect:
    """Return the dialect of the folder ``dialects/<name>/``.

    ``dialect.j2`` has the facts, and a macro `prelude` with all words; or it names the dialect that it `extends`, and
    has a macro `words` with those that it defines otherwise, and facts that differ.  ``kernel.j2`` has the frame of a
    kernel, a macro `kernel`.

    Raises:
        Wrong: a dialect extends itself, lacks a fact, or names a capability that the contract does not know.
    """
    return _load(env, name, ())


def _load(env: jinja2.Environment, name: str, extending: tuple[str, ...]) -> Dialect:
    main = MAIN.format(name)
    if name in extending:
        raise Wrong(f"templates: {main}: extends itself, by {', '.join(extending)}; take another base")
    module: Any = env.get_template(main).module
    facts: dict[str, Any] = {fact: kind(getattr(module, fact)) for fact, kind in FACTS.items() if hasattr(module, fact)}
    unknown = facts.get("capabilities", frozenset()) - contract(env).capabilities.keys()
    if unknown:
        raise Wrong(
            f"templates: {main}: no capability of the contract: {', '.join(sorted(unknown))}; mend the template"
        )
    if not hasattr(module, "extends"):
        missing = [fact for fact in FACTS if fact not in facts]
        if missing:
            raise Wrong(f"templates: {main}: says no {', '.join(missing)}; mend the template")
        return Dialect(name=name, **facts, prelude=lambda sort: str(module.prelude(sort)), wrap=_frame(env, name))
    base = _load(env, module.extends, (*extending, name))
    if "helpers" in facts:
        facts["helpers"] |= base.helpers
    try:
        facts["wrap"] = _frame(env, name)
    except jinja2.TemplateNotFound as e:
        if e.name != FRAME.format(name):  # else kernels look like those of the base
            raise
    made = replace(base, name=name, **facts)
    return replace(made, prelude=lambda sort: _extended(env, made, base, sort, str(module.words(sort))))


def _frame(env: jinja2.Environment, name: str) -> Callable[[Sort, Kernel, str], str]:
    module: Any = env.get_template(FRAME.format(name)).module
    return lambda sort, kernel, body: str(module.kernel(kernel, sort, caller=lambda: body))


def _extended(env: jinja2.Environment, made: Dialect, base: Dialect, sort: Sort, own: str) -> str:
    """The prelude of a dialect that extends another, whose own definitions are `own`.

    Raises:
        Wrong: one of them is of no word that a dialect defines, or takes other parameters than it has to.
    """
    words = contract(env).words(made.capabilities)
    for d in definitions.split(own):
        for name in d.names:
            if name not in words and name not in made.helpers:
                what = "is no word of the contract, and none of its helpers"
                raise Wrong(f"templates: {MAIN.format(made.name)}: {name} {what}; mend the template")
            want = words[name].parameters if name in words else None
            if want is not None and d.parameters is not None and len(want) != len(d.parameters):
                raise Wrong(
                    f"templates: {MAIN.format(made.name)}: {name} takes {len(d.parameters)} parameters, "
                    f"not {len(want)}; mend the template"
                )
    added = words.keys() - contract(env).words(base.capabilities).keys()
    return definitions.overridden(base.prelude(sort), own, made.helpers, added)
