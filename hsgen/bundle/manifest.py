"""The manifest of a bundle, which records the generated sorts, their options, and the hash of each file."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hsgen.core.keys import FEATURES, KEYS, TYPES, Signature
from hsgen.core.scratch import ANY_N

if TYPE_CHECKING:
    from hsgen.bundle.choosing import COMPANIONS as COMPANIONS
    from hsgen.bundle.choosing import again as again
    from hsgen.bundle.choosing import choose as choose
    from hsgen.bundle.choosing import offered as offered
    from hsgen.bundle.choosing import widened as widened

MANIFEST = "manifest.json"
SCHEMA = 3
LAYOUTS = ("folders", "single-file")
_CHOOSING = ("COMPANIONS", "again", "choose", "offered", "widened")
"""The names that this module imports from `hsgen.bundle.choosing` only when they are first used.

The import is late because `hsgen.bundle.choosing` imports all algorithms, which `hsgen verify` does not need.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The options that select a target's sorts for a bundle.

    keys: names of key types.  One sort serves all key types of a width, such as u32, i32 and f32.
    values, orders, features: names in `hsgen.core.keys`.
    epilogue: the text of an epilogue, or "".
    max_n: the greatest number of keys that a call may have.
    glsl_only: whether the bundle has GLSL without SPIR-V.
    The orders, features, epilogue and `max_n` apply to each sort of the target.  If `keys` has a signed or float type,
    each sort supports such keys.  An operation other than sorting, such as top-k, may support fewer options.
    """

    keys: tuple[str, ...]
    apis: tuple[str, ...]
    algorithms: tuple[str, ...]
    values: tuple[str, ...] = ("none",)
    orders: tuple[str, ...] = ("ascending",)
    features: tuple[str, ...] = ()
    epilogue: str = ""
    glsl_only: bool = False
    max_n: int = ANY_N

    @property
    def widths(self) -> tuple[str, ...]:
        """The distinct key widths, as the names of unsigned key types."""
        return tuple(k for k in KEYS if any(TYPES[t].key == k for t in self.keys))

    def untyped(self, value: str = "none") -> Signature:
        """Return the signature of sorts with this kind of values, as if all chosen keys were unsigned."""
        return replace(self.signature(value), key_transform="descending" in self.orders)

    def signature(self, value: str = "none") -> Signature:
        """Return the signature of sorts with this kind of values."""
        return Signature(
            value=value,
            key_transform="descending" in self.orders or any(TYPES[t].kind for t in self.keys),
            epilogue=self.epilogue,
            **{name.replace("-", "_"): name in self.features for name in FEATURES},
        )

    @property
    def record(self) -> dict[str, Any]:
        """The choice as a dictionary for the manifest; it has the epilogue's text, so bundles are reproducible."""
        more = {"epilogue": self.epilogue.splitlines(), "glsl_only": self.glsl_only, "max_n": self.max_n % ANY_N}
        return {
            "keys": list(self.keys),
            "apis": list(self.apis),
            "algorithms": list(self.algorithms),
            "values": list(self.values),
            "orders": list(self.orders),
            "features": list(self.features),
            **{word: value for word, value in more.items() if value},
        }


def digest(data: bytes) -> str:
    """Return the SHA-256 hash of a file's content, as the hexadecimal text that manifests contain."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Compiled:
    """The record of how a sort's SPIR-V was made.

    glsl: the hash of the GLSL text (`hsgen.bundle.build.glsl_hash`).  compiler: the compiler's name and version.
    """

    glsl: str
    compiler: str

    def __post_init__(self) -> None:
        """Check the characters of both fields, because generated C comments contain the compiler's name and version.

        Raises:
            ValueError: a value has an invalid character or length.
        """
        if not re.fullmatch(r"[A-Za-z0-9 ().:_+-]{1,100}", self.compiler) or not re.fullmatch(
            "[0-9a-f]{64}", self.glsl
        ):
            raise ValueError


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The entry of one target in a manifest.

    sorts: the file names of the target's sorts, without suffix, such as bitonic_u32.
    spirv: the GLSL hash and the compiler of the SPIR-V, by file name of the sort.
    files: the hash of each file of the target, by path.
    """

    choice: Choice
    sorts: tuple[str, ...]
    spirv: Mapping[str, Compiled]
    files: Mapping[str, str]

    @property
    def record(self) -> dict[str, Any]:
        """The entry as a manifest records it."""
        return {
            **self.choice.record,
            "sorts": list(self.sorts),
            "spirv": {n: {"glsl": c.glsl, "compiler": c.compiler} for n, c in sorted(self.spirv.items())},
            "files": dict(sorted(self.files.items())),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The manifest of a bundle.

    version: the version of hsgen that generated the bundle.
    prefix: the prefix of C names.
    common: the hash, by path, of each file that all targets share.
    targets: the entry of each target.
    single: the bundle has one header per API instead of folders.
    read: the hash of the manifest file; "" if the manifest was not read from a file.
    """

    version: str
    prefix: str
    common: Mapping[str, str]
    targets: Mapping[str, Entry]
    single: bool = False
    read: str = field(default="", compare=False)

    def without(self, names: Iterable[str]) -> Manifest:
        """Return the manifest without the targets `names`."""
        return replace(self, targets={n: e for n, e in self.targets.items() if n not in set(names)})

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of each file in the bundle except the manifest, by path."""
        out = dict(self.common)
        for entry in self.targets.values():
            out.update(entry.files)
        return out

    def bytes(self) -> bytes:
        """Return the content of the manifest file."""
        data = {
            "schema": SCHEMA,
            "hsgen": self.version,
            "prefix": self.prefix,
            "layout": LAYOUTS[self.single],
            "files": dict(sorted(self.common.items())),
            "targets": {name: self.targets[name].record for name in sorted(self.targets)},
        }
        return (json.dumps(data, indent=2) + "\n").encode()


def __getattr__(name: str) -> object:
    if name not in _CHOOSING:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module("hsgen.bundle.choosing"), name)
