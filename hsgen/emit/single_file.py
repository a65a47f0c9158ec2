"""Single-header bundles, which have one C header per API.

The header has declarations and, if a program defines a macro, also the implementation.  The header consists of the
files of an ordinary bundle.  A comment before and a comment after each file state the file's path, so that hsgen can
read SPIR-V files from the header.  If the header contains an included file, the ``#include`` line becomes a comment.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hsgen.apis.api import Api
from hsgen.emit import c_files, c_paths, spirv, spirv_file
from hsgen.emit.c_values import slot
from hsgen.emit.single_parts import section as section

_INCLUDE = re.compile(r'#include "([^"]+)"')


def name(api: Api, prefix: str) -> str:
    """Return the file name of an API's header."""
    return c_paths.single_name(api, prefix)


def header(files: Mapping[str, bytes], api: Api, apis: Sequence[Api], targets: Sequence[str], prefix: str) -> bytes:
    """Return the header of `api`, given the files of an ordinary bundle with the APIs `apis` and these targets."""
    include, seen = f"include/{prefix}/", set[str]()
    listed = files[f"sources/{api.name}.txt"].decode().split()
    shared = c_files.core_paths(targets, prefix)
    core = [p for p in listed if p in shared]
    absent = [p for p in listed if spirv_file.absent(files[p])]
    sources = [p for p in listed if p not in (*core, *absent) and (api.spirv or "/spirv/" not in p)]
    sources += [f"targets/{t}/{t}_text.c" for t in targets if api.text and f"targets/{t}/{t}_text.c" in files]
    heads = [f"{include}{c_files.prefixed(head, prefix)}" for head in ("hs.h", "hs_plan.h", "hs_targets.h")]
    api_heads = [f"{include}{c_files.prefixed(head, prefix)}" for head in api.all_headers]
    parts = {
        "shared": _joined(files, heads, seen),
        "declarations": _joined(files, api_heads, seen),
        "internal": _joined(files, [f"src/{prefix}_internal.h"], seen),
        "core": _joined(files, core, seen),
        "own": _joined(files, sources, seen),
    }
    head = c_files.rendered(
        "bundle/single.h",
        api=api,
        apis=apis,
        targets=targets,
        name=name(api, prefix),
        refused=spirv.ABSENT if absent else "",
        id=f"0x{hashlib.sha256((parts['shared'] + parts['core']).encode()).hexdigest()[:8]}u",
        **{part: slot(part) for part in parts},
    )
    return c_files.finished(head, prefix, parts)


def readme(apis: Sequence[Api], sorts: Mapping[str, Sequence[str]], prefix: str) -> bytes:
    """Return the README of a single-header bundle with these APIs; `sorts` has the names of sorts by target."""
    rows = [{"name": name, "sorts": sorts[name]} for name in sorted(sorts)]
    headers = {api.name: name(api, prefix) for api in apis}
    text = c_files.rendered("bundle/single.md", apis=apis, targets=rows, headers=headers)
    return c_files.prefixed(text, prefix).encode()


def program(text: bytes, api: Api, prefix: str) -> bytes:
    """Return the example program `text`, in which the single header of its API replaces the separate headers."""
    ours = f'#define {prefix.upper()}_{api.name.upper()}_IMPLEMENTATION\n#include "{name(api, prefix)}"\n'
    lines, first = [], True
    for line in text.decode().split("\n"):
        if re.fullmatch(rf'#include "{prefix}/\w+\.h"', line):
            lines += [ours.rstrip("\n")] if first else []
            first = False
        else:
            lines.append(line)
    return "\n".join(lines).encode()


def _joined(files: Mapping[str, bytes], paths: Iterable[str], seen: set[str]) -> str:
    return "\n".join(line for path in paths if path not in seen for line in _lines(files, path, seen))


def _lines(files: Mapping[str, bytes], path: str, seen: set[str]) -> Iterator[str]:
    """Yield the lines of the bundle's file at `path`, for the single header.

    The lines of an included file follow its ``#include`` line, unless the header already contains the file: `seen` has
    the paths of these.  After a C source of the runtime, ``#undef`` lines remove the macros that it defines.
    """
    seen.add(path)
    text = files[path].decode().removesuffix("\n")
    yield from ("", f"/* begin {path} */")
    for line in text.split("\n"):
        match = _INCLUDE.fullmatch(line)
        places = (posixpath.join(posixpath.dirname(path), match[1]), f"include/{match[1]}") if match else ()
        inner = next((place for place in places if place in files), None)
        yield line if inner is None else f"/* {line} */"
        if inner is not None and inner not in seen:
            yield from _lines(files, inner, seen)
    if path.startswith("src/") and not path.endswith(".h"):
        yield from (f"#undef {macro}" for macro in sorted(set(re.findall(r"^ *# *define (\w+)", text, re.MULTILINE))))
    yield f"/* end {path} */"
