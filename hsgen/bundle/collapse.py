"""Conversion of a bundle with folders to a single-header bundle, which has one header per API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hsgen.apis import listed
from hsgen.bundle.manifest import Manifest, digest
from hsgen.emit import c_files, single_file
from hsgen.emit.kernels import template_errors


def collapsed(
    files: Mapping[str, bytes], manifest: Manifest, old: Manifest | None = None
) -> tuple[dict[str, bytes], Manifest]:
    """Return the files of a single-header bundle, and its manifest, from the files of a bundle with folders.

    There is a header for each API, which contains the kernels of all targets.  If `files` lacks those of a target, the
    caller passes `old`, the previous manifest.  The result then has no headers, and the new manifest keeps the headers'
    hashes from `old`.
    """
    targets, prefix = sorted(manifest.targets), manifest.prefix
    apis = listed(api for entry in manifest.targets.values() for api in entry.choice.apis)
    out = {"LICENSE": files["LICENSE"]}
    with template_errors():
        out["README.md"] = single_file.readme(apis, {n: e.sorts for n, e in manifest.targets.items()}, prefix)
    for api in apis:
        path = f"examples/{c_files.prefixed(api.named(api.example), prefix)}"
        out[path] = single_file.program(files[path], api, prefix)
        if old is None:
            with template_errors():
                out[single_file.name(api, prefix)] = single_file.header(files, api, apis, targets, prefix)
    common = {path: digest(data) for path, data in out.items()}
    if old is not None:
        headers = {single_file.name(api, prefix) for api in apis}
        common |= {path: hash_ for path, hash_ in old.common.items() if path in headers}
    entries = {name: replace(entry, files={}) for name, entry in manifest.targets.items()}
    return out, replace(manifest, common=common, targets=entries, single=True)
