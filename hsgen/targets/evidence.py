"""Evidence that a target works: the tables ``[[evidence]]`` of its file, called rows.

The module summarizes rows and writes new ones.  A row contains a hash of the choices (parameters and ranges) that were
compiled or run.  When the file's choices change, older rows remain true, but they prove nothing about the kernels of
the present choices.
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
"""The levels of evidence, the weakest first, each with its description in tables."""
OLDER = " (older shapes)"

_HEAD = "[[evidence]]"
_KEYS = ("level", "api", "device", "driver", "date", "result", "shapes")


def shapes(data: Mapping[str, Any]) -> str:
    """Return a hash of a target file's choices, as 12 hexadecimal digits; other tables do not affect the hash."""
    chosen = {name: data[name] for name in ("sort", *TABLES) if name in data}
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:12]


def standing(rows: Sequence[Mapping[str, str]], now: str, level: str) -> dict[str, list[str]]:
    """Return, by API, the names of the devices or compilers for which `rows` have evidence of a level.

    `now` is the hash of the present choices.  If an API has evidence for older choices only, the names end in `OLDER`.
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
    """Return a table cell about one level of evidence: APIs with their devices or compilers; "-" without evidence."""
    by_place: dict[str, list[str]] = {}
    for api, names in standing(rows, now, level).items():
        by_place.setdefault(", ".join(names), []).append(APIS[api].title)
    return "; ".join(f"{', '.join(apis)}: {names}" for names, apis in by_place.items()) or "-"


def unnamed(rows: Sequence[Mapping[str, str]], api: str, device: str, driver: str) -> str:
    """Return a message if no evidence for an API is from this device and driver; "" otherwise.

    The message names the devices that the API has evidence from.
    """
    ran = [(r["device"], r["driver"]) for r in rows if r["api"] == api and r["level"] != "compiled"]
    if (device, driver) in ran:
        return ""
    these = " and ".join(f"{name}, {version}" for name, version in dict.fromkeys(ran))
    return f"evidence in {APIS[api].title} is of {these or 'no device'}; this is {device}, {driver}"


def _parts(row: Mapping[str, str]) -> tuple[str, str]:
    """Split the `device` of a row, "NAME (PLATFORM)", into name and platform; the platform is "" if there is none."""
    match = re.fullmatch(r"(.+) \(((?:[^()]|\([^()]*\))+)\)", row["device"])
    return (row["device"], "") if match is None else (match[1], match[2])


def _short(row: Mapping[str, str]) -> str:
    """Return the name of a row's device without its platform.

    At the level `cpu`, a CPU runtime stood in for the device; then the platform, which is the runtime, is returned.
    """
    name, platform = _parts(row)
    return platform if platform and row["level"] == "cpu" else name


def _listed(row: Mapping[str, str]) -> str:
    """Return the name of a row's device for tables.

    At the level `cpu`, the CPU runtime that stood in for the device, and its version, follow in parentheses.
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
    """Add a row of evidence to the text of a target file, together with the hash of the file's choices.

    The new row replaces older rows of the same tool about the same sorts on the same device.

    Raises:
        Usage: the layout of the file's rows is not supported.
    """
    data = tomllib.loads(text)
    new = {**row, "shapes": shapes(data)}
    before = data.get("evidence", [])
    expected = [have for have in before if not _replaced(have, new)] + [new]
    try:
        remaining = [block for block, have in _blocks(text, before) if have is None or not _replaced(have, new)]
        out = "".join(remaining).rstrip("\n") + "\n\n" + _written(new)
        right = tomllib.loads(out) == {**data, "evidence": expected}
    except ValueError:  # `_blocks` does not find all rows, or the result is not TOML
        right = False
    if not right:
        raise Usage(f"{where}: evidence cannot be written; write each row as {_HEAD} with a line a key, at the end")
    return out


def _replaced(have: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Whether the row `new` replaces the row `have`.

    Both must have the same level and API.  Rows at the level `compiled` must also be from the same compiler, in any
    version.  At other levels, rows must be from the same device.  Their results must be equal up to the first colon,
    where the tool and the sorts are named.
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
    """Split the text of a target file into blocks: (text, row of evidence), or (text, None) for all other text.

    Comments directly above a row belong to the row.

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
