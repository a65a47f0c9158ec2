"""Reading files of others: targets, budgets, records of benchmarks and devices, each with bounds on what it may be.

What cannot be read is a `Usage` of one line: the file, what is wrong, and the caller's hint.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any, NoReturn

from hsgen.core.errors import Usage

TOML_BYTES = 1 << 18
JSON_BYTES = 1 << 25
PARTS = 16
"""Parts of a key of TOML; the time that its reader takes grows with their square."""
_LONG_KEY = re.compile(
    rf"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{PARTS},}}+"""  # in linear time
)


def text(path: Path, hint: str, *, most: int = TOML_BYTES, name: str = "") -> str:
    """Return the text of a file, at most `most` bytes of UTF-8, its lines ended by "\\n".

    `name` is what an error calls the file, its path if not given.

    Raises:
        Usage: it cannot be read, is no file, too long, or no text.
    """
    what = name or str(path)
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISFIFO(mode):  # as of a shell's <(command); it is waited for
                os.set_blocking(file.fileno(), True)
            elif not stat.S_ISREG(mode):
                raise Usage(f"{what}: cannot be read ({'a folder' if stat.S_ISDIR(mode) else 'no file'}); {hint}")
            data = file.read(most + 1)
    except OSError as e:
        raise Usage(f"{what}: cannot be read ({e.strerror}); {hint}") from None
    except ValueError:
        raise Usage(f"{what}: cannot be read (no file can have such a name); {hint}") from None
    if len(data) > most:
        raise Usage(f"{what}: is longer than {most} bytes; {hint}")
    try:
        found = data.decode("utf-8")
    except UnicodeDecodeError as e:
        raise Usage(f"{what}: is not UTF-8 text (byte {e.start}); {hint}") from None
    return found.replace("\r\n", "\n").replace("\r", "\n")


def toml(content: str, name: str, hint: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises:
        Usage: it is no TOML, or nested deeper than any file of hsgen.
    """
    if content.startswith("\ufeff"):
        raise Usage(f"{name}: begins with a byte order mark; save it as UTF-8 without one")
    if _LONG_KEY.search(content):
        _no(name, f"has a key of more than {PARTS} parts", hint)
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError as e:
        _no(name, str(e), hint)
    except RecursionError:
        _no(name, "is nested too deeply", hint)
    except ValueError:  # of int(): of more digits than Python converts
        _no(name, "has a number of too many digits", hint)


def parsed_json(content: str, name: str, hint: str) -> Any:
    """Return what a JSON text says.

    Raises:
        Usage: it is no JSON (NaN and Infinity are none), is nested too deeply, or a text in it is no Unicode.
    """
    try:
        found = json.loads(content, parse_constant=_constant)
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        _no(name, "holds half of a surrogate pair, which is no character", hint)
    except json.JSONDecodeError as e:
        _no(name, f"is no JSON ({e})", hint)
    except RecursionError:
        _no(name, "is nested too deeply", hint)
    except ValueError as e:
        _no(name, "has a number of too many digits" if "digits" in str(e) else f"is no JSON ({e})", hint)
    return found


def _constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _no(name: str, what: str, hint: str) -> NoReturn:
    raise Usage(f"{name}: {what}; {hint}")
