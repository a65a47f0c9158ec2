"""Which files a bundle can hold: names that follow from its targets, their APIs and sorts, and its prefix.

A manifest comes from anyone.  It may list these files and no others, so that nothing else is overwritten or removed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from hsgen.core.sort import APIS
from hsgen.emit import c_files

SUFFIXES = {"opencl": "cl", "glsl": "comp", "cuda": "cu", "metal": "metal"}
"""What files of kernels end in, by their language; the dialects say the same, but `verify` reads no templates."""

_SORT = r"[a-z0-9]{1,32}(-[a-z0-9]{1,32})?_[a-z0-9]{1,16}(_[a-z0-9]{1,16})?"


def is_sort(name: str) -> bool:
    """Whether files of a sort can be called so: algorithm or variant, key, value."""
    return re.fullmatch(_SORT, name) is not None


def common(prefix: str, apis: Iterable[str]) -> set[str]:
    """Return the files that the targets of a bundle share."""
    return c_files.common_paths([a for a in APIS if a in set(apis)], prefix)


def is_of_target(path: str, target: str, apis: Collection[str], sorts: Collection[str]) -> bool:
    """Whether a target with these APIs and sorts has such a file; no sorts: of any (manifests before schema 2)."""
    folder, _, rest = path.partition(f"targets/{target}/")
    own = {f"{target}.c"}
    own |= {f"{target}.cu"} if "cuda" in apis else set()
    own |= {f"{target}_metal.c"} if "metal" in apis else set()
    if folder or rest in own:
        return not folder
    kinds = {f"kernels/{APIS[a]}": SUFFIXES[APIS[a]] for a in apis if a in APIS} | {"plans": "json"}
    kinds |= {"spirv": "c"} if "vulkan" in apis else {}
    place, _, name = rest.rpartition("/")
    stem, _, suffix = name.rpartition(".")
    return kinds.get(place) == suffix and (stem in sorts if sorts else is_sort(stem))
