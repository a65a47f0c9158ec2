"""The commands.  A command is imported at its first use; `hsgen --help` and completion of names import no command."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping

import click

from hsgen.cli.help_format import Command
from hsgen.cli.help_sections import SUMMARIES


class Commands(MutableMapping[str, click.Command]):
    """The commands by name."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command | None] = dict.fromkeys(SUMMARIES)

    def __getitem__(self, name: str) -> click.Command:
        if (known := self._loaded[name]) is not None:
            return known
        command = getattr(importlib.import_module(f"hsgen.cli.{name}"), name)
        self._loaded[name] = loaded = Command.of(command, SUMMARIES[name])
        return loaded

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)
