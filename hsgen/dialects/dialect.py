"""Dialects: what of a kernel language the generator must know.  All else is in ``templates/dialects/NAME.j2``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jinja2

from hsgen.core.kernels import Kernel
from hsgen.core.sort import Sort


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One kernel language: facts, and the two macros that its file defines.

    `prelude(sort)` defines the words that bodies are written in; `wrap(sort, kernel, body)` gives a body its
    signature, bindings and local arrays.  `wide`: whether kernels that take n as a 64-bit number can be written in it.
    `apart`: whether a buffer that is picked while a kernel runs is found by a branch at each access.
    `rowed`: whether there are words for rows of neighbouring keys, a vector each.
    """

    name: str
    suffix: str
    comment: str
    wide: bool
    apart: bool
    rowed: bool
    prelude: Callable[[Sort], str]
    wrap: Callable[[Sort, Kernel, str], str]


def load(env: jinja2.Environment, name: str) -> Dialect:
    """Return the dialect that ``dialects/<name>.j2`` defines."""
    module: Any = env.get_template(f"dialects/{name}.j2").module
    return Dialect(
        name=name,
        suffix=module.suffix,
        comment=module.comment,
        wide=module.wide,
        apart=getattr(module, "apart", False),
        rowed=getattr(module, "rowed", False),
        prelude=lambda sort: str(module.prelude(sort)),
        wrap=lambda sort, kernel, body: str(module.kernel(kernel, sort, caller=lambda: body)),
    )
