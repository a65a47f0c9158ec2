"""Shell completion of arguments that name targets, algorithms or APIs.

The names come from modules of hsgen and from target files, so that a completion opens no device.  The modules with the
names are imported only when a shell completes an argument, not when a command runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from hsgen.core.errors import HsgenError


class Target(click.types.StringParamType):
    """The type of an argument that is a target's name, or the path of a target file, which ends in .toml."""

    name = "target"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the targets that come with hsgen, and the target files, whose names begin with the typed text."""
        from hsgen.targets import target as target_files

        folder = incomplete.rpartition("/")[0] + "/" * ("/" in incomplete)
        files = (f"{folder}{path.name}" for path in sorted(Path(folder).glob("*.toml")))
        return _begun([*target_files.names(), *files], incomplete)


class Algorithm(click.types.StringParamType):
    """The type of an argument that is an algorithm's label, such as radix or a variant in a target file."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the labels, among those of the targets that were typed before, that begin with the typed text.

        If no target was typed before, labels of all algorithms are returned.
        """
        from hsgen.algorithms import ALGORITHMS, AUTO, DERIVED, IMPLICIT

        typed = [ctx.params.get(word) or () for word in ("names", "name", "target")]
        names = [
            name for names_typed in typed for name in ([names_typed] if isinstance(names_typed, str) else names_typed)
        ]
        labels = [label for name in names for label in _labels(name)]
        return _begun(dict.fromkeys([AUTO, *(labels or ALGORITHMS), *DERIVED, *IMPLICIT]), incomplete)


class Api(click.types.StringParamType):
    """The type of an argument that is an API's name."""

    name = "api"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the APIs whose names begin with the typed text."""
        from hsgen.apis import APIS

        return _begun(APIS, incomplete)


TYPES: dict[str, click.types.StringParamType] = {
    "--target": Target(),
    "target": Target(),
    "--algorithm": Algorithm(),
    "--api": Api(),
}


def completed(params: Iterable[click.Parameter]) -> list[click.Parameter]:
    """Let a shell complete each text parameter whose name is in `TYPES`; return all parameters.

    Such a parameter gets the type that `TYPES` has for it.
    """
    out = list(params)
    for param in out:
        if isinstance(param.type, click.types.StringParamType):
            param.type = TYPES.get(param.opts[-1], param.type)
    return out


def _begun(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _labels(name: str) -> list[str]:
    """Return the labels of a target's algorithms and variants; empty if the target cannot be read."""
    from hsgen.targets import target as target_files

    try:
        return sorted({label for label, _ in target_files.find(name).choices})
    except HsgenError:
        return []
