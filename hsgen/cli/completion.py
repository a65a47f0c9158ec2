"""Arguments that a shell can complete: targets, algorithms and APIs, by the names of options.

They are names in the code and of files, so that a completion opens no device.  What they need is imported when a shell
completes them: a command has its types without it.
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
        """Return the targets that come with hsgen, and the files, that begin as typed."""
        from hsgen.targets import target as target_files

        folder = incomplete.rpartition("/")[0] + "/" * ("/" in incomplete)
        files = (f"{folder}{path.name}" for path in sorted(Path(folder).glob("*.toml")))
        return _begun([*target_files.names(), *files], incomplete)


class Algorithm(click.types.StringParamType):
    """An algorithm, or a variant of a target's file."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the algorithms of the targets that are typed before; without any, all."""
        from hsgen.algorithms import ALGORITHMS, AUTO, DERIVED, IMPLICIT

        typed = [ctx.params.get(word) or () for word in ("names", "name", "target")]
        names = [name for some in typed for name in ([some] if isinstance(some, str) else some)]
        own = [label for name in names for label in _labels(name)]
        return _begun(dict.fromkeys([AUTO, *(own or ALGORITHMS), *DERIVED, *IMPLICIT]), incomplete)


class Api(click.types.StringParamType):
    """An API."""

    name = "api"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the APIs that begin as typed."""
        from hsgen.apis import APIS

        return _begun(APIS, incomplete)


TYPES: dict[str, click.types.StringParamType] = {
    "--target": Target(),
    "target": Target(),
    "--algorithm": Algorithm(),
    "--api": Api(),
}


def completed(params: Iterable[click.Parameter]) -> list[click.Parameter]:
    """Return the parameters, of which those that take any text of a known kind get its type."""
    found = list(params)
    for param in found:
        if isinstance(param.type, click.types.StringParamType):
            param.type = TYPES.get(param.opts[-1], param.type)
    return found


def _begun(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _labels(name: str) -> list[str]:
    """The algorithms and variants of a target; none of one that cannot be read."""
    from hsgen.targets import target as target_files

    try:
        return sorted({label for label, _ in target_files.find(name).choices})
    except HsgenError:
        return []
