"""Conversions between parameter classes and flat dictionaries whose keys may be dotted, such as ``bucket.items``.

A *record* is a frozen dataclass in a field of a parameter class; the field is None if the parameters have no such
record.  Target files, searches and tests write ``field.value`` for a value in a record.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

DOT = "."
RECORD = "record"
"""The key in a field's metadata under which the class of the record is stored."""


def record_of(name: str) -> str:
    """Return the part of a name before its last dot; "" for a name without a dot."""
    return name.rpartition(DOT)[0]


def records(names: Mapping[str, Any]) -> list[str]:
    """Return the distinct record names in the dotted names of `names`, in order; names without a dot are ignored."""
    return list(dict.fromkeys(record_of(name) for name in names if DOT in name))


def flat(params: Any) -> dict[str, Any]:
    """Return a dictionary from parameter names to values.

    A value in a record has a dotted name.  A record that is None has no entries.
    """
    values: dict[str, Any] = {}
    for f in dataclasses.fields(params):
        value = getattr(params, f.name)
        if f.metadata.get(RECORD):
            values |= {} if value is None else {f"{f.name}{DOT}{k}": v for k, v in flat(value).items()}
        else:
            values[f.name] = value
    return values


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values`, with the dotted names of each record gathered in an inner dictionary.

    For example, ``{"bucket.items": 4}`` becomes ``{"bucket": {"items": 4}}``.
    """
    tables: dict[str, Any] = {}
    for name, value in values.items():
        if DOT in name:
            tables.setdefault(record_of(name), {})[name.rpartition(DOT)[2]] = value
        else:
            tables[name] = value
    return tables


def defaults(params: type[Any]) -> dict[str, Any]:
    """Return the default of each field of a parameter class, by name; fields that hold records are left out."""
    return {f.name: f.default for f in dataclasses.fields(params) if not f.metadata.get(RECORD)}


def names(params: type[Any]) -> set[str]:
    """Return the names of all values of a parameter class.  The name of a value in a record is dotted."""
    known: set[str] = set()
    for f in dataclasses.fields(params):
        of = f.metadata.get(RECORD)
        known |= {f"{f.name}{DOT}{name}" for name in names(of)} if of else {f.name}
    return known


def built(params: type[Any], values: Mapping[str, Any]) -> Any:
    """Return an instance of the parameter class `params` from `values`, whose keys may be dotted names."""
    known: dict[str, Any] = {f.name: f.metadata.get(RECORD) for f in dataclasses.fields(params)}
    fields = {name: value for name, value in values.items() if DOT not in name}
    for name in records(values):
        record = {k.removeprefix(name + DOT): v for k, v in values.items() if record_of(k) == name}
        fields[name] = known[name](**record)
    return params(**fields)


def changed(params: Any, values: Mapping[str, Any]) -> Any:
    """Return a copy of `params` with the values in the dictionary `values`, whose keys may be dotted names.

    If the value of a record's field is None, the record is removed.
    """
    gone = {k for k, v in values.items() if v is None and DOT not in k}
    values_before = {k: v for k, v in flat(params).items() if record_of(k) not in gone}
    return built(type(params), {**values_before, **values})
