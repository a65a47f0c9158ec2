"""List phrases to weed out of what people read: documents, docstrings, comments, error messages and `--help`.

usage: python tests/prose.py [FILE...]     FILE:LINE: phrase (better): text, and a count; exit code 1 if there are any
       python tests/prose.py --later       rewrite LATER below: the files that have hits now

Without FILE, all tracked files are searched, including those of LATER.  A phrase that is right in its place is exempted
by `prose: ok` at the end of its line, or in EXEMPT.
"""

from __future__ import annotations

import ast
import fnmatch
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SEEN = ("*.md", "*.py", "*.j2", "*.c", "*.h", "*.cu", "*.m", "*.toml", "*.html", "*.css", "Makefile")
SKIPPED = ("generated/*", "tests/unit/queries/*", "docs/results/*", "tests/prose.py")
"""Output of hsgen and of other programs, and this list."""

PHRASES = {
    r"\b(tells?|told|telling)\b": "report, say, state",
    r"\bso many\b": "the number",
    r"\bbesides?\b": "in addition, next to",
    r"(?-i:\b(is|are) none\b)": "there is no ...",
    r"\bof no (keys|kernel|pass|segments?)\b": "when n = 0, not a ...",
    r"\bwhatever\b": "any, regardless of",
    r"\bleaves? away\b": "omit",
    r"\basks? nothing\b": "requires no ...",
    r"\b(what|that which) is asked for\b": "the request",
    r"\b(a|another|its|the|their) begins?\b(?! with)": "start, prefix",
    r"\bas far as\b": "where, if, up to",
    r"\bnobody (knows|has|can)\b": "unknown, impossible",
    r"\bby (day|night)\b": "fast tests, nightly tests",
    r"\b(stands?|stood) (behind|beside|there)\b": "follows, is in",
    r"\bbehind (it|them|the last|a sort|this one)\b": "after",
    r"\bkeys? that nobody wants\b": "discarded keys",
    r"\bgoes? on\b": "continues, makes progress",
    r"\bcomes? out of\b": "results from",
    r"\bcomes? of it\b": "the result",
    r"\bbut for\b": "except",
    r"\banew\b": "again",
    r"\bin vain\b": "without success",
    r"\bas ever\b": "as before",
    r"\bfor want of\b": "for lack of, without",
    r"\bheld against\b": "compared with",
    r"\bmade of it\b": "the result",
    r"\bthe one and then the other\b": "both in turn",
    r"\bbrings? about\b": "produce",
}
"""What is looked for, in any case of letters and across line ends, and what to write instead."""

EXEMPT: dict[str, tuple[str, ...]] = {
    "templates/keys.j2": ("beside",),
    "tests/device/test_checks.py": ("are none",),
    "tests/docs/test_prose.py": ("as far as", "besides", "goes on", "so many", "tells", "told"),
}
"""File: its phrases that are right in their place: most are messages of hsgen that tests quote."""

LATER = """
"""
"""Files that are not rewritten yet, by folder.  The list only shrinks: the test fails for a file here without a hit."""

GAP = r"\s+(?:(?:\*|//|#)\s+)?"  # between words: a space, or a line end with the mark of a comment
PATTERNS = [(re.compile(p.replace(" ", GAP), re.I), better) for p, better in PHRASES.items()]
C_PROSE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
C_LIKE = (".c", ".h", ".cu", ".m", ".css")


@dataclass(frozen=True)
class Hit:
    """A phrase: where it is, and what to write instead."""

    file: str
    line: int
    phrase: str
    better: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.phrase!r} ({self.better}): {self.text}"


def later() -> set[str]:
    """Return the files of LATER."""
    rows = (line.split(": ") for line in LATER.strip().splitlines())
    return {f"{folder}/{name}".removeprefix("./") for folder, names in rows for name in names.split()}


def files() -> list[str]:
    """Return the tracked files, and those not ignored, that hold prose."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *SEEN]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    skipped = tuple(re.compile(fnmatch.translate(p)) for p in SKIPPED)
    found = (n for n in done.stdout.splitlines() if not any(p.match(n) for p in skipped))
    return sorted({name for name in found if (ROOT / name).is_file()})


def prose(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a file that people read, each with the number of its first line."""
    if name.endswith(".py"):
        yield from _python(text)
    elif name.endswith(C_LIKE):
        yield from ((text.count("\n", 0, m.start()) + 1, m[0]) for m in C_PROSE.finditer(text))
    else:
        yield 1, text


def _python(text: str) -> Iterator[tuple[int, str]]:
    """Yield comments, those of consecutive lines joined, and strings."""
    start, comment = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            follows = comment and start + comment.count("\n") + 1 == token.start[0]
            if comment and not follows:
                yield start, comment
            start, comment = (start, f"{comment}\n{token.string}") if follows else (token.start[0], token.string)
    if comment:
        yield start, comment
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            whole = (node.end_lineno or node.lineno) - node.lineno == node.value.count("\n")
            yield node.lineno, node.value if whole else node.value.replace("\n", " ")


def hits(name: str, text: str, exempt: Collection[str] | None = None) -> list[Hit]:
    """Return the phrases in a file except `exempt` ones, by default those of EXEMPT."""
    exempt = EXEMPT.get(name, ()) if exempt is None else exempt
    lines = text.splitlines()
    found = set()
    for first, part in prose(name, text):
        for pattern, better in PATTERNS:
            for match in pattern.finditer(part):
                number = first + part.count("\n", 0, match.start())
                phrase = re.sub(GAP, " ", match[0])
                line = lines[min(number, len(lines)) - 1]
                if "prose: ok" not in line and phrase.lower() not in exempt:
                    found.add(Hit(name, number, phrase, better, line.strip()[:100]))
    return sorted(found, key=lambda h: (h.line, h.phrase))


def of_files(names: list[str]) -> list[Hit]:
    """Return the phrases in files, which are named relative to the checkout."""
    return [hit for name in names for hit in hits(name, (ROOT / name).read_text(encoding="utf-8"))]


def relist() -> None:
    """Write LATER into this file."""
    folders = defaultdict(list)
    for name in sorted({h.file for h in of_files(files())}):
        folders[Path(name).parent.as_posix()].append(Path(name).name)
    rows = []
    for folder, names in sorted(folders.items()):
        row = f"{folder}:"
        for name in names:
            if len(f"{row} {name}") > 118:
                rows.append(row)
                row = f"{folder}:"
            row += f" {name}"
        rows.append(row)
    here = Path(__file__)
    text = here.read_text(encoding="utf-8")
    head, _, tail = text.partition('LATER = """\n')
    here.write_text(
        head + 'LATER = """\n' + "".join(f"{r}\n" for r in rows) + tail[tail.index('"""') :], encoding="utf-8"
    )


def main() -> int:
    if sys.argv[1:] == ["--later"]:
        relist()
        return 0
    named = [Path(f).resolve().relative_to(ROOT).as_posix() for f in sys.argv[1:]]
    found = of_files(named or files())
    print(*found, f"{len(found)} phrases", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
