"""Bundles of a few fixed files, for tests of operations on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from hsgen.bundle.build import Files
from hsgen.bundle.manifest import Choice, Entry, Manifest, digest
from hsgen.bundle.update import Change, update

CHOICE = Choice(keys=("u32",), apis=("opencl",), algorithms=("bitonic",))


def bundle(targets: Mapping[str, str], prefix: str = "hs") -> tuple[Files, Manifest]:
    """Return a bundle with these targets, each with the text of its files."""
    shared = {"LICENSE": b"free\n", f"src/{prefix}.c": " ".join(sorted(targets)).encode()}
    files: Files = dict(shared)
    entries = {}
    for name, text in targets.items():
        paths = [f"targets/{name}/{name}.c", f"targets/{name}/kernels/opencl/bitonic_u32.cl"]
        own = {path: f"{text} in {path}\n".encode() for path in paths}
        hashes = {path: digest(data) for path, data in own.items()}
        entries[name] = Entry(choice=CHOICE, sorts=("bitonic_u32",), spirv={}, files=hashes)
        files |= own
    common = {path: digest(data) for path, data in shared.items()}
    return files, Manifest(version="0", prefix=prefix, common=common, targets=entries)


def write(folder: Path, targets: Mapping[str, str], note: Callable[[str], None] = lambda line: None) -> Change:
    """Write such a bundle to a folder."""
    return update(folder, lambda old: bundle(targets), note=note)


def state(folder: Path) -> dict[str, bytes | None]:
    """Return everything below a folder: files with their content, folders, and links with their targets."""
    return {
        p.relative_to(folder).as_posix(): str(p.readlink()).encode()
        if p.is_symlink()
        else p.read_bytes()
        if p.is_file()
        else None
        for p in sorted(folder.rglob("*"))
    }
