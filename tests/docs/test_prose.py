"""The form of prose in files and in the help of commands: see tests/prose.py."""

from __future__ import annotations

import re

import click
import prose
import pytest

from hsgen.cli import group


@pytest.mark.parametrize("area", prose.MOST)
def test_no_area_gets_worse(area: str) -> None:
    here = [
        x for name in prose.files(area) for x in prose.places(name, (prose.ROOT / name).read_text(encoding="utf-8"))
    ]
    most = prose.MOST[area]
    assert all(x <= y for x, y in zip(prose.counts(here), most, strict=True)), (prose.counts(here), most)


@pytest.mark.parametrize("name", ["", *sorted(group.commands)])
def test_help_has_short_sentences(name: str) -> None:
    command = group.commands[name] if name else group
    how = {"max_content_width": 10_000, "help_option_names": ["-h", "--help"]}  # click keeps the first that it makes
    text = command.get_help(click.Context(command, info_name=f"hsgen {name}", **how))
    options = [m[1] for m in (re.match(r"\s+-.*?\s{2,}(.*)", line) for line in text.splitlines()) if m]
    long = [s for option in options for s in prose.sentences(option) if len(s.split()) > prose.LONGEST]
    assert not long, "\n".join(long)


WORDS = " ".join(["word"] * 24)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.md", f"The {WORDS}.", [("long", 1)]),
        ("a.md", f"{WORDS}.", []),
        ("a.md", f"```sh\nThe {WORDS}\n```\n", []),
        ("a.md", "The key is kept. It is sorted then.", [("pronoun", 1)]),
        ("a.md", "This is the key of a row.", []),
        ("a.py", "# one\n\n# They are sorted by key\n", [("pronoun", 3)]),
        ("a.py", '"""Return a key.\n\nSuch a key is least."""\n', [("pronoun", 1)]),
        ("a.py", "found = 1\ncount = 2\n", [("name", 1)]),
        ("a.py", "def key(how, n):\n    return n\n", [("name", 1)]),
        ("a.c", "int found; /* They have the\n * keys of a row */\n", [("pronoun", 1)]),
        ("a.j2", "{# They have the keys of #}\nint made;\n// So the key is less\n", [("pronoun", 1), ("pronoun", 3)]),
    ],
)
def test_places_are_found(name: str, text: str, expected: list[tuple[str, int]]) -> None:
    assert [(x.kind, x.line) for x in prose.places(name, text)] == expected


def test_no_summary_of_a_command_is_cut() -> None:
    """`hsgen --help` lists commands at the width of a usual terminal, 80 columns."""
    text = group.get_help(click.Context(group, info_name="hsgen", terminal_width=80, max_content_width=80))
    for name, command in group.commands.items():
        assert f"  {name}  " in text and command.short_help and f"  {command.short_help}\n" in f"{text}\n"
