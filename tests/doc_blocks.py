"""Reads the fenced blocks of documents, writes the files of pages and runs commands of blocks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Block = tuple[str, str]


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a document: (language, text)."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)


def only(path: Path, language: str) -> list[str]:
    """The fenced blocks of one language."""
    return [text for word, text in blocks(path) if word == language]


WORDS = """hsgen() { "$PYTHON" -m hsgen "$@"; }
python3() {
    case "$1 $2 $3" in
        "-m pip install") "$PYTHON" "$@" --no-deps --target installed ;; # Debian's python3 has no pip
        *) command python3 "$@" ;;
    esac
}
"""


def shell(text: str, folder: Path, errors: int = subprocess.STDOUT) -> subprocess.CompletedProcess[str]:
    """Run `text` as a reader would, with the `hsgen` of `folder`; what pip installs stays there."""
    return subprocess.run(
        ["sh", "-e", "-c", WORDS + text],
        cwd=folder,
        env={**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        stderr=errors,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )


def place(folder: Path, page: Path) -> list[str]:
    """Write a page's files to the paths it names, appending to existing ones; return the paths."""
    text = page.read_text(encoding="utf-8")
    named: list[tuple[str, str]] = re.findall(r"`([\w/.]+)`:\n\n```\w+\n(.*?)^```$", text, re.M | re.S)
    for name, content in named:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text(encoding="utf-8") + "\n" if path.exists() else ""
        path.write_text(before + content, encoding="utf-8")
    return [name for name, _ in named]
