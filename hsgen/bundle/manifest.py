"""The manifest of a bundle: the generated sorts, their options, and the hash of every file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hsgen.algorithms import DERIVED, EVERY, IMPLICIT, operation
from hsgen.core.errors import Usage
from hsgen.core.keys import FEATURES, KEYS, ORDERS, TYPES, VALUES, Signature
from hsgen.core.scratch import ANY_N
from hsgen.targets.target import AUTO, Target

MANIFEST = "manifest.json"
SCHEMA = 3
LAYOUTS = ("folders", "single-file")
COMPANIONS = tuple(name for name in EVERY if operation(name).accompanies)
"""The algorithms that a bundle gets along with the sort for any count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The selection of a target's sorts for a bundle.

    `keys` are types, each sorted by the kernels of its width; `values`, `orders` and `features` are names in
    `hsgen.core.keys`.  Orders, features, types other than unsigned ones and the text of an `epilogue` apply to all
    sorts of the target, and so does `max_n`, the greatest count.  `glsl_only`: it has GLSL without SPIR-V.
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
        """The distinct widths of the keys."""
        return tuple(k for k in KEYS if any(TYPES[t].key == k for t in self.keys))

    def untyped(self, value: str = "none") -> Signature:
        """Return the signature without what the types of keys add to it."""
        return replace(self.signature(value), key_transform="descending" in self.orders)

    def signature(self, value: str = "none") -> Signature:
        """Return the form of the sorts with these values."""
        return Signature(
            value=value,
            key_transform="descending" in self.orders or any(TYPES[t].kind for t in self.keys),
            epilogue=self.epilogue,
            **{name.replace("-", "_"): name in self.features for name in FEATURES},
        )

    @property
    def record(self) -> dict[str, Any]:
        """The manifest's representation; it has the whole epilogue, line by line, so that a bundle is reproducible."""
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


def offered(target: Target) -> tuple[str, ...]:
    """Return the key types that a target sorts or scans; narrow ones use the shape for words."""
    return tuple(t for t in TYPES if target.labels(t))


def choose(
    target: Target,
    keys: Iterable[str],
    apis: Iterable[str],
    algorithms: Iterable[str],
    *,
    values: Iterable[str] = (),
    orders: Iterable[str] = (),
    features: Iterable[str] = (),
    epilogue: str = "",
) -> Choice:
    """Return the choice of these names.

    Defaults: the keys for which the target has tables, all APIs of the target, the algorithm "auto" (the sort for any
    count), no values, ascending order, no features.

    Raises:
        Usage: the target lacks a named key type, API or algorithm, or a name is unknown.
    """
    have = _known(target)
    default = {
        "key": tuple(k for k in KEYS if any(k == x for _, x in target.choices)),
        "api": target.apis,
        "algorithm": (AUTO,),
        "value": ("none",),
        "order": ("ascending",),
        "feature": (),
    }
    asked = (keys, apis, algorithms, values, orders, features)
    picked: dict[str, Any] = {}
    for word, names in zip(have, asked, strict=True):
        wanted = set(names)
        for name in sorted(wanted - set(have[word])):
            raise Usage(f"target {target.name}: has no {word} {name}; it has {', '.join(have[word])}")
        picked[word] = tuple(n for n in have[word] if n in (wanted or default[word]))
    return Choice(**{f"{word}s": names for word, names in picked.items()}, epilogue=epilogue)


def again(target: Target, have: Choice) -> Choice:
    """Return the names of an earlier choice, resolved against the current target.

    Raises:
        Usage: the target lacks one of them.
    """
    more = {"values": have.values, "orders": have.orders, "features": have.features}
    found = choose(target, have.keys, have.apis, have.algorithms, **more, epilogue=have.epilogue)
    return replace(found, glsl_only=have.glsl_only, max_n=have.max_n)


def _known(target: Target) -> dict[str, tuple[str, ...]]:
    """All names that a choice of the target can hold, by kind, in the order of a choice."""
    return {
        "key": offered(target),
        "api": target.apis,
        "algorithm": (AUTO, *sorted({a for a, _ in target.choices} | DERIVED.keys()), *IMPLICIT),
        "value": tuple(VALUES),
        "order": ORDERS,
        "feature": FEATURES,
    }


def widened(choice: Choice, have: Choice | None, target: Target) -> Choice:
    """Return the union of `choice` and the bundle's choice `have`, limited to what the target still offers.
    The bundle's epilogue and greatest count are kept if `choice` has none; `choice` decides whether there is SPIR-V.
    """
    if have is None:
        return choice
    both = {f"{word}s": names for word, names in _known(target).items()}
    names: dict[str, Any] = {
        name: tuple(n for n in known if n in (*getattr(choice, name), *getattr(have, name)))
        for name, known in both.items()
    }
    max_n = choice.max_n if choice.max_n < ANY_N else have.max_n
    return replace(choice, **names, epilogue=choice.epilogue or have.epilogue, max_n=max_n)


def digest(data: bytes) -> str:
    """Return the hash of a file as the manifest records it."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Compiled:
    """The origin of a sort's SPIR-V: the hash of its GLSL without the header, and the compiler."""

    glsl: str
    compiler: str

    def __post_init__(self) -> None:
        """Check the characters of the compiler's name and version, which are written into C comments.

        Raises:
            ValueError: a value has other characters.
        """
        if not re.fullmatch(r"[A-Za-z0-9 ().:_+-]{1,100}", self.compiler) or not re.fullmatch(
            "[0-9a-f]{64}", self.glsl
        ):
            raise ValueError


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The manifest's entry of one target: its choice, its sorts, their SPIR-V, and the hashes of its files."""

    choice: Choice
    sorts: tuple[str, ...]
    spirv: Mapping[str, Compiled]
    files: Mapping[str, str]

    @property
    def record(self) -> dict[str, Any]:
        """The manifest's representation."""
        return {
            **self.choice.record,
            "sorts": list(self.sorts),
            "spirv": {n: {"glsl": c.glsl, "compiler": c.compiler} for n, c in sorted(self.spirv.items())},
            "files": dict(sorted(self.files.items())),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of a bundle: its targets, and the hashes of the files that they share.

    `read` is the hash of the manifest file; empty if the manifest was not read from a file.  `single`: the bundle has
    one header per API instead of folders.
    """

    version: str
    prefix: str
    common: Mapping[str, str]
    targets: Mapping[str, Entry]
    single: bool = False
    read: str = field(default="", compare=False)

    def without(self, names: Iterable[str]) -> Manifest:
        """Return the manifest without some of its targets."""
        return replace(self, targets={n: e for n, e in self.targets.items() if n not in set(names)})

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of every file except the manifest itself."""
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
