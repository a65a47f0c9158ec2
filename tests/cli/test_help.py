"""The help: headings name existing options, examples are valid, and topics are those of the document."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from hsgen.cli import group, main
from hsgen.cli.help_sections import COMMANDS, EXAMPLES, OPTIONS, REST
from hsgen.cli.sizes import parse_sizes
from hsgen.cli.topics import TOPICS
from hsgen.core.keys import FEATURES, ORDERS, TYPES, VALUES

ROOT = Path(__file__).resolve().parents[2]


def options(name: str) -> set[str]:
    command = group.commands[name]
    params = command.get_params(click.Context(command, help_option_names=["-h", "--help"]))
    return {param.opts[-1] for param in params if isinstance(param, click.Option)}


def test_headings_name_commands() -> None:
    named = [name for _, names in COMMANDS for name in names]
    assert len(named) == len(set(named)) and set(named) - {REST} <= set(group.commands)


@pytest.mark.parametrize("name", OPTIONS)
def test_headings_name_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each option that a heading names exists in some long command, and each option is listed once."""
    named = [option for _, names in OPTIONS[name] for option in names]
    assert len(named) == len(set(named)) and named.count(REST) == 1
    assert set(named) - {REST} <= set().union(*map(options, OPTIONS))
    assert main([name, "-h"]) == 0
    out = re.sub(r"\A.*?(?=\n\w[\w ]+:$)", "", capsys.readouterr().out, flags=re.MULTILINE | re.DOTALL)
    for option in options(name):
        assert len(re.findall(rf"^  (?:-\w, )?{option}(?= |$)", out, re.MULTILINE)) == 1, option
    assert len(re.findall(r"^[A-Z][\w ]+:$", out, re.MULTILINE)) == len(OPTIONS[name]) + 1  # and the example


@pytest.mark.parametrize("name", sorted(group.commands))
def test_examples_are_valid(name: str) -> None:
    """click accepts them; what they name beyond that exists."""
    assert EXAMPLES[name]
    for example in EXAMPLES[name]:
        assert len(example) <= 78  # so that it can be copied from a terminal
        program, command, *arguments = shlex.split(example)
        assert (program, command) == ("hsgen", name)
        made = group.commands[name].make_context(name, list(arguments), parent=click.Context(group))
        given = made.params.get("names") or made.params.get("name") or made.params.get("target") or ()
        for target in [given] if isinstance(given, str) else given:
            assert target == "my-gpu.toml" or (ROOT / "targets" / f"{target}.toml").is_file()


def test_topics_are_those_of_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    for name, (title, text) in TOPICS.items():
        assert main(["help", name]) == 0
        assert capsys.readouterr().out == f"# {title}\n\n{text}"
        assert f"\n### {title}\n\n{text}\n" in page, f"cli.md: differs from `hsgen help {name}`"
    assert [title for title, _ in TOPICS.values()] == re.findall("^### (.*)$", page, re.MULTILINE)


def test_topics_name_all_words() -> None:
    named = set(re.findall(r"`([^`]+)`", TOPICS["keys"][1]))
    assert {*TYPES, *VALUES, *ORDERS, *FEATURES} <= named
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "hsgen").rglob("*.py"))
    variables = set(re.findall(r'(?:environ\.get\(|^[A-Z]+ = )"(HSGEN_\w+)"', code, re.MULTILINE))
    assert variables == set(re.findall(r"`(HSGEN_\w+)`", TOPICS["environment"][1])) and len(variables) >= 3


def test_help_lists_topics_and_explains_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["topic", *TOPICS]
    assert main(["help", "validate"]) == 0
    explained = capsys.readouterr().out
    assert main(["validate", "-h"]) == 0
    assert capsys.readouterr().out == explained and explained.startswith("Usage: hsgen validate [OPTIONS]")
    assert main(["help", "nothing", "--json"]) == 2
    assert capsys.readouterr().err == f"hsgen: topic nothing: unknown; known are {', '.join(TOPICS)}\n"


def test_sizes_of_the_topic_are_those_of_the_parser() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", TOPICS["sizes"][1], re.MULTILINE)
    assert len(rows) == 5
    for item, text in rows:
        assert parse_sizes(item) == [int(n) for n in text.rpartition(": ")[2].split(", ")]
