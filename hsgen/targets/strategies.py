"""Tables of strategies: ``[radix.KEY.STRATEGY]`` and ``[radix.KEY.STRATEGY.VARIANT]``.

The label of a variant is its name, as in radix-bits2; the one table without a variant that no other names as its
fallback is the algorithm itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.algorithms.radix.constraints import problems
from hsgen.algorithms.radix.hybrid.fields import FALLBACK
from hsgen.algorithms.radix.strategies import FALLBACKS, STRATEGIES
from hsgen.core import records
from hsgen.core.device import Device
from hsgen.core.errors import shown
from hsgen.core.fields import Field, Reader
from hsgen.core.keys import KEYS
from hsgen.targets import schema2

VARIANT = r"[a-z0-9]{1,32}"
WRONG_VARIANT = "cannot name a variant", "use up to 32 lower-case letters and digits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A table: its strategy, its variant ("" for none), where it stands and what it says."""

    strategy: str
    variant: str
    where: str
    values: Mapping[str, Any]
    complete: bool

    @property
    def name(self) -> str:
        """The name by which other tables refer to it."""
        return ".".join(x for x in (self.strategy, self.variant) if x)


def fields(strategy: str) -> Mapping[str, Field]:
    """Return the keys of the table of a strategy."""
    own = STRATEGIES[strategy].FIELDS
    if strategy not in FALLBACKS:
        return own
    hint = f'the table for what buckets do not hold, for example "{next(iter(FALLBACKS[strategy]))}"'
    return {FALLBACK: Field("str", hint), **own}


def read(
    r: Reader, found: dict[tuple[str, str], Any], name: str, key: str, table: Mapping[str, Any], device: Device | None
) -> dict[str, str]:
    """Read the strategies of a key into `found` by their labels; return the labels by the names of tables."""
    r.unknown(table, f"{name}.{key}", STRATEGIES)
    entries = {e.name: e for e in _entries(r, f"{name}.{key}", table)}
    behind = {str(e.values.get(FALLBACK, "")) for e in entries.values()}
    labels: dict[str, str] = {}
    lost = [e for e in entries.values() if e.complete and not _fallback(e, entries)]
    for entry in lost:
        have = ", ".join(e.name for e in entries.values() if e.strategy in FALLBACKS[entry.strategy]) or "none"
        r.error(
            f"{entry.where}.{FALLBACK}", f'"{shown(entry.values[FALLBACK])}" is no table for it', f"name one of: {have}"
        )
    for entry in entries.values():
        if entry.name in behind or lost:
            continue
        label = f"{name}-{entry.variant}" if entry.variant else name
        if (label, key) in found:
            r.error(entry.where, f"is a second table called {label}", "give one of them a variant's name of its own")
            continue
        labels[f"{name}-{entry.name.replace('.', '-')}"] = label
        found[label, key] = _params(r, entry, entries, key, device)
    return labels


def _entries(r: Reader, where: str, table: Mapping[str, Any]) -> Iterator[Entry]:
    """The tables of all strategies, each without its variants."""
    for strategy in (s for s in table if s in STRATEGIES):
        own = r.table(table, f"{where}.{strategy}") or {}
        variants = {k: v for k, v in own.items() if isinstance(v, dict)}
        plain = {k: v for k, v in own.items() if k not in variants}
        tables: dict[str, dict[str, Any]] = {"": plain} if plain or not variants else {}
        for variant, values in {**tables, **variants}.items():
            at = f"{where}.{strategy}" + (f".{variant}" if variant else "")
            if variant and not re.fullmatch(VARIANT, variant):
                r.error(at, *WRONG_VARIANT)
                continue
            before = len(r.errors)
            good = r.fields(schema2.renamed(strategy, values), at, fields(strategy))
            yield Entry(strategy=strategy, variant=variant, where=at, values=good, complete=len(r.errors) == before)


def _fallback(entry: Entry, entries: Mapping[str, Entry]) -> Entry | None:
    """The fallback of an entry, or the entry itself if its strategy needs no fallback; None without such a table."""
    if entry.strategy not in FALLBACKS:
        return entry
    found = entries.get(str(entry.values.get(FALLBACK, "")))
    return found if found and found.strategy in FALLBACKS[entry.strategy] else None


def _params(r: Reader, entry: Entry, entries: Mapping[str, Entry], key: str, device: Device | None) -> Any:
    """The parameters of a table and of its fallback; None if something is wrong."""
    base = _fallback(entry, entries) or entry
    behind = FALLBACKS.get(entry.strategy, {}).get(base.strategy, {})
    values = {**base.values, **{k: v for k, v in entry.values.items() if k != FALLBACK}, **behind}
    if device is None or not (entry.complete and base.complete):
        return None
    module = STRATEGIES[entry.strategy]
    if foreign := [name for name in values if name not in records.names(module.Params)]:
        r.error(f"{base.where}.{foreign[0]}", "is no key of a table for what buckets do not hold", "leave it out")
        return None
    params: Any = records.built(module.Params, {"key": KEYS[key], **values})
    wrong = problems(params, device)
    for at, what, hint in wrong:
        table = base if at in base.values and at not in entry.values else entry
        known = fields(table.strategy)
        r.error(f"{table.where}.{at}" if at in (*known, *records.records(known)) else entry.where, what, hint)
    return None if wrong else params
