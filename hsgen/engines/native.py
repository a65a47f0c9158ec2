"""Build the shared libraries through which Python drives devices; a library has the C runtime of a bundle, and a
harness.

The harness has the functions of ``native/harness.h``, which Python calls.  A separate process loads and runs the
library (`hsgen.tools.worker`), because drivers can crash and hang.  Libraries are cached in the user's cache folder, by
a hash of all build inputs.  The object files of those C files that all bundles share are cached in the same way.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hsgen.algorithms import operation
from hsgen.apis import APIS
from hsgen.apis.api import Api, Harness
from hsgen.bundle import build
from hsgen.bundle.choosing import COMPANIONS, choose
from hsgen.bundle.manifest import Manifest
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.keys import KEYS, ORDERS, PLAIN, TYPES, Signature
from hsgen.core.scratch import ANY_N
from hsgen.emit import c_calls, spirv
from hsgen.engines import translated
from hsgen.system import compilers, folders
from hsgen.system.compilers import PATIENCE, complaint, run
from hsgen.targets.target import AUTO, Target

HARNESS = Path(__file__).resolve().parent / "native"
"""The folder of the files that the harnesses of all APIs share."""
INCLUDES = ("-Iinclude", "-Iharness")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)


def library(
    api: str,
    targets: Sequence[Target],
    key: str,
    baselines: Sequence[str] = (),
    bundle: tuple[Path, Manifest] | None = None,
    *,
    algorithms: Sequence[str] = (),
    signature: Signature = PLAIN,
    max_n: int = ANY_N,
) -> Path:
    """Return the path of a shared library with a bundle of `targets` and the harness of `api`; build it if necessary.

    algorithms: the algorithms of the bundle; () means all algorithms of the targets for the key type `key`.
    signature, max_n: the signature and the greatest count of the bundle's sorts.
    bundle: an existing bundle, for machines without a GLSL compiler.  If the GLSL text of a sort is the same there, the
    library gets the SPIR-V modules of that bundle.
    baselines: names of other libraries to include, for benchmarks.  Names are ignored if the API's harness has no such
    baseline for the operations of `algorithms`.

    Raises:
        Unavailable: a compiler or a header is missing, or hsgen drives no devices of the API.
        Wrong: a file does not compile.
    """
    its = APIS[api]
    if its.harness is None:
        raise Unavailable(f"{its.title}: hsgen drives no {its.title} devices")
    runs = its.harness.runtime or its
    files = _bundle_files(its, targets, key, bundle, algorithms, signature, max_n) | harness_files(runs)
    command, units = [*its.harness.command(), *its.harness.options], [p for p in sorted(files) if _compiled(p, runs)]
    if more_units := baseline_units(its.harness, baselines, algorithms):
        command = [*command, *baseline_options(its.harness, baselines, key, signature)]
        units += [f"harness/{p}" for p in more_units]
    state = hashlib.sha256("\0".join([*command, *units, *_versions(command)]).encode())
    for path in sorted(files):
        state.update(path.encode() + b"\0" + files[path])
    place = folders.cached("native") / f"{api}-{state.hexdigest()}.so"
    if folders.load(place) is None:
        _build(its, command, units, files, place)
    return place


def _bundle_files(
    api: Api,
    targets: Sequence[Target],
    key: str,
    bundle: tuple[Path, Manifest] | None,
    algorithms: Sequence[str],
    signature: Signature,
    max_n: int,
) -> build.Files:
    """Return the files of the bundle that `library` builds."""
    modules = build.Modules(bundle[0] if bundle else Path(os.devnull), bundle[1] if bundle else None, "hs")
    words = translated.words(api) if api.harness and api.harness.spirv else modules
    name = api.harness.runtime.name if api.harness and api.harness.runtime else api.name
    orders, features = ORDERS if signature.key_transform else (), signature.features
    more = {"values": [signature.value], "orders": orders, "features": features, "epilogue": signature.epilogue}
    targets = [replace(t, apis=(*t.apis, name)) if name not in t.apis else t for t in targets]
    choices = {t.name: choose(t, [key], [name], algorithms or t.labels(key), **more) for t in targets}  # type: ignore[arg-type]
    parts = {t.name: (t, replace(choices[t.name], max_n=max_n)) for t in targets}
    files, _ = build.build(parts, words, "hs")
    if modules.missing:
        raise Unavailable(
            f"no GLSL compiler for {modules.missing[0]}; {spirv.install()}, or name a bundle that holds it"
        )
    return files


def harness_files(api: Api) -> build.Files:
    """Return the files of an API's harness by their paths in the build folder."""
    paths = {file.name: file for file in HARNESS.iterdir()}
    for folder in api.folders("harness"):
        paths |= {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    texts = {
        name: api.renamed(c_calls.harness(api, file.read_text(encoding="utf-8")), file) for name, file in paths.items()
    }
    return {f"harness/{name}": text.encode() for name, text in sorted(texts.items())}


def baseline_units(harness: Harness, baselines: Sequence[str], algorithms: Sequence[str]) -> list[str]:
    """Return the harness files that call these baselines for the operations of `algorithms`, by default for sorts."""
    names_of_operations = {operation(a).name for a in algorithms if a not in COMPANIONS} or {operation(AUTO).name}
    units = [harness.baselines[name] for name in sorted(names_of_operations & set(harness.baselines))]
    return [file for file, names in units if set(baselines) & set(names)]


def baseline_options(harness: Harness, baselines: Sequence[str], key: str, signature: Signature) -> list[str]:
    """Return the compiler options that state which baselines are compiled, and for which sizes of keys and values.

    The compiler would take long to compile all baselines for all sizes.
    """
    known = sorted({p for _, names in harness.baselines.values() for p in names} & set(baselines))
    names = [f"-DHN_BASELINE_{p.upper().replace('-', '_')}" for p in known]
    return [*names, f"-DHN_KEY_BYTES={KEYS[TYPES[key].key].bytes}", f"-DHN_VALUE_BYTES={signature.value_bytes}"]


def _compiled(path: str, api: Api) -> bool:
    if path.startswith("harness/"):
        return api.harness is not None and path.removeprefix("harness/") in api.harness.sources
    suffixes = {".c", *(Path(api.named(name)).suffix for name in api.sources)}
    return Path(path).suffix in suffixes and not path.startswith("examples/") and "/kernels/" not in path


def _versions(command: Sequence[str]) -> list[str]:
    return [run([command[0], "--version"], PATIENCE).stdout]


def _build(api: Api, command: list[str], units: list[str], files: build.Files, place: Path) -> None:
    harness = api.harness
    assert harness is not None
    if harness.header and not _has_header(command, harness.header):
        raise Unavailable(f"the header {harness.header} is missing; install it (Debian and Ubuntu: {harness.package})")
    with folders.scratch() as folder:
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        out = folder / "out.so"
        shares = command == [
            *compilers.shared_c99(),
            *harness.options,
        ]  # with another compiler or with baselines, one command compiles all files
        shared = [u for u in units if shares and u.startswith(("src/", "harness/")) and "targets" not in u]
        objects = _objects(api, command, shared, files, folder)
        rest = [unit for unit in units if unit not in shared]
        _compile(api, [*command, "-shared", *INCLUDES, *rest, *objects, "-o", str(out), *harness.link], folder)
        folders.keep(place, out.read_bytes())


def _objects(api: Api, command: list[str], units: list[str], files: build.Files, folder: Path) -> list[str]:
    """Put the object files of `units`, C files that all bundles share, into `folder`; return the names of the files.

    Object files are taken from the cache.  Objects that the cache lacks are compiled, and then cached.
    """
    cache, versions = folders.cached("native"), _versions(command)
    places = {}
    for unit in units:
        state = hashlib.sha256("\0".join([*command, *versions, unit]).encode())
        for path in _included(unit, files):
            state.update(path.encode() + b"\0" + files[path])
        places[unit] = cache / f"{Path(unit).stem}-{state.hexdigest()}.o"
    known = {unit: folders.load(place) for unit, place in places.items()}
    if lacking := [unit for unit, data in known.items() if data is None]:
        _compile(api, [*command, "-c", *INCLUDES, *lacking], folder)
    for unit, data in known.items():
        file = folder / f"{Path(unit).stem}.o"
        if data is None:
            folders.keep(places[unit], file.read_bytes())
        else:
            file.write_bytes(data)
    return [f"{Path(unit).stem}.o" for unit in units]


def _included(unit: str, files: build.Files) -> list[str]:
    """Return the sorted paths of a C file and of all files of the build that it includes, directly or indirectly."""
    paths, left = set[str](), [unit]
    while left:
        path = left.pop()
        paths.add(path)
        names = [name.decode() for name in _INCLUDE.findall(files[path])]
        places = {
            f"{folder}/{name}" for name in names for folder in (Path(path).parent.as_posix(), "include", "harness")
        }
        left += sorted(places & files.keys() - paths)
    return sorted(paths)


def _compile(api: Api, command: list[str], folder: Path) -> None:
    """Run a compiler in `folder`.

    Raises:
        Wrong: the compiler fails or hangs.
    """
    done = run(command, 1200, cwd=folder)
    if done.returncode:
        message = complaint(done, ("error", "fatal", "cannot find"))
        raise Wrong(f"the C runtime of {api.name} does not build with {Path(command[0]).name}: {message}")


def _has_header(command: Sequence[str], header: str) -> bool:
    return run([*command, "-E", "-x", "c", "-"], PATIENCE, text=f"#include <{header}>\n").returncode == 0
