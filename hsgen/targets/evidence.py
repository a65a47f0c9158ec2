"""Evidence for a target: the rows of its file, their summary, and writing new rows.

A row says which choices it is about by the hash of the file's tables of choices: once a shape is changed, older rows
are still true of what they were made with, but prove nothing of what is generated now.
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
"""The levels, the weakest first, with what tables call them."""
OLDER = " (older shapes)"

_HEAD = "[[evidence]]"
_KEYS = ("level", "api", "device", "driver", "date", "result", "shapes")


def shapes(data: Mapping[str, Any]) -> str:
    """Return 12 hexadecimal digits that change with the choices of a target file, and with nothing else of it."""
    chosen = {name: data[name] for name in ("sort", *TABLES) if name in data}
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:12]


def standing(rows: Sequence[Mapping[str, str]], now: str, level: str) -> dict[str, list[str]]:
    """Return the devices or compilers of each API on which a level was reached, those with the present shapes first.

    Where only earlier shapes were tried, names end in `OLDER`.
    """
    out: dict[str, list[str]] = {}
    for api in APIS:
        own = [r for r in rows if r["level"] == level and r["api"] == api]
        names = [_listed(r) for r in own if r.get("shapes") == now]
        names = names or [_listed(r) + OLDER for r in own]
        if names:
            out[api] = list(dict.fromkeys(names))
    return out


def cell(rows: Sequence[Mapping[str, str]], now: str, level: str) -> str:
    """Return what a table says of a level: the APIs, with where, "-" for none."""
    by_place: dict[str, list[str]] = {}
    for api, names in standing(rows, now, level).items():
        by_place.setdefault(", ".join(names), []).append(APIS[api].title)
    return "; ".join(f"{', '.join(apis)}: {names}" for names, apis in by_place.items()) or "-"


def unnamed(rows: Sequence[Mapping[str, str]], api: str, device: str, driver: str) -> str:
    """Return what evidence of runs through an API is about, where no row names this device and driver; else ""."""
    ran = [(r["device"], r["driver"]) for r in rows if r["api"] == api and r["level"] != "compiled"]
    if (device, driver) in ran:
        return ""
    these = " and ".join(f"{name}, {version}" for name, version in dict.fromkeys(ran))
    return f"evidence in {APIS[api].title} is of {these or 'no device'}; this is {device}, {driver}"


def _parts(row: Mapping[str, str]) -> tuple[str, str]:
    """The name and the platform of a row's device; no platform where a row has none."""
    found = re.fullmatch(r"(.+) \(((?:[^()]|\([^()]*\))+)\)", row["device"])
    return (row["device"], "") if found is None else (found[1], found[2])


def _short(row: Mapping[str, str]) -> str:
    """A device's name without its driver; of a CPU that stands in for a device the runtime alone."""
    name, platform = _parts(row)
    return platform if platform and row["level"] == "cpu" else name


def _listed(row: Mapping[str, str]) -> str:
    """The name of a device in tables; for a CPU that stands in for a device, also the runtime with its version."""
    name, platform = _parts(row)
    if not platform or row["level"] != "cpu":
        return name
    platform, *more = platform.split(", ")
    return f"{name} ({', '.join([f'{platform} {_version(row)}', *more])})"


def _version(row: Mapping[str, str]) -> str:
    """The version of a row's driver, at most three numbers of it."""
    found = re.match(r"(?:[A-Za-z]+ )?\d+(?:\.\d+){0,2}", row["driver"])
    return found[0] if found else row["driver"]


def recorded(text: str, where: str, row: Mapping[str, str]) -> str:
    """Return the text of a target file with a row of evidence, which gets the hash of the file's choices.

    What the same tool has said of the same sorts on the same device is replaced.

    Raises:
        Usage: the file's rows are written in a way that cannot be edited.
    """
    data = tomllib.loads(text)
    new = {**row, "shapes": shapes(data)}
    before = data.get("evidence", [])
    wanted = [have for have in before if not _replaced(have, new)] + [new]
    try:
        kept = [block for block, have in _blocks(text, before) if have is None or not _replaced(have, new)]
        out = "".join(kept).rstrip("\n") + "\n\n" + _written(new)
        right = tomllib.loads(out) == {**data, "evidence": wanted}
    except ValueError:  # rows that are not found one by one, or no TOML any more
        right = False
    if not right:
        raise Usage(f"{where}: evidence cannot be written; write each row as {_HEAD} with a line a key, at the end")
    return out


def _replaced(have: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Whether a row is superseded: the same tool on the same device, about the same sorts; of compilers about all."""
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
    """The file cut before and after every row of evidence, each block with its row, or None for other text.

    Comments right above a row belong to it.

    Raises:
        ValueError: a row does not begin as rows do.
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
