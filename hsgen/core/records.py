"""Tables of records as tables of values with dotted names, such as ``bucket.items``, and back.

A parameter class may have records as fields: a frozen dataclass, or None where the parameters have no such record.
Tables of target files, of searches and of tests name the values of a record by the field and the value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

DOT = "."
RECORD = "record"
"""The key of a field's metadata that names the class of its records."""


def record_of(name: str) -> str:
    """Return the record that a dotted name is of; "" for a name without a dot."""
    return name.rpartition(DOT)[0]


def records(names: Mapping[str, Any]) -> list[str]:
    """Return the records that some of the names are of, in their order."""
    return list(dict.fromkeys(record_of(name) for name in names if DOT in name))


def flat(params: Any) -> dict[str, Any]:
    """Return the fields of parameters by name, those of their records by dotted names; absent records have none."""
    found: dict[str, Any] = {}
    for f in dataclasses.fields(params):
        value = getattr(params, f.name)
        if f.metadata.get(RECORD):
            found |= {} if value is None else {f"{f.name}{DOT}{k}": v for k, v in flat(value).items()}
        else:
            found[f.name] = value
    return found


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with a table for each record, in the place of the record's first value."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if DOT in name:
            found.setdefault(record_of(name), {})[name.rpartition(DOT)[2]] = value
        else:
            found[name] = value
    return found


def defaults(params: type[Any]) -> dict[str, Any]:
    """Return the defaults of a parameter class by name; the values of records have none."""
    return {f.name: f.default for f in dataclasses.fields(params) if not f.metadata.get(RECORD)}


def names(params: type[Any]) -> set[str]:
    """Return the names that a table may give for a parameter class, dotted ones for its records."""
    found: set[str] = set()
    for f in dataclasses.fields(params):
        of = f.metadata.get(RECORD)
        found |= {f"{f.name}{DOT}{name}" for name in names(of)} if of else {f.name}
    return found


def built(params: type[Any], values: Mapping[str, Any]) -> Any:
    """Return parameters from a table with dotted names."""
    known: dict[str, Any] = {f.name: f.metadata.get(RECORD) for f in dataclasses.fields(params)}
    made = {name: value for name, value in values.items() if DOT not in name}
    for name in records(values):
        own = {k.removeprefix(name + DOT): v for k, v in values.items() if record_of(k) == name}
        made[name] = known[name](**own)
    return params(**made)


def changed(params: Any, values: Mapping[str, Any]) -> Any:
    """Return parameters in which a table with dotted names replaces values; None for a record removes it."""
    gone = {k for k, v in values.items() if v is None and DOT not in k}
    kept = {k: v for k, v in flat(params).items() if record_of(k) not in gone}
    return built(type(params), {**kept, **values})
