"""``hsgen help``: print the text of a topic, or the help of a command."""

from __future__ import annotations

import difflib
import sys

import click
from click.shell_completion import CompletionItem

from hsgen.cli import terminal
from hsgen.cli.options import json_option
from hsgen.cli.output import emit_json, emit_table
from hsgen.cli.topics import TOPICS
from hsgen.core.errors import Usage, shown

WIDEST = 100
"""The greatest width of a topic's text on a terminal, in columns."""


def _known(context: click.Context) -> list[str]:
    """Return the names of the topics, followed by the names of commands that are no topics."""
    group = context.find_root().command
    commands = group.list_commands(context) if isinstance(group, click.Group) else []
    return list(dict.fromkeys([*TOPICS, *commands]))


def _complete(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in _known(context) if name.startswith(incomplete)]


@click.command()
@click.argument("topic", required=False, shell_complete=_complete)
@json_option
@click.pass_context
def help(context: click.Context, topic: str | None, as_json: bool) -> None:
    """Explain TOPIC: keys, sizes, targets, devices, exit-codes, environment, or a command.

    Without TOPIC, list the topics.  Topics precede commands of the same name, which COMMAND --help explains.
    """
    if as_json:
        emit_json([{"topic": name, "title": title, "text": text} for name, (title, text) in _chosen(topic).items()])
    elif topic is None:
        emit_table(["topic", "explains"], [[name, title] for name, (title, _) in TOPICS.items()])
    elif topic in TOPICS:
        _print(*TOPICS[topic])
    else:
        _command(context, topic)


def _chosen(topic: str | None) -> dict[str, tuple[str, str]]:
    """Return the topic of this name, or all topics if `topic` is None.

    Raises:
        Usage: there is no such topic.
    """
    if topic is None:
        return TOPICS
    if topic not in TOPICS:
        raise Usage(f"topic {shown(topic)}: unknown; known are {', '.join(TOPICS)}")
    return {topic: TOPICS[topic]}


def _print(title: str, text: str) -> None:
    """Print a topic: formatted on a terminal, otherwise as Markdown."""
    if not terminal.is_terminal(sys.stdout):
        click.echo(f"# {title}\n\n{text}", nl=False)
        return
    from rich.markdown import Markdown
    from rich.text import Text

    console = terminal.console(sys.stdout)
    console.print(Text(title, style="bold"), end="\n\n" * (not text.startswith("|")) or "\n")
    console.print(Markdown(text), width=min(terminal.width(), WIDEST))


def _command(context: click.Context, name: str) -> None:
    """Print the help of a command.

    Raises:
        Usage: there is no such command.
    """
    root = context.find_root()
    command = root.command.get_command(root, name) if isinstance(root.command, click.Group) else None
    if command is None:
        known = _known(context)
        close = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]}? known are" if close else "known are"
        raise Usage(f"topic {shown(name)}: unknown; {hint} {', '.join(known)}")
    click.echo(command.get_help(click.Context(command, info_name=name, parent=root)))
