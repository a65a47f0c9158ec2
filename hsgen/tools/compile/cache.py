"""The cache of offline compilers: resources of kernels by a hash of a compilation's inputs, and logs of failures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from hsgen.core.errors import Unavailable
from hsgen.core.kernels import Kernel
from hsgen.system import folders
from hsgen.tools.compile.base import Compiler, Request, Use

_FORMAT = 1
"""The version of the format of cache entries; it is part of the hash."""


def place(compiler: Compiler, identity: str, request: Request) -> Path:
    """Return the path of the cache entry for a request; `identity` is the name and version of the compiler."""
    shapes = [(k.name, k.work_group, k.subgroup, k.local_bytes(request.sort.key)) for k in request.kernels]
    head = [_FORMAT, compiler.name, identity, request.device, compiler.recipe(request), shapes]
    key = hashlib.sha256(json.dumps([*head, request.text]).encode()).hexdigest()
    return folders.cached("isa") / key[:2] / key


def load(file: Path, kernels: Sequence[Kernel]) -> dict[str, Use] | None:
    """Return the resources of kernels from a cache entry; None if it does not exist, or lacks one of the kernels."""
    try:
        data = json.loads(folders.load(file) or b"null")
        return {k.name: Use(**data[k.name]) for k in kernels}
    except (ValueError, KeyError, TypeError):
        return None


def keep(file: Path, uses: Mapping[str, Use]) -> None:
    """Write the resources of kernels into a cache entry.

    If the file cannot be written, nothing happens; the kernels are compiled again next time.
    """
    with suppress(Unavailable):
        folders.keep(file, json.dumps({name: asdict(use) for name, use in uses.items()}).encode())


def log(name: str, lines: Sequence[str]) -> str:
    """Write the log of a failed compilation, and return its path; `name` is the name of the cache entry."""
    path = folders.cached("isa") / f"{name[:16]}.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)
