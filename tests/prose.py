"""The form of prose: long sentences, sentences that begin with a pronoun, and names that say nothing.

usage: python tests/prose.py [-v] [PATH...]     a row for each area; -v also prints each place

A reader's judgement counts, not these numbers: the numbers show where to read.  Only areas with counts above `MOST`
fail a test, so that no area gets worse.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 24
"""The words of the longest sentence that is not counted."""
PRONOUN = re.compile(r"(It|They|Those|These|That|This|Which|One|Some|Others?|Such|So)\b(?! (is|are) (the|a|an) )")
FILLER = frozenset(
    [
        "found",
        "made",
        "given",
        "asked",
        "wanted",
        "own",
        "some",
        "how",
        "what",
        "other",
        "others",
        "said",
        "held",
        "settled",
        "kept",
        "taken",
        "does",
        "does_",
        "mine",
        "whole",
    ]
)
SUFFIXES = (".py", ".j2", ".c", ".h", ".cu", ".m", ".js", ".md")
AREAS = ("README.md", "CHANGELOG.md", "docs", "hsgen", "templates", "tests", "targets")
SKIPPED = ("docs/results/", "docs/decisions/", "tests/vendor/")
"""Measurements and records of their time, and programs in the manner of users."""

MOST = {
    "README.md": (1, 0, 0),
    "CHANGELOG.md": (0, 0, 0),
    "docs": (112, 60, 0),
    "hsgen": (50, 56, 9),
    "templates": (18, 32, 0),
    "tests": (42, 75, 1782),
}
"""For each area, the greatest numbers of long sentences, of pronouns at the start and of filler names."""


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence or a name that a reader should look at."""

    file: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.kind}: {self.text[:140]}"


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of more than three words; code and links are one word each."""
    text = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", "X", text)
    for part in re.split(r"\n\s*\n|\n\s*[-*|#>]", text):
        for sentence in re.split(r"(?<=[.;:!?])\s+", " ".join(part.split())):
            if len(sentence.split()) > 3:
                yield sentence


def texts(name: str, body: str) -> Iterator[tuple[int, str]]:
    """Yield the prose of a file, with its lines: docstrings and comments, or all of a document but its code."""
    if name.endswith(".py"):
        for node in ast.walk(ast.parse(body)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (doc := ast.get_docstring(node)):
                yield getattr(node, "lineno", 1), doc
        for token in tokenize.generate_tokens(io.StringIO(body).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string.lstrip("# ")
    elif name.endswith(".j2"):
        for m in re.finditer(r"\{#(.*?)#\}|//([^\n]*)", body, re.DOTALL):
            yield body.count("\n", 0, m.start()) + 1, m[1] or m[2]
    elif name.endswith(".md"):
        yield 1, re.sub(r"```.*?```", "", body, flags=re.DOTALL)
    else:
        for m in re.finditer(r"/\*(.*?)\*/", body, re.DOTALL):
            yield body.count("\n", 0, m.start()) + 1, re.sub(r"\n\s*\*", "\n", m[1])


def places(name: str, body: str) -> Iterator[Place]:
    """Yield the places of a file."""
    for line, text in texts(name, body):
        for sentence in sentences(text):
            if len(sentence.split()) > LONGEST:
                yield Place(name, line, "long", sentence)
            elif PRONOUN.match(sentence):
                yield Place(name, line, "pronoun", sentence)
    if name.endswith(".py"):
        for node in ast.walk(ast.parse(body)):
            stored = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""
            if (word := node.arg if isinstance(node, ast.arg) else stored) in FILLER:
                yield Place(name, getattr(node, "lineno", 1), "name", word)


def files(*paths: str) -> list[str]:
    """Return the tracked files with prose."""
    done = subprocess.run(["git", "ls-files", *paths], cwd=ROOT, capture_output=True, text=True, check=True)
    return [x for x in done.stdout.splitlines() if x.endswith(SUFFIXES) and not x.startswith(SKIPPED)]


def counts(found: list[Place]) -> tuple[int, int, int]:
    """Return the numbers of long sentences, of pronouns at the start and of filler names."""
    kinds = [place.kind for place in found]
    return kinds.count("long"), kinds.count("pronoun"), kinds.count("name")


def main(words: list[str]) -> None:
    """Print the table."""
    areas: dict[str, list[Place]] = {}
    for name in files(*(w for w in words if w != "-v")) if words else files(*AREAS):
        area = "/".join(name.split("/")[:2])
        areas.setdefault(area, []).extend(places(name, (ROOT / name).read_text(encoding="utf-8")))
    print(f"{'area':34} {'long':>5} {'pronoun':>7} {'filler names':>12}")
    for area, here in areas.items():
        long, pronouns, names = counts(here)
        print(f"{area:34} {long:5} {pronouns:7} {names:12}")
        print("".join(f"{place}\n" for place in here) if "-v" in words else "", end="")


if __name__ == "__main__":
    main(sys.argv[1:])
