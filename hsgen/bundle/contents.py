"""Which files a bundle can hold: names that follow from its targets, their APIs and sorts, and its prefix.

A manifest comes from anyone.  It may list these files and no others, so that nothing else is overwritten or removed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

from hsgen.apis import listed
from hsgen.core.errors import Usage
from hsgen.emit.c_paths import common_paths, single_paths

_SORT = r"[a-z0-9]{1,32}(_[a-z0-9]{1,32}){0,2}(-[a-z0-9]{1,32})?_[a-z0-9]{1,16}(_[a-z0-9]{1,16})?"


def is_sort(name: str) -> bool:
    """Whether files of a sort can be called so: algorithm or variant, key, value."""
    return re.fullmatch(_SORT, name) is not None


def common(prefix: str, apis: Iterable[str], *, single: bool = False) -> set[str]:
    """Return the files that the targets of a bundle share; all of them if it has one header per API."""
    return (single_paths if single else common_paths)(listed(apis), prefix)


def is_of_target(path: str, target: str, apis: Collection[str], sorts: Collection[str]) -> bool:
    """Whether a target with these APIs and sorts has such a file; no sorts: of any (manifests before schema 2)."""
    folder, _, rest = path.partition(f"targets/{target}/")
    known = listed(apis)
    tables = [name for a in known if a.tables for name in (a.tables.target, a.tables.earlier) if name]
    folders = [a.package.folder for a in known if a.package]
    own = {f"{target}.c", *(name.format(target=target) for name in tables), *(f"{f}/index.js" for f in folders)}
    if folder or rest in own:
        return not folder
    kinds = {f"kernels/{a.dialect}": a.suffix for a in known} | {"plans": "json"}
    kinds |= {folder: "js" for folder in folders}
    kinds |= {"spirv": "c"} if any(a.spirv for a in known) else {}
    place, _, name = rest.rpartition("/")
    stem, _, suffix = name.rpartition(".")
    if place == "spirv":  # in older bundles without the target's name
        stem = stem.removeprefix(f"{target}_")
    return kinds.get(place) == suffix and (stem in sorts if sorts else is_sort(stem))


def refuse_same_objects(paths: Iterable[str]) -> None:
    """Refuse files to compile whose objects would have the same name in a flat folder.

    Raises:
        Usage: the first two of them.
    """
    known: dict[str, str] = {}
    compiled = (p for p in sorted(paths) if re.search(r"\.(c|cu|m)$", p) and "/kernels/" not in p)
    for path in compiled:
        other = known.setdefault(PurePosixPath(path).stem.lower(), path)
        if other != path:
            raise Usage(f"{other} and {path}: have the same name; rename the target or choose another prefix")
