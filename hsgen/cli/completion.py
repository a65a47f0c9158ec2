"""Shell completion of arguments that name targets, algorithms or APIs.

The names come from code and from files, so that a completion opens no device.  The modules that have these names are
imported only when a shell completes an argument, not when a command runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from hsgen.core.errors import HsgenError


class Target(click.types.StringParamType):
    """A target's name, or a file that ends in .toml."""

    name = "target"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the targets that come with hsgen, and the target files, whose names begin with the typed text."""
        from hsgen.targets import target as target_files

        folder = incomplete.rpartition("/")[0] + "/" * ("/" in incomplete)
        files = (f"{folder}{path.name}" for path in sorted(Path(folder).glob("*.toml")))
        return _begun([*target_files.names(), *files], incomplete)


class Algorithm(click.types.StringParamType):
    """An algorithm, or a variant of a target's file."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the algorithms of the targets that were typed before; without such a target, all algorithms."""
        from hsgen.algorithms import ALGORITHMS, AUTO, DERIVED, IMPLICIT

        typed = [ctx.params.get(word) or () for word in ("names", "name", "target")]
        names = [
            name for names_typed in typed for name in ([names_typed] if isinstance(names_typed, str) else names_typed)
        ]
        labels = [label for name in names for label in _labels(name)]
        return _begun(dict.fromkeys([AUTO, *(labels or ALGORITHMS), *DERIVED, *IMPLICIT]), incomplete)


class Api(click.types.StringParamType):
    """An API."""

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
    """Give those text parameters whose names are in `TYPES` a type with completion; return all parameters."""
    out = list(params)
    for param in out:
        if isinstance(param.type, click.types.StringParamType):
            param.type = TYPES.get(param.opts[-1], param.type)
    return out


def _begun(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _labels(name: str) -> list[str]:
    """Return the algorithms and variants of a target; empty if the target cannot be read."""
    from hsgen.targets import target as target_files

    try:
        return sorted({label for label, _ in target_files.find(name).choices})
    except HsgenError:
        return []
