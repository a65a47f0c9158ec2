"""Files outside LATER, and the help of commands, contain no phrase of the list in tests/prose.py."""

from __future__ import annotations

import click
import prose
import pytest

from hsgen.cli import group


def test_files_have_no_phrase_of_the_list() -> None:
    found = prose.of_files([name for name in prose.files() if name not in prose.later()])
    assert not found, "\n".join(map(str, found))


def test_the_list_of_files_to_rewrite_shrinks() -> None:
    """A file that has been rewritten, or is gone, leaves LATER."""
    there = prose.later() & set(prose.files())
    done = (prose.later() - there) | {name for name in there if not prose.of_files([name])}
    assert not done, f"remove from LATER in tests/prose.py: {' '.join(sorted(done))}"


def test_every_exemption_is_needed() -> None:
    exempt = {(name, phrase) for name, phrases in prose.EXEMPT.items() for phrase in phrases}
    found = {
        (hit.file, hit.phrase.lower())
        for name in prose.EXEMPT
        for hit in prose.hits(name, (prose.ROOT / name).read_text(encoding="utf-8"), exempt=())
    }
    assert not exempt - found, f"remove from EXEMPT in tests/prose.py: {sorted(exempt - found)}"


@pytest.mark.parametrize("name", ["", *sorted(group.commands)])
def test_help_has_no_phrase_of_the_list(name: str) -> None:
    command = group.commands[name] if name else group
    how = {"max_content_width": 10_000, "help_option_names": ["-h", "--help"]}  # click keeps the first that it makes
    text = command.get_help(click.Context(command, info_name=f"hsgen {name}", **how))
    found = prose.hits(f"hsgen {name} --help", text)
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.md", "It tells the\nnumber", [("tells", 1)]),
        ("a.md", "one\nas far\nas possible", [("as far as", 2)]),
        ("a.md", "It tells it. <!-- prose: ok -->", []),
        ("a.py", "told = 1\n", []),
        ("a.py", "# one\n# goes\n# on\n", [("goes on", 2)]),
        ("a.py", 'x = 1\ny = f"told {x}"\n', [("told", 2)]),
        ("a.c", "int told; /* one\n * that is so\n * many */\n", [("so many", 2)]),
        ("a.c", 'told("besides");\n', [("besides", 1)]),
        ("a.toml", "# besides\n", [("besides", 1)]),
    ],
)
def test_phrases_are_found(name: str, text: str, expected: list[tuple[str, int]]) -> None:
    assert [(h.phrase, h.line) for h in prose.hits(name, text)] == expected


def test_no_summary_of_a_command_is_cut() -> None:
    """`hsgen --help` lists commands at the width of a usual terminal, 80 columns."""
    text = group.get_help(click.Context(group, info_name="hsgen", terminal_width=80, max_content_width=80))
    for name, command in group.commands.items():
        assert f"  {name}  " in text and command.short_help and f"  {command.short_help}\n" in f"{text}\n"
