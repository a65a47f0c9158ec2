"""Dialects: what of a kernel language the generator must know.  All else is in ``templates/dialects/NAME.j2``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jinja2

from hsgen.spec import Kernel, KeyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One kernel language: facts, and the two macros that its file defines.

    `prelude(key, lanes)` defines the words that bodies are written in, `lanes` telling whether subgroup
    operations are used; `wrap(kernel, body)` gives a body its signature, bindings and shared array.
    """

    name: str
    suffix: str
    comment: str
    prelude: Callable[[KeyType, bool], str]
    wrap: Callable[[Kernel, str], str]


def load(env: jinja2.Environment, name: str) -> Dialect:
    """Return the dialect that ``dialects/<name>.j2`` defines."""
    module: Any = env.get_template(f"dialects/{name}.j2").module
    return Dialect(
        name=name,
        suffix=module.suffix,
        comment=module.comment,
        prelude=lambda key, lanes: str(module.prelude(key, lanes)),
        wrap=lambda kernel, body: str(module.kernel(kernel, caller=lambda: body)),
    )
