"""The reader of single headers, which finds the files of an ordinary bundle that they contain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from hsgen.emit import spirv_file

_SPIRV = re.compile(rb"^/\* begin (targets/[^/\n]+/spirv/[ -~]+) \*/$", re.MULTILINE)


def section(data: bytes, path: str) -> bytes | None:
    """Return the content of the file `path` in a single header; None unless the header contains it exactly once."""
    begin, end = (f"\n/* {word} {path} */\n".encode() for word in ("begin", "end"))
    if data.count(begin) != 1 or data.count(end) != 1 or data.index(begin) > data.index(end):
        return None
    text = data[data.index(begin) + len(begin) : data.index(end) + 1]
    return re.sub(rb'^/\* (#include "[^"\n]+") \*/$', rb"\1", text, flags=re.MULTILINE)


def foreign(paths: Iterable[str], read: Callable[[str], bytes]) -> set[str]:
    """Return those of the `paths` whose header contains a SPIR-V file with other syntax than hsgen writes.

    read: a function that returns the content of a path.
    """
    return {path for path in paths if path.endswith(".h") and not _sound(read(path))}


def _sound(data: bytes) -> bool:
    words = (section(data, path.decode()) for path in set(_SPIRV.findall(data)))
    return all(part is not None and spirv_file.well_formed(part) for part in words)
