"""Reads target files for suggestions.  In contrast to other target files, such a file may have facts only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hsgen.algorithms import ALGORITHMS
from hsgen.core.errors import Usage
from hsgen.system import documents, resources
from hsgen.targets import target
from hsgen.tools.suggest.facts import Facts, facts
from hsgen.tools.suggest.text import choice_tables

_SMALLEST = """
[bitonic.u32] # stands in for the choices that are to be suggested
subgroup = 1
height = 2
slabs = 1
clean_slabs = 1
local_scale = 1
flip_scale = 1
half_scale = 1
stream_group = 1
"""


def read(name: str) -> tuple[Facts, Mapping[str, Mapping[str, Any]]]:
    """Return the facts of a target (a name, or the path of a file), and its tables of choices.

    If the file has facts only, there are no tables.

    Raises:
        Usage: there is no such file, or the file has errors (the message has a line per error).
    """
    path = Path(name) if name.endswith(".toml") else resources.targets() / f"{name}.toml"
    try:
        text = documents.text(path, "")
        bare = not any(algorithm in documents.toml(text, "", "") for algorithm in (*ALGORITHMS, "sort"))
    except Usage:  # `target.find` below raises an error with a better message
        bare, text = False, ""
    if not bare or path.stem in target.names():
        return facts(target.find(name)), choice_tables(text)
    try:
        return facts(target.parse(text + _SMALLEST, path.stem, name)), {}
    except Usage as e:
        raise Usage(*[line for line in e.lines if ": bitonic.u32" not in line] or e.lines) from None
