"""The cache of compiled kernels' resources, by a hash of all inputs of a compilation, and the logs of failures."""

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
"""The version of the entries."""


def place(compiler: Compiler, identity: str, request: Request) -> Path:
    """Return the file of a request's result; `identity` is the name and version of the compiler."""
    shapes = [(k.name, k.work_group, k.subgroup, k.local_bytes(request.sort.key)) for k in request.kernels]
    head = [_FORMAT, compiler.name, identity, request.device, compiler.recipe(request), shapes]
    key = hashlib.sha256(json.dumps([*head, request.text]).encode()).hexdigest()
    return folders.cached("isa") / key[:2] / key


def load(file: Path, kernels: Sequence[Kernel]) -> dict[str, Use] | None:
    """Return the resources of kernels from a file, or None if the file lacks them."""
    try:
        data = json.loads(folders.load(file) or b"null")
        return {k.name: Use(**data[k.name]) for k in kernels}
    except (ValueError, KeyError, TypeError):
        return None


def keep(file: Path, uses: Mapping[str, Use]) -> None:
    """Write the resources of kernels into a file; after a failure, the kernels are compiled again next time."""
    with suppress(Unavailable):
        folders.keep(file, json.dumps({name: asdict(use) for name, use in uses.items()}).encode())


def log(name: str, lines: Sequence[str]) -> str:
    """Write a log and return its path."""
    path = folders.cached("isa") / f"{name[:16]}.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)
