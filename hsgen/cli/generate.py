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
"""The targets of a bundle by name, each with a `Choice`, which states the sorts of the target that the bundle contains.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The targets and sorts that a command line adds to a bundle, and the targets that it removes."""

    names: tuple[str, ...]
    selection: Wanted
    apis: tuple[str, ...]
    algorithms: tuple[str, ...]
    removed: tuple[str, ...]
    prefix: str | None
    single: bool | None
    trusted: bool
    glsl_only: bool

    def check(self) -> None:
        """Check that a target is named if options choose among its sorts.

        Raises:
            Usage: no target is named.
        """
        if (self.selection or self.apis or self.algorithms or self.glsl_only) and not self.names:
            raise Usage(
                "--key, --value, --order, --feature, --epilogue, --max-n, --api, --algorithm and --glsl-only choose "
                "within a target; name it with -t"
            )

    def assemble(self, folder: Path, old: Manifest | None) -> tuple[Files, Manifest]:
        """Return the files and the manifest that the bundle must have after the request.

        `old` is its present manifest; None for a new bundle.

        Raises:
            Usage: the request does not fit the bundle or its targets.
            Unavailable: SPIR-V is needed, and there is no GLSL compiler.
        """
        for name in self.removed:
            if old is None or name not in old.targets:
                raise Usage(f"{folder}: holds no target {name} that could be removed")
        remaining = old.without(self.removed) if old else None
        parts = self._parts(remaining)
        if not parts and not self.removed:
            if old is None:
                raise store.no_bundle(folder, "name targets with -t, `hsgen targets` lists them")
            parts = recorded(folder, old)
        prefix = check_prefix(self.prefix if self.prefix is not None else old.prefix if old else PREFIX)
        single = self.single if self.single is not None else old is not None and old.single
        same = (
            remaining
            and (prefix, single) == (remaining.prefix, remaining.single)
            and all(e.sorts for e in remaining.targets.values())
        )
        if remaining and (single or not same):
            parts = {**recorded(folder, remaining, self.names), **parts}  # files of the other targets change too
        texts = {name: choice.epilogue for name, (_, choice) in parts.items()}
        refuse(folder, unknown(texts, self.selection.epilogue, trusted=self.trusted))
        return _built(folder, old, remaining, parts, prefix, single)

    def _parts(self, remaining: Manifest | None) -> Parts:
        """Return the named targets, each with its `Choice`: the sorts of this request, and the sorts that the bundle
        already contains.
        """
        targets = [target_files.find(name) for name in self.names]
        parts: Parts = {}
        for target, apis in zip(targets, shared_out(self.apis, targets), strict=True):
            if target.name in parts:
                raise Usage(f"target {target.name}: named twice; name it once")
            have = remaining.targets.get(target.name) if remaining else None
            chosen = self.selection.choice(target, apis, self.algorithms or (AUTO, *COMPANIONS))
            requested(target, chosen, self.selection.keys)  # the request must be valid by itself
            parts[target.name] = (target, widened(chosen, have.choice if have else None, target))
        return self._without_spirv(parts) if self.glsl_only else parts

    def _without_spirv(self, parts: Parts) -> Parts:
        """Return a copy of `parts` in which each `Choice` has GLSL kernels without SPIR-V.

        Raises:
            Usage: no target has GLSL.
        """
        able = {name for name, (_, choice) in parts.items() if any(APIS[api].spirv for api in choice.apis)}
        if not able:
            raise Usage(f"--glsl-only: no GLSL is generated for {', '.join(parts)}; omit it")
        return {n: (target, replace(choice, glsl_only=n in able)) for n, (target, choice) in parts.items()}


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
        lambda old: request.assemble(folder, old),
        note=lambda line: click.echo(f"hsgen: {line}", err=True),
        dry_run=dry_run,
    )
    _report(folder, change, dry_run, as_json)


def _report(folder: Path, change: Change, dry_run: bool, as_json: bool) -> None:
    """Print the files that were, or would be, written and removed."""
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
    folder: Path, old: Manifest | None, remaining: Manifest | None, parts: Parts, prefix: str, single: bool
) -> tuple[Files, Manifest]:
    """Render the files of a bundle; return the files and the manifest.

    Raises:
        Unavailable: the bundle lacks SPIR-V, and there is no GLSL compiler.
    """
    words = Modules(folder, old, prefix, single=single)
    files, manifest = build(parts, words, prefix, remaining, single=single)
    if words.missing:
        more = f" (and {len(words.missing) - 1} more)" if len(words.missing) > 1 else ""
        where = f"{shown(folder / words.missing[0])}{more}"
        raise Unavailable(f"{where}: no GLSL compiler is here; {spirv.install()}; or leave SPIR-V out with --glsl-only")
    return files, manifest
