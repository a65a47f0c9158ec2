"""Bundles of folders become bundles of one header per API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hsgen.apis import listed
from hsgen.bundle.manifest import Manifest, digest
from hsgen.emit import c_files, single_file
from hsgen.emit.kernels import template_errors


def collapsed(
    files: Mapping[str, bytes], manifest: Manifest, kept: Manifest | None = None
) -> tuple[dict[str, bytes], Manifest]:
    """Return the files of a bundle of single files, and their manifest, for a bundle of folders.

    Headers are made of all targets.  If `files` lacks some, the headers stay as the manifest `kept` has them.
    """
    targets, prefix = sorted(manifest.targets), manifest.prefix
    apis = listed(api for entry in manifest.targets.values() for api in entry.choice.apis)
    made = {"LICENSE": files["LICENSE"]}
    with template_errors():
        made["README.md"] = single_file.readme(apis, {n: e.sorts for n, e in manifest.targets.items()}, prefix)
    for api in apis:
        path = f"examples/{c_files.prefixed(api.named(api.example), prefix)}"
        made[path] = single_file.program(files[path], api, prefix)
        if kept is None:
            with template_errors():
                made[single_file.name(api, prefix)] = single_file.header(files, api, apis, targets, prefix)
    common = {path: digest(data) for path, data in made.items()}
    if kept is not None:
        headers = {single_file.name(api, prefix) for api in apis}
        common |= {path: hash_ for path, hash_ in kept.common.items() if path in headers}
    entries = {name: replace(entry, files={}) for name, entry in manifest.targets.items()}
    return made, replace(manifest, common=common, targets=entries, single=True)
