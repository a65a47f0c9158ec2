"""The package of npm: a bundle's ES modules with a module for each pair of key and value type, as a tarball.

    python .ci/npm_package.py FOLDER    writes the tarball into FOLDER, and prints its path

The same sources give the same bytes.  `NAME` is the only place of the package's name.
"""

import gzip
import io
import json
import re
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from hsgen import __version__
from hsgen.apis import APIS
from hsgen.bundle.build import Modules, build
from hsgen.bundle.manifest import Choice
from hsgen.bundle.selection import sorts
from hsgen.core.keys import FEATURES, TYPES, VALUES
from hsgen.core.sort import Sort
from hsgen.emit import js_files
from hsgen.targets import target
from hsgen.targets.target import Target

NAME = "hsgen-webgpu"
ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "docs/guides/npm.md"
TARGETS = ("webgpu-subgroups", "webgpu", "webgpu-cpu")
KEYS = ("u16", "i16", "f16", "u32", "i32", "f32", "u64", "i64", "f64")
ELEMENTS = {"none": "none", "u32": "v4", "u64": "v8", "index": "index"}
"""The values of modules by their name, each with the kind of values in a bundle."""
ALGORITHMS = ("auto", "digest", "gather", "merge_path", "pack", "radix_select", "reduce_by_key", "segmented_sort")
WITHOUT = "webgpu-subgroups"
"""The target that has sorts alone: WGSL lacks the barriers of subgroups, which other operations need there."""
API = "webgpu"
EPOCH = 315532800  # 1980, as in the archives of bundles

Chosen = Mapping[str, tuple[Target, Choice]]


def chosen(
    targets: Sequence[str] = TARGETS,
    keys: Sequence[str] = KEYS,
    values: Sequence[str] = tuple(ELEMENTS.values()),
    algorithms: Sequence[str] = ALGORITHMS,
) -> Chosen:
    """Return each target with its sorts: all orders, counts on the device and ranges of bits."""
    assert set(values) <= set(VALUES) and {"device-count", "bit-range"} <= set(FEATURES)
    features, orders = ("device-count", "bit-range"), ("ascending", "descending")
    parts = {}
    for name in targets:
        choice = Choice(
            keys=tuple(keys),
            apis=(API,),
            algorithms=("auto",) if name == WITHOUT else tuple(algorithms),
            values=tuple(values),
            orders=orders,
            features=features,
        )
        parts[name] = target.find(name), choice
    return parts


def pairs(parts: Chosen) -> dict[tuple[str, str], list[tuple[Target, Sort]]]:
    """Return the sorts of each type of keys and values that a module has, by the names of both."""
    found = [(t, s) for t, choice in parts.values() for s in sorts(t, choice) if s.operation == "sort"]
    types = next(iter(parts.values()))[1].keys
    return {
        (key, element): those
        for key in types
        for element, value in ELEMENTS.items()
        if (those := [(t, s) for t, s in found if s.key.name == TYPES[key].key and s.signature.value == value])
    }


def module(key: str, element: str, those: Sequence[tuple[Target, Sort]], runtime: str) -> tuple[str, str]:
    """Return the module of a key and a value type, and its types."""
    package = APIS[API].package
    assert package
    rows = [f"    {js_files.sort_row(s, t, f'../../targets/{t.name}/{package.folder}')},\n" for t, s in those]
    default = f'"{key}", {{ sorts, ...options, value: "{element}" }}'
    text = f"""import {{ Sorter }} from "../{runtime}.js";

/** The sorts of {key} keys with values: {element}. */
export const sorts = [
{"".join(rows)}];

/** Create a sorter of {key} keys with values: {element}; only the module for the device is loaded. */
export const createSorter = (device, options) => Sorter.create(device, {default});
"""
    types = f"""import type {{ ListedSort, Sorter, SorterOptions }} from "../{runtime}.js";

/** The sorts of {key} keys with values: {element}. */
export declare const sorts: readonly ListedSort[];

/** Create a sorter of {key} keys with values: {element}; only the module for the device is loaded. */
export declare function createSorter(device: GPUDevice, options?: Omit<SorterOptions, "value">): Promise<Sorter>;
"""
    head = f"/* SPDX-License-Identifier: MIT-0\n * Part of {NAME} {__version__}. */\n"
    return head + text, head + types


def files(parts: Chosen) -> dict[str, bytes]:
    """Return the files of the package by path."""
    prefix = "hs"
    bundle, _ = build(parts, Modules(ROOT, None, prefix), prefix)
    described = json.loads(bundle["package.json"])
    kept = {path: data for path, data in bundle.items() if re.match(r"js/|targets/[^/]+/js/|LICENSE$", path)}
    exports = {}
    for (key, element), those in pairs(parts).items():
        stem = f"js/pairs/{key}-{element}"
        code, types = module(key, element, those, f"{prefix}_webgpu")
        kept |= {f"{stem}.js": code.encode(), f"{stem}.d.ts": types.encode()}
        exports[f"./{key}-{element}"] = {"types": f"./{stem}.d.ts", "default": f"./{stem}.js"}
    described |= {"name": NAME, "exports": described["exports"] | exports}
    kept["package.json"] = (json.dumps(described, indent=2) + "\n").encode()
    kept["README.md"] = readme().encode()
    return kept


def readme() -> str:
    """Return the page of the package, whose links to files of the project are names in code instead."""
    text = README.read_text(encoding="utf-8")
    return re.sub(r"\[([^\]]+)\]\((?!https?:|#)[^)]+\)", r"\1", text)


def tarball(content: Mapping[str, bytes]) -> bytes:
    """Return the tarball that npm installs: files in the folder `package`, in order, of one time and one mode."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as made:
        for path in sorted(content):
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size, entry.mode, entry.mtime = len(content[path]), 0o644, EPOCH
            made.addfile(entry, io.BytesIO(content[path]))
    return gzip.compress(out.getvalue(), compresslevel=9, mtime=0)


def write(folder: Path) -> Path:
    """Write the package of a release; return its path."""
    path = folder / f"{NAME}-{__version__}.tgz"
    path.write_bytes(tarball(files(chosen())))
    return path


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
