"""The C identifiers that a bundle defines at file scope, all of which must differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hsgen.apis import having
from hsgen.core.errors import Usage
from hsgen.emit import c_files
from hsgen.emit.c_values import symbol

_TABLES = [api.name for api in having(lambda api: api.tables)]
_OF_TARGETS = ("sorts", "vendors", "names", "platforms", "match", *_TABLES, *(f"{name}_sorts" for name in _TABLES))
"""What follows the name of a target in names of its own, of which a bundle has some."""


def _owned(target: c_files.Named) -> Iterator[tuple[str, bool]]:
    """The names of a target in C, and whether longer names that begin so are its own, too."""
    name = symbol(target.name)
    yield name, False
    for word in _OF_TARGETS:
        yield f"{name}_{word}", False
    for sort in target.sorts:  # behind whose names come those of tables, languages and kernels
        yield symbol(target.name, sort), True


def refuse_clashes(targets: Iterable[c_files.Named]) -> None:
    """Refuse targets whose names, or those of whose sorts, C cannot tell apart from others of the bundle.

    Raises:
        Usage: the first clash.
    """
    runtime = c_files.taken()
    known: dict[str, tuple[str, bool]] = {}
    for target in targets:
        for name, family in _owned(target):
            if name in runtime:
                raise Usage(f"target {target.name}: its name in C, {name}, is one of the runtime's; rename it")
            if name in known and (other := known[name][0]) != target.name:
                raise Usage(f"targets {other} and {target.name}: have the same name in C, {name}; rename one")
            if name in known:
                raise Usage(f"target {target.name}: two of its names in C are {name}; rename a variant, or it")
            known[name] = target.name, family
    for name, (owner, _) in known.items():
        above = name
        while "_" in above:
            above = above.rpartition("_")[0]
            if above in known and known[above][1] and known[above][0] != owner:
                raise Usage(f"targets {known[above][0]} and {owner}: {name} may be a name of both in C; rename one")
