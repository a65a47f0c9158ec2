"""``hsgen generate``: write kernels, plans and C files of targets into a bundle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click

from hsgen.apis import APIS
from hsgen.bundle import store
from hsgen.bundle.build import Files, Modules, build
from hsgen.bundle.choosing import COMPANIONS, widened
from hsgen.bundle.manifest import MANIFEST, Choice, Manifest
from hsgen.bundle.selection import requested, shared_out
from hsgen.bundle.update import Change, update
from hsgen.cli.bundle_options import folder_option, recorded, targets_option
from hsgen.cli.epilogues import refuse, trust_option, unknown
from hsgen.cli.options import gathered, json_option
from hsgen.cli.output import emit_json
from hsgen.cli.sort_options import Wanted, wanted_options
from hsgen.core.errors import Unavailable, Usage, shown
from hsgen.emit import spirv
from hsgen.emit.c_files import PREFIX, check_prefix
from hsgen.targets import target as target_files
from hsgen.targets.target import AUTO, Target

Parts = dict[str, tuple[Target, Choice]]
"""Targets of a bundle, each with the choice that the bundle holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The targets and sorts that a command line adds to a bundle, and the targets that it removes."""

    names: tuple[str, ...]
    wanted: Wanted
    apis: tuple[str, ...]
    algorithms: tuple[str, ...]
    removed: tuple[str, ...]
    prefix: str | None
    single: bool | None
    trusted: bool
    glsl_only: bool

    def check(self) -> None:
        """Refuse choices without a target.

        Raises:
            Usage: no target is named.
        """
        if (self.wanted or self.apis or self.algorithms or self.glsl_only) and not self.names:
            raise Usage(
                "--key, --value, --order, --feature, --epilogue, --max-n, --api, --algorithm and --glsl-only choose "
                "within a target; name it with -t"
            )

    def made(self, folder: Path, old: Manifest | None) -> tuple[Files, Manifest]:
        """Return the files and the manifest of the bundle after the request; `old` is the manifest before it.

        Raises:
            Usage: the request does not fit the bundle or its targets.
            Unavailable: SPIR-V is needed, and there is no GLSL compiler.
        """
        for name in self.removed:
            if old is None or name not in old.targets:
                raise Usage(f"{folder}: holds no target {name} that could be removed")
        kept = old.without(self.removed) if old else None
        parts = self._parts(kept)
        if not parts and not self.removed:
            if old is None:
                raise store.no_bundle(folder, "name targets with -t, `hsgen targets` lists them")
            parts = recorded(folder, old)
        prefix = check_prefix(self.prefix if self.prefix is not None else old.prefix if old else PREFIX)
        single = self.single if self.single is not None else old is not None and old.single
        same = kept and (prefix, single) == (kept.prefix, kept.single) and all(e.sorts for e in kept.targets.values())
        if kept and (single or not same):
            parts = {**recorded(folder, kept, self.names), **parts}  # all C files change
        texts = {name: choice.epilogue for name, (_, choice) in parts.items()}
        refuse(folder, unknown(texts, self.wanted.epilogue, trusted=self.trusted))
        return _built(folder, old, kept, parts, prefix, single)

    def _parts(self, kept: Manifest | None) -> Parts:
        """The named targets, each with the request merged with what the bundle already holds."""
        targets = [target_files.find(name) for name in self.names]
        parts: Parts = {}
        for found, own in zip(targets, shared_out(self.apis, targets), strict=True):
            if found.name in parts:
                raise Usage(f"target {found.name}: named twice; name it once")
            have = kept.targets.get(found.name) if kept else None
            chosen = self.wanted.choice(found, own, self.algorithms or (AUTO, *COMPANIONS))
            requested(found, chosen, self.wanted.keys)  # the request must be valid by itself
            parts[found.name] = (found, widened(chosen, have.choice if have else None, found))
        return self._without_spirv(parts) if self.glsl_only else parts

    def _without_spirv(self, parts: Parts) -> Parts:
        """The parts with GLSL only.

        Raises:
            Usage: none of them has GLSL.
        """
        able = {name for name, (_, choice) in parts.items() if any(APIS[api].spirv for api in choice.apis)}
        if not able:
            raise Usage(f"--glsl-only: no GLSL is generated for {', '.join(parts)}; omit it")
        return {n: (found, replace(choice, glsl_only=n in able)) for n, (found, choice) in parts.items()}


@click.command()
@targets_option
@wanted_options
@gathered(
    "request",
    Request,
    click.option("--api", "apis", multiple=True, help="Only this API, for those of the targets that have it."),
    click.option(
        "--algorithm",
        "algorithms",
        multiple=True,
        metavar="NAME",
        help="This algorithm or variant, as `hsgen targets` lists it; by default auto, the sort for any "
        "count, and digest, the digest of an array.",
    ),
    click.option(
        "--glsl-only",
        is_flag=True,
        help="Without SPIR-V, which requires a GLSL compiler: the Vulkan library of the bundle then does not compile.",
    ),
    click.option("--remove", "removed", multiple=True, metavar="NAME", help="Remove this target from the bundle."),
    click.option("--prefix", help=f"The prefix of all C names; by default the bundle's own, {PREFIX} in a new one."),
    click.option(
        "--single-file/--folders",
        "single",
        default=None,
        help="One header per API, with its implementation under a macro, or folders of C files with build files; by "
        "default what the bundle has, folders in a new one.",
    ),
)
@click.option("--dry-run", is_flag=True, help="List what would be written; write nothing.")
@trust_option
@folder_option
@json_option
def generate(request: Request, dry_run: bool, folder: Path, as_json: bool) -> None:
    """Write kernels, plans and C files of the named targets into a bundle.

    Adds or replaces the files of these targets only.  The request is merged with what the bundle already holds;
    --remove removes a target.  Files that would not change are not written.  Without -t, all targets of the bundle are
    generated again.  The last line is the SHA-256 of the manifest, for `hsgen verify --expect`.
    """
    request.check()
    change = update(
        folder,
        lambda old: request.made(folder, old),
        note=lambda line: click.echo(f"hsgen: {line}", err=True),
        dry_run=dry_run,
    )
    _report(folder, change, dry_run, as_json)


def _report(folder: Path, change: Change, dry_run: bool, as_json: bool) -> None:
    """Print what was written and removed, or would be."""
    if as_json:
        rows = [(p, "written") for p in change.written] + [(p, "removed") for p in change.removed]
        rows += [(MANIFEST, "unchanged")] * (MANIFEST not in change.written)
        emit_json([{"path": p, "state": s, "dry_run": dry_run, "sha256": change.hashes.get(p)} for p, s in rows])
        return
    for path in change.written:
        click.echo(f"{'would write' if dry_run else 'wrote'} {shown(folder / path)}")
    for path in change.removed:
        click.echo(f"{'would remove' if dry_run else 'removed'} {shown(folder / path)}")
    if not change.written and not change.removed:
        click.echo(f"{shown(folder)} is up to date")
    click.echo(f"SHA-256 of {MANIFEST}: {change.hashes[MANIFEST]}")


def _built(
    folder: Path, old: Manifest | None, kept: Manifest | None, parts: Parts, prefix: str, single: bool
) -> tuple[Files, Manifest]:
    """The files and the manifest of a bundle.

    Raises:
        Unavailable: SPIR-V is needed that the bundle does not have, and there is no GLSL compiler.
    """
    words = Modules(folder, old, prefix, single=single)
    files, manifest = build(parts, words, prefix, kept, single=single)
    if words.missing:
        more = f" (and {len(words.missing) - 1} more)" if len(words.missing) > 1 else ""
        where = f"{shown(folder / words.missing[0])}{more}"
        raise Unavailable(f"{where}: no GLSL compiler is here; {spirv.install()}; or leave SPIR-V out with --glsl-only")
    return files, manifest
