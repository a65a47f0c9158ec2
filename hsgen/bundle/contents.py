"""The names of files that a bundle can have.  They follow from its targets, their APIs and sorts, and its prefix.

A manifest is untrusted.  It may list only these files, so that no other file is overwritten or removed.
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
    """Return True if a name has the form of a sort's files: algorithm or variant, key, value."""
    return re.fullmatch(_SORT, name) is not None


def common(prefix: str, apis: Iterable[str], *, single: bool = False) -> set[str]:
    """Return the files that the targets of a bundle share; with `single`, these are all files."""
    return (single_paths if single else common_paths)(listed(apis), prefix)


def is_of_target(path: str, target: str, apis: Collection[str], sorts: Collection[str]) -> bool:
    """Return True if a target with these APIs and sorts has a file of this path.

    Without `sorts`, any sort counts, as in manifests before schema 2.
    """
    folder, _, rest = path.partition(f"targets/{target}/")
    known = listed(apis)
    tables = [name for a in known if a.tables for name in (a.tables.target, a.tables.earlier) if name]
    folders = [a.package.folder for a in known if a.package]
    tables_and_indexes = {
        f"{target}.c",
        *(name.format(target=target) for name in tables),
        *(f"{f}/index.js" for f in folders),
    }
    if folder or rest in tables_and_indexes:
        return not folder
    kinds = {f"kernels/{a.dialect}": a.suffix for a in known} | {"plans": "json"}
    kinds |= {folder: "js" for folder in folders}
    kinds |= {"spirv": "c"} if any(a.spirv for a in known) else {}
    place, _, name = rest.rpartition("/")
    stem, _, suffix = name.rpartition(".")
    if place == "spirv":  # older bundles lack the target's name
        stem = stem.removeprefix(f"{target}_")
    return kinds.get(place) == suffix and (stem in sorts if sorts else is_sort(stem))


def refuse_same_objects(paths: Iterable[str]) -> None:
    """Check that the objects of compiled files have different names in a flat folder.

    Raises:
        Usage: two objects have the same name; the message names the first two files.
    """
    known: dict[str, str] = {}
    compiled = (p for p in sorted(paths) if re.search(r"\.(c|cu|m)$", p) and "/kernels/" not in p)
    for path in compiled:
        first = known.setdefault(PurePosixPath(path).stem.lower(), path)
        if first != path:
            raise Usage(f"{first} and {path}: have the same name; rename the target or choose another prefix")
