"""Bundles: all files of a `generate`, built in memory.  Nothing here writes; see `hsgen.store`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

from hsgen import __version__
from hsgen.errors import Usage
from hsgen.render import environment, render, template_errors
from hsgen.spec import Sort
from hsgen.target import Target

MANIFEST = "manifest.json"
SCHEMA = 1
COMMON = ("LICENSE", "README.md")

Files = dict[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What of a target goes into a bundle."""

    keys: tuple[str, ...]
    apis: tuple[str, ...]
    algorithms: tuple[str, ...]

    @property
    def record(self) -> dict[str, list[str]]:
        """The manifest's form."""
        return {"keys": list(self.keys), "apis": list(self.apis), "algorithms": list(self.algorithms)}


def choose(target: Target, keys: Iterable[str], apis: Iterable[str], algorithms: Iterable[str]) -> Choice:
    """Return the choice that these names make; an empty one means all that the target has.

    Raises:
        Usage: the target lacks a key type, API or algorithm that was named.
    """
    have = {
        "key": sorted({k for _, k in target.choices}, key=lambda k: (len(k), k)),
        "api": list(target.apis),
        "algorithm": sorted({a for a, _ in target.choices}),
    }
    picked: dict[str, tuple[str, ...]] = {}
    for word, names in (("key", keys), ("api", apis), ("algorithm", [a for a in algorithms if a != "auto"])):
        wanted = set(names)
        for name in sorted(wanted - set(have[word])):
            raise Usage(f"target {target.name}: has no {word} {name}; it has {', '.join(have[word])}")
        picked[word] = tuple(n for n in have[word] if n in wanted or not wanted)
    return Choice(keys=picked["key"], apis=picked["api"], algorithms=picked["algorithm"])


def widened(choice: Choice, have: Choice | None, target: Target) -> Choice:
    """Return `choice` with what a bundle already has of the target, as far as the target still offers it."""
    if have is None:
        return choice
    every = choose(target, (), (), ())
    return Choice(
        keys=tuple(k for k in every.keys if k in (*choice.keys, *have.keys)),
        apis=tuple(a for a in every.apis if a in (*choice.apis, *have.apis)),
        algorithms=tuple(a for a in every.algorithms if a in (*choice.algorithms, *have.algorithms)),
    )


def sorts(target: Target, choice: Choice) -> list[Sort]:
    """Return the sorts of `target` that `choice` names, in a fixed order."""
    pairs = [(a, k) for a in choice.algorithms for k in choice.keys if (a, k) in target.choices]
    return [target.sort(a, k) for a, k in pairs]


def plan_json(sort: Sort) -> bytes:
    """Return the launch plan of `sort` with its kernels, as JSON text."""
    kernels = {
        k.name: {
            "work_group": k.work_group,
            "subgroup": k.subgroup,
            "roles": list(k.roles),
            "local_bytes": k.shared * sort.key.bytes,
        }
        for k in sort.kernels
    }
    rows = [_row(asdict(step)) for step in sort.plan.steps]
    head = {
        "schema": SCHEMA,
        "sort": sort.name,
        "algorithm": sort.algorithm,
        "key": sort.key.name,
        "max_n": sort.plan.max_n,
        "scratch_per_n": sort.plan.scratch_per_n,
        "scratch_plus": sort.plan.scratch_plus,
        "kernels": kernels,
    }
    text = json.dumps(head, indent=2)
    return (text[:-2] + ',\n  "steps": [\n' + ",\n".join("    " + r for r in rows) + "\n  ]\n}\n").encode()


def _row(step: dict[str, Any]) -> str:
    step["bindings"] = [b["role"] if not b["per_n"] and not b["plus"] else b for b in step["bindings"]]
    return json.dumps(step)


def target_files(target: Target, choice: Choice) -> Files:
    """Return every file of one target."""
    files: Files = {}
    for sort in sorts(target, choice):
        for api in choice.apis:
            source = render(sort, api)
            files[source.path] = source.text.encode()
        files[f"targets/{target.name}/plans/{sort.algorithm}_{sort.key.name}.json"] = plan_json(sort)
    return files


def common_files() -> Files:
    """Return the files that every bundle holds whatever its targets."""
    with template_errors():
        env = environment()
        return {name: env.get_template(f"host/{name}.j2").render(version=__version__).encode() for name in COMMON}


def digest(data: bytes) -> str:
    """Return the hash by which the manifest knows a file."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a bundle consists of: per target its choice and the hashes of its files, and the common files."""

    version: str
    common: Mapping[str, str]
    choices: Mapping[str, Choice]
    files: Mapping[str, Mapping[str, str]]

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of every file but the manifest itself."""
        out = dict(self.common)
        for files in self.files.values():
            out.update(files)
        return out

    def bytes(self) -> bytes:
        """Return the file's text."""
        data = {
            "schema": SCHEMA,
            "hsgen": self.version,
            "files": dict(sorted(self.common.items())),
            "targets": {
                name: {**self.choices[name].record, "files": dict(sorted(self.files[name].items()))}
                for name in sorted(self.choices)
            },
        }
        return (json.dumps(data, indent=2) + "\n").encode()


def parse_manifest(data: bytes, where: str) -> Manifest:
    """Return the manifest that `data` holds.

    Raises:
        Usage: it is not a manifest of this schema.
    """
    try:
        raw = json.loads(data)
        if raw["schema"] != SCHEMA:
            raise Usage(f"{where}: schema {raw['schema']} is not known; this hsgen reads schema {SCHEMA}")
        targets = raw["targets"]
        lists = [t[word] for t in targets.values() for word in ("keys", "apis", "algorithms")]
        if not all(isinstance(x, list) and all(isinstance(v, str) for v in x) for x in lists):
            raise TypeError
        paths = [str(p) for t in (raw, *targets.values()) for p in t["files"]]
        if any(PurePosixPath(p).is_absolute() or ".." in PurePosixPath(p).parts for p in paths):
            raise Usage(f"{where}: names files outside its folder; generate into another folder")
        return Manifest(
            version=str(raw["hsgen"]),
            common={str(k): str(v) for k, v in raw["files"].items()},
            choices={
                n: Choice(keys=tuple(t["keys"]), apis=tuple(t["apis"]), algorithms=tuple(t["algorithms"]))
                for n, t in targets.items()
            },
            files={n: {str(k): str(v) for k, v in t["files"].items()} for n, t in targets.items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Usage(f"{where}: is not a manifest of hsgen; generate into another folder") from None


def build(parts: Mapping[str, tuple[Target, Choice]], old: Manifest | None = None) -> tuple[Files, Manifest]:
    """Return the files of the targets in `parts` with the common ones, and the manifest of the whole bundle.

    Targets of `old` that `parts` does not name stay as the old manifest has them.
    """
    files = common_files()
    hashes = {n: dict(f) for n, f in (old.files if old else {}).items()}
    choices = dict(old.choices if old else {})
    common = {name: digest(data) for name, data in files.items()}
    for name, (target, choice) in parts.items():
        made = target_files(target, choice)
        files.update(made)
        hashes[name] = {path: digest(data) for path, data in made.items()}
        choices[name] = choice
    return files, Manifest(version=__version__, common=common, choices=choices, files=hashes)
