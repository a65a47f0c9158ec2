"""A check that no C identifier in a bundle would be defined twice, by two targets or by a target and the runtime."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hsgen.apis import having
from hsgen.core.errors import Usage
from hsgen.emit import c_files
from hsgen.emit.c_values import symbol

_TABLES = [api.name for api in having(lambda api: api.tables)]
_OF_TARGETS = ("sorts", "vendors", "names", "platforms", "devices", *_TABLES, *(f"{name}_sorts" for name in _TABLES))
"""The suffixes of a target's C identifiers: a target cpu has ``hs_cpu_sorts``, ``hs_cpu_vendors`` and so on."""


def _owned(target: c_files.Named) -> Iterator[tuple[str, bool]]:
    """Yield pairs (C name, whether it is also a prefix) for the C names that a target defines.

    If the name is a prefix, the target also owns all names that start with it and an underscore.
    """
    name = symbol(target.name)
    yield name, False
    for word in _OF_TARGETS:
        yield f"{name}_{word}", False
    for sort in target.sorts:  # further C names of a sort, such as those of its kernels, start with the sort's name
        yield symbol(target.name, sort), True


def refuse_clashes(targets: Iterable[c_files.Named]) -> None:
    """Check that the C names of targets, and of their sorts, differ from each other and from those of the runtime.

    Raises:
        Usage: two names collide; the message names the first collision.
    """
    runtime = c_files.runtime_names()
    known: dict[str, tuple[str, bool]] = {}
    for target in targets:
        for name, family in _owned(target):
            if name in runtime:
                raise Usage(f"target {target.name}: its C name {name} is one of the runtime's; rename it")
            if name in known and (earlier := known[name][0]) != target.name:
                raise Usage(f"targets {earlier} and {target.name}: have the same C name {name}; rename one of them")
            if name in known:
                raise Usage(f"target {target.name}: has the C name {name} twice; rename the target or a variant")
            known[name] = target.name, family
    for name, (owner, _) in known.items():
        above = name
        while "_" in above:
            above = above.rpartition("_")[0]
            if above in known and known[above][1] and known[above][0] != owner:
                raise Usage(f"targets {known[above][0]} and {owner}: {name} may be a C name of both; rename one")
