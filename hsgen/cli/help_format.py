"""Formats the help of commands, with options under headings and with examples.

On a terminal, rich-click draws the help.  Otherwise it is plain text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from hsgen.cli import terminal
from hsgen.cli.completion import completed
from hsgen.cli.help_sections import COMMANDS, EXAMPLES, OPTIONS, REST, SUMMARIES, Sections

ARGUMENTS = "hsgen.cli.arguments"
"""The key of `click.Context.meta` under which a command's arguments are stored."""


class Command(click.Command):
    """A command whose help lists its options under headings, and whose arguments a shell completes."""

    @classmethod
    def of(cls, command: click.Command, summary: str) -> Command:
        """Return a copy of `command` of this class; `summary` is its line in the list of all commands."""
        return cls(
            command.name,
            callback=command.callback,
            params=completed(command.params),
            help=command.help,
            short_help=summary,
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and store them for commands that print how to resume an interrupted run."""
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        """Return the help, for a terminal or as plain text."""
        if terminal.is_terminal(sys.stdout) and not terminal.is_dumb():
            return _drawn(self, ctx, {})
        return super().get_help(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        records = {param.opts[-1]: param.get_help_record(ctx) for param in self.get_params(ctx)}
        for title, names in sections(self, ctx):
            with formatter.section(title):
                formatter.write_dl([record for name in names if (record := records[name])])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if examples := EXAMPLES.get(self.name or ""):
            with formatter.section(_title(examples)):
                formatter.write("".join(f"  {line}\n" for line in examples))


class Group(click.Group):
    """The group of all commands; its help lists them under headings, with complete summaries."""

    def get_help(self, ctx: click.Context) -> str:
        """Return the help, for a terminal or as plain text."""
        if terminal.is_terminal(sys.stdout) and not terminal.is_dumb():
            return _drawn(self, ctx, {name: click.Command(name, short_help=text) for name, text in SUMMARIES.items()})
        return super().get_help(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings."""
        for title, names in arranged(COMMANDS, SUMMARIES):
            with formatter.section(title):
                formatter.write_dl([(name, SUMMARIES[name]) for name in names])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin with the typed text, without importing a command."""
        commands = [CompletionItem(name, help=SUMMARIES[name]) for name in sorted(SUMMARIES)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [item for item in commands if item.value.startswith(incomplete)] + options


def sections(command: click.Command, ctx: click.Context) -> Sections:
    """Return the headings in the help of a command, each with its options."""
    names = [param.opts[-1] for param in command.get_params(ctx) if isinstance(param, click.Option)]
    return arranged(OPTIONS.get(command.name or "", (("Options", (REST,)),)), names)


def arranged(headings: Sections, names: Iterable[str]) -> Sections:
    """Distribute `names` among headings; return the headings that have any, each with its names in the given order.

    The heading with the name `REST` gets all names that no heading lists.
    """
    listed, have = {name for _, members in headings for name in members}, list(names)
    chosen = (
        (title, [n for n in have if n in members or (REST in members and n not in listed)])
        for title, members in headings
    )
    return tuple((title, tuple(members)) for title, members in chosen if members)


def _title(examples: tuple[str, ...]) -> str:
    return "Examples" if len(examples) > 1 else "Example"


def _drawn(command: click.Command, ctx: click.Context, commands: Mapping[str, click.Command]) -> str:
    """Return the help of a command as rich-click draws it on a terminal."""
    from rich_click import RichCommand, RichContext, RichGroup
    from rich_click.rich_panel import RichCommandPanel, RichOptionPanel, RichPanel

    panels: list[RichPanel[Any, Any]] = [
        RichCommandPanel(title, commands=list(names)) for title, names in arranged(COMMANDS, commands)
    ]
    for title, names in () if commands else sections(command, ctx):
        panels.append(RichOptionPanel(title, options=list(names)))
    drawn = RichGroup(name=command.name, commands=dict(commands)) if commands else RichCommand(name=command.name)
    drawn.params, drawn.help, drawn.panels = command.params, command.help, panels
    config: dict[str, Any] = {"theme": "default-slim", "text_markup": None, "padding_helptext_first_line": (0, 0, 1, 0)}
    config |= {} if terminal.has_colours(sys.stdout) else {"color_system": None}
    context = RichContext(
        drawn,
        info_name=ctx.info_name,
        parent=ctx.parent,
        help_option_names=ctx.help_option_names,
        max_content_width=ctx.max_content_width,
        terminal_width=terminal.width(),
        rich_help_config=config,
    )
    text = drawn.get_help(context)
    examples = EXAMPLES.get(command.name or "", ())
    lines = [terminal.styled(f"{_title(examples)}:", sys.stdout, bold=True), *(f"  {line}" for line in examples)]
    return "\n".join([text.rstrip("\n"), *lines] if examples else [text.rstrip()])
