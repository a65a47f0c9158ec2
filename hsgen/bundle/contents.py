"""The paths of the files that a bundle can have.

The paths depend on the bundle's prefix of C names, on its targets, and on the APIs and sorts of its targets.  A
manifest is untrusted: if it listed other paths, hsgen might overwrite or remove a user's files.  hsgen therefore
rejects a manifest that lists any other path.
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
    """Whether `name` is a possible file name of a sort, such as bitonic_u32, or radix-bits2_u32_v4 with values."""
    return re.fullmatch(_SORT, name) is not None


def common(prefix: str, apis: Iterable[str], *, single: bool = False) -> set[str]:
    """Return the paths of the files that all targets share; in a single-header bundle, these are all files."""
    return (single_paths if single else common_paths)(listed(apis), prefix)


def is_of_target(path: str, target: str, apis: Collection[str], sorts: Collection[str]) -> bool:
    """Whether a target with these APIs and sorts can have a file at `path`.

    If `sorts` is empty, the path may contain any possible name of a sort, because manifests of schema 1 list no sorts.
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
    if place == "spirv":  # file names in older bundles lack the target's name
        stem = stem.removeprefix(f"{target}_")
    return kinds.get(place) == suffix and (stem in sorts if sorts else is_sort(stem))


def refuse_same_objects(paths: Iterable[str]) -> None:
    """Check that no two C sources have the same object file name, so that a build can put all objects in one folder.

    Raises:
        Usage: two object files would have the same name; the message names the first two sources.
    """
    known: dict[str, str] = {}
    compiled = (p for p in sorted(paths) if re.search(r"\.(c|cu|m)$", p) and "/kernels/" not in p)
    for path in compiled:
        first = known.setdefault(PurePosixPath(path).stem.lower(), path)
        if first != path:
            raise Usage(f"{first} and {path}: have the same name; rename the target or choose another prefix")
