"""Evidence that a target works: the tables ``[[evidence]]`` of its file, called *rows*.

A row records that kernels were compiled or run, by which compiler or on which device.  The row has a hash of the
target's choices (parameters and ranges) at that time.  When the choices in the file change, older rows remain true, but
they prove nothing about the new kernels.  The module summarizes rows, and adds new ones to the file.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from hsgen.algorithms import TABLES
from hsgen.apis import APIS
from hsgen.core.errors import Usage

LEVELS = {
    "compiled": "compiled for the ISA",
    "cpu": "run on a CPU runtime",
    "device": "run on the device",
}
"""The levels of evidence, the weakest first, each with its description in messages and documents."""
OLDER = " (older shapes)"

_HEAD = "[[evidence]]"
_KEYS = ("level", "api", "device", "driver", "date", "result", "shapes")


def shapes(data: Mapping[str, Any]) -> str:
    """Return a hash of the choices in a target file: 12 hexadecimal digits, which depend on no other table."""
    chosen = {name: data[name] for name in ("sort", *TABLES) if name in data}
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:12]


def standing(rows: Sequence[Mapping[str, str]], now: str, level: str) -> dict[str, list[str]]:
    """Return, by API, the devices or compilers in those `rows` that have the level `level`.

    If all rows of an API are about older choices of parameters, the text `OLDER` follows each name.
    now: the hash of the file's present choices.
    """
    out: dict[str, list[str]] = {}
    for api in APIS:
        matching = [r for r in rows if r["level"] == level and r["api"] == api]
        names = [_listed(r) for r in matching if r.get("shapes") == now]
        names = names or [_listed(r) + OLDER for r in matching]
        if names:
            out[api] = list(dict.fromkeys(names))
    return out


def cell(rows: Sequence[Mapping[str, str]], now: str, level: str) -> str:
    """Return text for a cell of a documentation table: the APIs with evidence of a level, and devices or compilers.

    Without evidence, the text is "-".  The arguments are those of `standing`.
    """
    by_place: dict[str, list[str]] = {}
    for api, names in standing(rows, now, level).items():
        by_place.setdefault(", ".join(names), []).append(APIS[api].title)
    return "; ".join(f"{', '.join(apis)}: {names}" for names, apis in by_place.items()) or "-"


def unnamed(rows: Sequence[Mapping[str, str]], api: str, device: str, driver: str) -> str:
    """Return "" if a row for the API records a run on this device with this driver; else a message that says so.

    The message names the devices on which kernels ran according to the rows.
    """
    ran = [(r["device"], r["driver"]) for r in rows if r["api"] == api and r["level"] != "compiled"]
    if (device, driver) in ran:
        return ""
    these = " and ".join(f"{name}, {version}" for name, version in dict.fromkeys(ran))
    return f"evidence in {APIS[api].title} is of {these or 'no device'}; this is {device}, {driver}"


def _parts(row: Mapping[str, str]) -> tuple[str, str]:
    """Return NAME and PLATFORM of a row whose `device` is "NAME (PLATFORM)"; without a platform, PLATFORM is ""."""
    match = re.fullmatch(r"(.+) \(((?:[^()]|\([^()]*\))+)\)", row["device"])
    return (row["device"], "") if match is None else (match[1], match[2])


def _short(row: Mapping[str, str]) -> str:
    """Return the name of a row's device without its platform.

    At the level "cpu", kernels ran on a CPU runtime in place of the device.  The result is then the name of the
    runtime, which the row has as the platform.
    """
    name, platform = _parts(row)
    return platform if platform and row["level"] == "cpu" else name


def _listed(row: Mapping[str, str]) -> str:
    """Return the name of a row's device, as documentation tables show it.

    At the level "cpu", the name and the version of the CPU runtime follow in parentheses.
    """
    name, platform = _parts(row)
    if not platform or row["level"] != "cpu":
        return name
    platform, *more = platform.split(", ")
    return f"{name} ({', '.join([f'{platform} {_version(row)}', *more])})"


def _version(row: Mapping[str, str]) -> str:
    """Return the version of a row's driver, shortened to at most three numbers, such as 25.0.7."""
    match = re.match(r"(?:[A-Za-z]+ )?\d+(?:\.\d+){0,2}", row["driver"])
    return match[0] if match else row["driver"]


def recorded(text: str, where: str, row: Mapping[str, str]) -> str:
    """Return the text of a target file, with the new row of evidence `row` and the hash of the file's choices in it.

    The new row replaces older rows of the same tool about the same sorts on the same device.

    Raises:
        Usage: the file's rows have a TOML syntax that the function cannot edit.
    """
    data = tomllib.loads(text)
    new = {**row, "shapes": shapes(data)}
    before = data.get("evidence", [])
    expected = [have for have in before if not _replaced(have, new)] + [new]
    try:
        remaining = [block for block, have in _blocks(text, before) if have is None or not _replaced(have, new)]
        out = "".join(remaining).rstrip("\n") + "\n\n" + _written(new)
        right = tomllib.loads(out) == {**data, "evidence": expected}
    except ValueError:  # `_blocks` does not find all rows, or `out` is not TOML
        right = False
    if not right:
        raise Usage(f"{where}: evidence cannot be written; write each row as {_HEAD} with a line a key, at the end")
    return out


def _replaced(have: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Whether the row `new` replaces the row `have`.

    Both rows must have the same level and API.  At the level "compiled", both must also be from the same compiler, in
    any version.  At other levels, both must be from the same device, and their results must be equal up to the first
    colon, because that text names the tool and the sorts.
    """
    if any(have.get(k) != new[k] for k in ("level", "api")):
        return False
    if new["level"] == "compiled":
        return have["driver"].split()[:1] == new["driver"].split()[:1]
    if _short(have) != _short(new):
        return False
    return have["result"].split(":")[0] == new["result"].split(":")[0]


def _written(row: Mapping[str, str]) -> str:
    return "".join([f"{_HEAD}\n", *(f"{k} = {json.dumps(row[k], ensure_ascii=False)}\n" for k in _KEYS if k in row)])


def _blocks(text: str, rows: Sequence[Mapping[str, str]]) -> list[tuple[str, Mapping[str, str] | None]]:
    """Return the blocks of text in a target file: pairs (text, its row of evidence), with None for all other text.

    The text of a row includes the comments directly above it.

    Raises:
        ValueError: the number of lines ``[[evidence]]`` differs from the number of rows.
    """
    lines = text.splitlines(True)
    heads = [i for i, line in enumerate(lines) if re.match(r"\s*\[\[\s*evidence\s*\]\]", line)]
    out: list[tuple[str, Mapping[str, str] | None]] = []
    at = 0
    for head, row in zip(heads, rows, strict=True):
        begin = head
        while begin > at and lines[begin - 1].startswith("#"):
            begin -= 1
        end = next((i for i in range(head + 1, len(lines)) if lines[i].lstrip().startswith(("[", "#"))), len(lines))
        out += [("".join(lines[at:begin]), None)] if begin > at else []
        out.append(("".join(lines[begin:end]), row))
        at = end
    return [*out, ("".join(lines[at:]), None)] if at < len(lines) else out
