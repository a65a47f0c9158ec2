"""The reader of the *heads* of target files: the name, the APIs and the table ``[match]`` of devices.

A head suffices to find the target for a device, and takes less than a millisecond to read.  A whole target takes 10 to
60 ms, because its reader assembles and checks its sorts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from hsgen.core.fields import Reader
from hsgen.system import documents, resources
from hsgen.targets.matching import Match, read_match


@dataclass(frozen=True, slots=True)
class Head:
    """The name, the APIs and the table ``[match]`` of a target that comes with hsgen."""

    name: str
    apis: tuple[str, ...]
    match: Match


@cache
def shipped() -> tuple[Head, ...]:
    """Return the heads of all targets that come with hsgen, sorted by name."""
    return tuple(_head(name) for name in sorted(p.stem for p in resources.targets().glob("*.toml")))


def _head(name: str) -> Head:
    where = f"targets/{name}.toml"
    data = documents.toml(documents.text(resources.targets() / f"{name}.toml", "reinstall hsgen"), where, "reinstall")
    reader = Reader(where)
    match = read_match(reader, data)
    reader.check()
    return Head(name, tuple(data.get("apis", ())), match)
