"""The bundle generated/ as one bundle for each API, and as archives that are the same for the same files."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hsgen.apis import APIS
from hsgen.bundle.build import Modules, build
from hsgen.bundle.manifest import MANIFEST, again
from hsgen.bundle.store import read_manifest
from hsgen.targets import target

TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows


def of_api(folder: Path, api: str) -> dict[str, bytes]:
    """The files of a bundle with the targets of the bundle in `folder` that have an API, for it alone.

    Sorts, key types and prefix are those of the bundle; SPIR-V is taken over from it.  Empty if no target has the API.
    """
    old = read_manifest(folder)
    parts = {}
    for name, entry in old.targets.items():
        if api in entry.choice.apis:
            found = target.find(name)
            parts[name] = found, replace(again(found, entry.choice), apis=(api,))
    if not parts:
        return {}
    files, manifest = build(parts, Modules(folder, old, old.prefix), old.prefix)
    return {**files, MANIFEST: manifest.bytes()}


def every(folder: Path) -> dict[str, dict[str, bytes]]:
    """The bundles by API."""
    made = {api: of_api(folder, api) for api in APIS}
    return {api: files for api, files in made.items() if files}


def archive(top: str, files: Mapping[str, bytes]) -> bytes:
    """A zip archive of files in one folder: names sorted, one time, one mode, stored as hsgen wrote them."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for path in sorted(files):
            entry = zipfile.ZipInfo(f"{top}/{path}", TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            entry.create_system = 3
            made.writestr(entry, files[path])
    return out.getvalue()
