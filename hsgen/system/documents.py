"""Readers with size limits for untrusted files, such as targets, budgets, benchmark records and device records.

If a file cannot be read, the functions raise `Usage` with a message of one line: the file, the problem, and the
caller's hint.
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any, NoReturn

from hsgen.core.errors import Usage

TOML_BYTES = 1 << 18
JSON_BYTES = 1 << 25
PARTS = 16
"""The greatest number of parts in a dotted TOML key.

The limit is needed because the time of the TOML parser grows with the square of this number.
"""
# possessive quantifiers, such as ++, let the search take linear time
_LONG_KEY = re.compile(rf"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{PARTS},}}+""")


def text(path: Path, hint: str, *, most: int = TOML_BYTES, name: str = "") -> str:
    """Return the text of a UTF-8 file of at most `most` bytes; every line ends with "\\n".

    hint: the end of messages, advice for the user.
    name: the file's name in messages; by default its path.

    Raises:
        Usage: the file cannot be read, is not a regular file, is too long, or is not UTF-8.
    """
    shown_name = name or str(path)
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISFIFO(mode):  # a pipe, such as a shell's <(command): wait until its writer has data
                os.set_blocking(file.fileno(), True)
            elif not stat.S_ISREG(mode):
                raise Usage(f"{shown_name}: cannot be read ({'a folder' if stat.S_ISDIR(mode) else 'no file'}); {hint}")
            data = file.read(most + 1)
    except OSError as e:
        raise Usage(f"{shown_name}: cannot be read ({e.strerror}); {hint}") from None
    except ValueError:
        raise Usage(f"{shown_name}: cannot be read (no file can have such a name); {hint}") from None
    if len(data) > most:
        raise Usage(f"{shown_name}: is longer than {most} bytes; {hint}")
    return decoded(data, shown_name, hint).replace("\r\n", "\n").replace("\r", "\n")


def decoded(data: bytes, name: str, hint: str) -> str:
    """Return the text that the bytes encode in UTF-8; `name` and `hint` are for messages.

    Raises:
        Usage: the bytes are not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as e:
        raise Usage(f"{name}: is not UTF-8 text (byte {e.start}); {hint}") from None


def toml(content: str, name: str, hint: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises:
        Usage: the text is not TOML, starts with a byte order mark, or is nested too deeply.  Usage is also raised if a
            key or a number is too long.
    """
    import tomllib  # imported only here, because `hsgen verify` reads no TOML

    if content.startswith("\ufeff"):
        raise Usage(f"{name}: starts with a byte order mark; save it as UTF-8 without one")
    if _LONG_KEY.search(content):
        _no(name, f"has a key of more than {PARTS} parts", hint)
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError as e:
        _no(name, str(e), hint)
    except RecursionError:
        _no(name, "is nested too deeply", hint)
    except ValueError:  # raised by int() for more digits than Python converts
        _no(name, "has a number of too many digits", hint)


def parsed_json(content: str, name: str, hint: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        Usage: the text is not JSON, contains NaN or Infinity, or is nested too deeply.  Usage is also raised if a
            string is not Unicode, or a number is too long.
    """
    try:
        value = json.loads(content, parse_constant=_constant)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        _no(name, "holds half of a surrogate pair, which is no character", hint)
    except json.JSONDecodeError as e:
        _no(name, f"is no JSON ({e})", hint)
    except RecursionError:
        _no(name, "is nested too deeply", hint)
    except ValueError as e:
        _no(name, "has a number of too many digits" if "digits" in str(e) else f"is no JSON ({e})", hint)
    return value


def _constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _no(name: str, problem: str, hint: str) -> NoReturn:
    raise Usage(f"{name}: {problem}; {hint}")
