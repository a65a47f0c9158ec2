"""The journal of a tuning: a file that holds the complete state of the search, as one JSON object per line.

The first line names the target, the device and the initial tables.  Each further line is a *record*: a race, a failure,
a final comparison or a validation.  If a process was killed while it wrote, the last line is incomplete; it is dropped.
docs/guides/tune.md documents the fields.
"""

from __future__ import annotations

import json
import os
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hsgen import __version__
from hsgen.core.errors import Usage, shown
from hsgen.system import documents

SCHEMA = 2
SAME = ("schema", "hsgen", "target", "api", "device", "driver", "facts", "sizes", "start", "autos")
"""The fields of the first line that must be equal in all journals that are merged.

To resume a journal, these fields must match the present tuning too, except `start`, `sizes` and `autos`.
"""

Record = dict[str, Any]

_NUMBER = (int, float)
_FIELDS: dict[str, dict[str, tuple[type, ...]]] = {
    "journal": {"sizes": (dict,), "start": (dict,), "facts": (dict,), "seed": (int,)},
    "race": {"label": (str,), "key": (str,), "number": (int,), "best": (str, type(None)), "candidates": (list,)},
    "failed": {"label": (str,), "key": (str,), "number": (int,), "table": (dict,), "kind": (str,), "why": (str,)},
    "late": {"label": (str,), "key": (str,), "number": (int,), "budget": _NUMBER},
    "final": {"key": (str,), "value": (str,), "entries": (dict,), "sizes": (list,), "seconds": (dict,)},
    "checked": {"key": (str,), "label": (str,), "table": (dict, type(None)), "cases": (int,)},
}
"""The required fields and their types, for each kind of record.  Records also have `took`, their seconds."""


def header(**more: Any) -> Record:
    """Return the first line of a journal."""
    return {"what": "journal", "schema": SCHEMA, "hsgen": __version__, **more}


class Journal:
    """The records of a tuning, in the file `path`, or in memory only if `path` is None.

    length: the number of valid bytes at the start of an existing file, which is truncated to this length; 0 writes a
    new file.
    """

    def __init__(self, path: Path | None, head: Record, records: Sequence[Record] = (), *, length: int = 0) -> None:
        self.path, self.head = path, head
        self.records = list(records)
        if path is not None and not length:
            _write(path, [head, *self.records])
        elif path is not None:
            with _writing(path):
                os.truncate(path, length)

    def add(self, record: Record) -> None:
        """Append a record and flush it to disk."""
        self.records.append(record)
        if self.path is not None:
            with _writing(self.path), self.path.open("ab") as file:
                file.write(json.dumps(record).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

    def of(self, kind: str, **fields: Any) -> Iterator[Record]:
        """Yield the records of a kind whose fields have these values, in the order of the journal."""
        for record in self.records:
            if record["what"] == kind and all(record.get(k) == v for k, v in fields.items()):
                yield record

    @property
    def spent(self) -> float:
        """The seconds that all recorded steps took, in total."""
        return float(sum(record.get("took", 0.0) for record in self.records))


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn an `OSError` while the journal is written into a `Usage` error of one line."""
    try:
        yield
    except OSError as e:
        raise Usage(f"journal {path}: cannot be written ({e.strerror}); name another with --journal") from None


def _write(path: Path, lines: Sequence[Record]) -> None:
    """Write a journal atomically."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with _writing(path):
        try:
            part.write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")
            part.replace(path)
        except OSError:
            with suppress(OSError):
                part.unlink()
            raise


def read(path: Path) -> tuple[Record, list[Record], int]:
    """Return the first line of a journal, its records, and its length in bytes up to the last complete line.

    Raises:
        Usage: the file cannot be read, or is not a journal of this schema.
    """
    name, hint = (
        f"journal {shown(path)}",
        "name a file that hsgen tune wrote, or one that does not exist yet",
    )
    try:
        data = path.read_bytes()
    except OSError as e:
        raise Usage(f"{name}: cannot be read ({e.strerror}); name a file that hsgen tune wrote") from None
    complete = data[: data.rfind(b"\n") + 1]
    try:
        lines = [documents.parsed_json(line.decode("utf-8"), name, hint) for line in complete.split(b"\n")[:-1]]
    except (UnicodeDecodeError, Usage):
        lines = []
    if not lines or not isinstance(lines[0], dict) or lines[0].get("what") != "journal":
        raise Usage(f"{name}: is not a journal; {hint}")
    if lines[0].get("schema") != SCHEMA:
        schema = shown(lines[0].get("schema"))
        raise Usage(f"{name}: has schema {schema}, this hsgen reads {SCHEMA}; name another")
    for number, line in enumerate(lines, 1):
        if problem := _problem(line, first=number == 1):
            raise Usage(f"{name}: line {number} is damaged ({problem}); restore it, or begin another journal")
    return lines[0], lines[1:], len(complete)


def _problem(record: object, *, first: bool) -> str | None:
    """Return the name of the first invalid or missing field of a record; None if the record is valid."""
    if not isinstance(record, dict) or not isinstance(record.get("what"), str) or record["what"] not in _FIELDS:
        return "it is no record"
    if (record["what"] == "journal") is not first:
        return "what"
    for name, kinds in _FIELDS[record["what"]].items():
        if name not in record or not isinstance(record[name], kinds) or isinstance(record[name], bool):
            return name
    for name in ("took", "budget"):
        if not _time(record.get(name, 0.0)):
            return name
    if not isinstance(cases := record.get("case", {}), dict) or not all(map(_time, cases.values())):
        return "case"
    for name, sound in _INSIDE[record["what"]].items():
        if not sound(record[name]):
            return name
    return None


def _time(value: object) -> bool:
    return isinstance(value, _NUMBER) and not isinstance(value, bool) and 0 <= value < 1e12


def _counts(value: object) -> bool:
    """Whether a value is a nonempty list of numbers of keys."""
    every = value if isinstance(value, list) else []
    return bool(every) and all(isinstance(n, int) and not isinstance(n, bool) and 0 < n < 1 << 40 for n in every)


def _times(value: object) -> bool:
    """Whether a value maps counts, as decimal strings, to times above 0."""
    return isinstance(value, dict) and all(n.isdecimal() and _time(t) and t > 0 for n, t in value.items())


def _candidate(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("table"), dict | types.NoneType):
        return False
    score = value.get("score")
    return (score is None or _time(abs(score) if isinstance(score, _NUMBER) else score)) and _times(
        value.get("seconds")
    )


def _rounds(value: object) -> bool:
    return isinstance(value, dict) and all(
        n.isdecimal() and isinstance(t, list) and all(map(_time, t)) for n, t in value.items()
    )


_INSIDE: dict[str, dict[str, Callable[[Any], bool]]] = {
    "journal": {
        "sizes": lambda x: bool(x) and all(map(_counts, x.values())),
        "start": lambda x: all(
            len(at.split()) == 2 and isinstance(table, dict | types.NoneType) for at, table in x.items()
        ),
    },
    "race": {"candidates": lambda x: all(map(_candidate, x))},
    "failed": {},
    "late": {},
    "final": {"seconds": lambda x: all(map(_rounds, x.values()))},
    "checked": {},
}
"""For each kind of record, functions by field that check the field's content; `_FIELDS` has only the field's type."""


def differs(path: Path, have: Mapping[str, Any], expected: Mapping[str, Any], names: Sequence[str]) -> None:
    """Check that the first lines of two journals agree in the fields `names`.

    Raises:
        Usage: they differ; the message names the first differing field.
    """
    for name in names:
        if have.get(name) != expected.get(name):
            a, b = have.get(name), expected.get(name)
            plain = isinstance(a, str | int) and isinstance(b, str | int)
            difference = f"its {name} is {a}, not {b}" if plain else f"its {name} differ from what is to be tuned"
            raise Usage(f"journal {path}: {difference}; name another journal with --journal")


def opened(path: Path | None, head: Record) -> Journal:
    """Return the journal at `path`; create it with the first line `head` if the file does not exist.

    An existing journal keeps its own first line, and with it its seed, sizes and initial tables.

    Raises:
        Usage: the existing journal belongs to another target, device or version of hsgen.
    """
    if path is None or not path.exists():
        return Journal(path, head)
    have, records, length = read(path)
    differs(path, have, head, [name for name in SAME if name not in ("start", "sizes", "autos")])
    return Journal(path, have, records, length=length)


def merged(paths: Sequence[Path], into: Path) -> Journal:
    """Merge journals into a new journal at `into`.

    The new journal has all distinct records of races and failures.  Their order does not depend on the order of
    `paths`.

    Raises:
        Usage: the journals differ in a field of `SAME`, such as the target; or `into` exists.
    """
    if into.exists():
        raise Usage(f"journal {into}: exists; name a new file for the merged journal with --journal")
    journals = [read(path)[:2] for path in paths]
    for path, (head, _) in zip(paths, journals, strict=True):
        differs(path, head, journals[0][0], SAME)
    journals.sort(key=json.dumps)  # makes the result independent of the order of `paths`
    records = {
        json.dumps(r, sort_keys=True): r for _, lines in journals for r in lines if r["what"] in ("race", "failed")
    }
    return Journal(into, journals[0][0], list(records.values()))
