"""The part of a report about benchmarks: reads documents of ``hsgen bench --json``, and draws plots of them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hsgen import operations
from hsgen.apis import APIS
from hsgen.core.errors import Unavailable, Usage, shown
from hsgen.core.keys import TYPES
from hsgen.system import documents
from hsgen.tools.bench.rows import SCHEMA

Record = Mapping[str, Any]

_NUMBER = (int, float)
_GREATEST = 1 << 53
"""The greatest number that is accepted in a document; a float represents it exactly."""
_NEEDED: dict[str, tuple[type, ...]] = {
    "target": (str,),
    "api": (str,),
    "device": (str,),
    "key": (str,),
    "value": (str, type(None)),
    "order": (str,),
    "bits": (list,),
    "device_count": (bool,),
    "kind": (str,),
    "n": (int,),
    "algorithm": (str, type(None)),
    "baseline": (str, type(None)),
    "runs": (int,),
    "mkeys_per_s": _NUMBER,
    "min": _NUMBER,
    "q1": _NUMBER,
    "q3": _NUMBER,
    "max": _NUMBER,
    "roof_mkeys_per_s": (*_NUMBER, type(None)),
    "roof_share": (*_NUMBER, type(None)),
    "hsgen_ratio": (*_NUMBER, type(None)),
    "ratio_low": (*_NUMBER, type(None)),
    "ratio_high": (*_NUMBER, type(None)),
}
_SAME = ("target", "api", "device", "key", "value", "order", "device_count", "kind")
"""Fields that are equal in all rows of one plot.  The bit range is equal too."""
_TASK: dict[str, tuple[type, ...]] = {
    "task": (str,),
    "segments": (int, type(None)),
    "layout": (str, type(None)),
    "run_boundaries": (bool,),
    "epilogue": (bool,),
    "take": (int, type(None)),
}
"""Further fields that are equal in all rows of one plot, with their types; older documents lack these fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The rows of one plot.  `picture` is the plot as a data URL; if it is None, `why` says why there is no plot."""

    title: str
    rows: list[Record]
    picture: str | None
    why: str


def read(path: Path) -> list[Record]:
    """Return the rows of a document that ``hsgen bench --json`` printed.

    Raises:
        Usage: the file cannot be read, or is not a document of the present schema.
    """
    hint = "give the output of `hsgen bench --json`"
    name = shown(path)
    data = documents.parsed_json(documents.text(path, hint, most=documents.JSON_BYTES), name, hint)
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        problem = "has no schema" if schema is None else f"schema {shown(schema)} is not known"
        raise Usage(f"{name}: {problem}; {hint} (schema {SCHEMA})")
    rows = data.get("rows")
    if not isinstance(rows, list) or not rows:
        raise Usage(f"{name}: has no rows; {hint}")
    for number, row in enumerate(rows):
        wrong = _wrong(row)
        if wrong:
            raise Usage(f"{name}: rows[{number}]: {wrong} is missing or of another type; {hint}")
        if not row["q1"] <= row["mkeys_per_s"] <= row["q3"]:
            raise Usage(f"{name}: rows[{number}]: mkeys_per_s is not between q1 and q3; {hint}")
    return [{k: shown(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows]


def _wrong(row: object) -> str | None:
    """Return the name of the first missing or invalid field of a row; None if the row is valid."""
    if not isinstance(row, dict):
        return "its object"
    for name, kinds in {**_NEEDED, **{k: v for k, v in _TASK.items() if k in row}}.items():
        if name not in row or not _right(row[name], kinds):
            return name
    if row["key"] not in TYPES or row["api"] not in APIS:
        return "key" if row["key"] not in TYPES else "api"
    if row["n"] == 0:
        return "n"
    if row.get("segments") and "layout" not in row:
        return "layout"
    return None if len(row["bits"]) == 2 and all(_right(b, (int,)) for b in row["bits"]) else "bits"


def _right(value: object, kinds: tuple[type, ...]) -> bool:
    """Return True if a value has one of the types `kinds`; numbers must be from 0 to `_GREATEST`."""
    if isinstance(value, bool):
        return bool in kinds
    return isinstance(value, kinds) and (not isinstance(value, int | float) or 0 <= value <= _GREATEST)


def of_targets(path: Path, rows: Sequence[Record], names: Iterable[str]) -> None:
    """Check that all rows in the file `path` measure targets on the page, `names`.

    Raises:
        Usage: a row measures another target; the message names the first such target.
    """
    known = list(names)
    for row in rows:
        if row["target"] not in known:
            problem = f"measures target {row['target']}; this page is about {', '.join(known)}"
            raise Usage(f"{shown(path)}: {problem}")


def runs(rows: Iterable[Record]) -> list[Run]:
    """Divide rows among plots; return a `Run` for each plot, in the order of their first rows."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for row in rows:
        same = (*(row[name] for name in _SAME), *row["bits"], *(row.get(name) for name in _TASK))
        groups.setdefault(same, []).append(row)
    return [_run(group) for group in groups.values()]


def _run(rows: list[Record]) -> Run:
    picture, why = _picture(rows)
    return Run(title=_title(rows[0]), rows=rows, picture=picture, why=why)


def _title(row: Record) -> str:
    words = [f"{row['key']} keys"]
    words += [f"value {row['value']}"] if row["value"] else []
    words += ["descending"] if row["order"] == "descending" else []
    words += [f"bits {row['bits'][0]} to {row['bits'][1]}"] if row["bits"] != [0, int(row["key"][1:])] else []
    words += ["device-side count"] if row["device_count"] else []
    operation = operations.EVERY.get(row.get("task", ""))
    words += [operation.noun] if operation and operation.workload else []
    words += [f"{row['segments']} segments{', equal' * (row['layout'] == 'equal')}"] if row.get("segments") else []
    words += ["run boundaries"] if row.get("run_boundaries") else []
    words += ["an epilogue"] if row.get("epilogue") else []
    return f"{', '.join([*words, row['kind']])}; {APIS[row['api']].title} on {row['device']}"


def _picture(rows: list[Record]) -> tuple[str | None, str]:
    """Draw rows; return (data URL, ""), or (None, reason) if that is impossible."""
    if all(row["baseline"] == "copy" for row in rows):
        return None, "only copies were measured, whose rate is the roof of other rows"
    try:
        from hsgen.tools.bench import plot

        svg = plot.throughput(rows)
    except ImportError:
        return None, "matplotlib, which draws plots, was not installed when this page was made"
    except Unavailable as e:
        return None, " ".join(e.lines)
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}", ""
