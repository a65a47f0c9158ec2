"""The parser of manifests.  A manifest is untrusted: it may name only files that hsgen itself could have written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hsgen.bundle import contents
from hsgen.bundle.manifest import LAYOUTS, MANIFEST, SCHEMA, Choice, Compiled, Entry, Manifest, digest
from hsgen.core.errors import Usage, shown
from hsgen.core.scratch import ANY_N
from hsgen.emit.c_paths import PREFIX, check_prefix
from hsgen.system import documents
from hsgen.system.paths import clash, target_problem

READ = (1, 2, 3)  # schemas; schema 1 lacks C files and the prefix; schema 2 lacks values, orders and features
LARGEST = 16 << 20  # bytes; a manifest with all targets, keys and values has less than 1 MB


def parse_manifest(data: bytes, where: str) -> Manifest:
    """Return the manifest in a file's bytes.

    Raises:
        Usage: the bytes are not a manifest of a supported schema, or the manifest names a file that no bundle has.
    """
    try:
        raw = documents.parsed_json(data.decode("utf-8"), where, "")
    except UnicodeDecodeError as e:
        problem = f"is not a manifest of hsgen, nor UTF-8 text (byte {e.start})"
        raise Usage(f"{where}: {problem}; restore it, or generate into another folder") from None
    except Usage:
        raise _no_manifest(where) from None
    try:
        if type(raw["schema"]) is not int:
            raise TypeError
        if raw["schema"] not in READ:
            raise Usage(f"{where}: schema {str(raw['schema'])[:20]} is not known; this hsgen reads schema {SCHEMA}")
        manifest = Manifest(
            version=_text(raw["hsgen"]),
            prefix=check_prefix(_text(raw.get("prefix", PREFIX))),
            common=_hashes(raw["files"]),
            targets={n: _entry(t) for n, t in raw["targets"].items()},
            single=bool(LAYOUTS.index(raw.get("layout", LAYOUTS[0]))),
            read=digest(data),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _no_manifest(where) from None
    refuse_names(manifest, where)
    return manifest


def _no_manifest(where: str) -> Usage:
    return Usage(f"{where}: is not a manifest of hsgen; generate into another folder")


def refuse_names(manifest: Manifest, where: str) -> None:
    """Check that a bundle can have the targets, sorts and files that a manifest names.

    Raises:
        Usage: a name is invalid; the message has the first invalid name.
    """
    apis = {api for e in manifest.targets.values() for api in e.choice.apis}
    strange = sorted(set(manifest.common) - contents.common(manifest.prefix, apis, single=manifest.single))
    for name, entry in manifest.targets.items():
        if problem := target_problem(name):
            raise Usage(f"{where}: target {shown(repr(name))} {problem[0]}; {problem[1]}")
        for sort in (*entry.sorts, *(set(entry.spirv) - set(entry.sorts))):
            if not contents.is_sort(sort) or sort not in entry.sorts:
                raise Usage(f"{where}: target {name} lists {shown(repr(sort))}, which is no sort of it")
        owner = () if manifest.single else (name, entry.choice.apis, entry.sorts)
        strange += sorted(p for p in entry.files if not owner or not contents.is_of_target(p, *owner))
    for path in strange:
        raise Usage(f"{where}: lists {shown(repr(path))}, which no such bundle holds; generate into another folder")
    if pair := clash([*manifest.hashes, MANIFEST]):
        raise Usage(f"{where}: lists {pair[0]} and {pair[1]}, which some systems cannot keep apart; rename a target")


def _entry(raw: Mapping[str, Any]) -> Entry:
    return Entry(
        choice=Choice(
            keys=_names(raw, "keys"),
            apis=_names(raw, "apis"),
            algorithms=_names(raw, "algorithms"),
            values=_names(raw, "values", ["none"]),
            orders=_names(raw, "orders", ["ascending"]),
            features=_names(raw, "features", []),
            epilogue="".join(f"{line}\n" for line in _strings(raw, "epilogue", [])),
            glsl_only=_flag(raw, "glsl_only"),
            max_n=_count(raw, "max_n"),
        ),
        sorts=_names(raw, "sorts", []),
        spirv={n: Compiled(_text(c["glsl"]), _text(c["compiler"])) for n, c in raw.get("spirv", {}).items()},
        files=_hashes(raw["files"]),
    )


def _names(raw: Mapping[str, Any], word: str, absent: list[str] | None = None) -> tuple[str, ...]:
    """Return the list of names at the key `word`; return `absent` if the manifest's schema is too old to have it."""
    names = _strings(raw, word, absent)
    if not all(re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name) for name in names):
        raise TypeError
    return names


def _strings(raw: Mapping[str, Any], word: str, absent: list[str] | None) -> tuple[str, ...]:
    strings = raw[word] if absent is None else raw.get(word, absent)
    if not isinstance(strings, list) or not all(isinstance(v, str) for v in strings):
        raise TypeError
    return tuple(strings)


def _flag(raw: Mapping[str, Any], word: str) -> bool:
    """Return the flag at the key `word`; return False if the manifest has no such key."""
    if raw.get(word, True) is not True:
        raise TypeError
    return word in raw


def _count(raw: Mapping[str, Any], word: str) -> int:
    """Return the bound on the number of keys per call, at the key `word`; return `ANY_N` if there is no such key."""
    count = raw.get(word, ANY_N)
    if type(count) is not int or not 1 <= count <= ANY_N:
        raise TypeError
    return count


def _text(value: object) -> str:
    """Return `value` (a version, a compiler or a hash) if it is printable text of at most 200 characters."""
    if not isinstance(value, str) or len(value) > 200 or not value.isprintable():
        raise TypeError
    return value


def _hashes(raw: Mapping[str, Any]) -> dict[str, str]:
    if not all(isinstance(v, str) and re.fullmatch(r"[0-9a-f]{64}", v) for v in raw.values()):
        raise TypeError
    return dict(raw)
