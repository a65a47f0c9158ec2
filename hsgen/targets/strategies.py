"""Tables of strategies: ``[radix.KEY.STRATEGY]``, ``[radix.KEY.VARIANT.STRATEGY]``, and lists of them.

The label of a variant is its name, as in radix-bits2; the one table without a variant that no other names as its
fallback is the algorithm itself.  A list ``[[radix.KEY.VARIANT.STRATEGY]]`` has a case for each range of counts, up to
the count `up_to` of each but the last.  The label of a case is its `name`, or else its number behind the variant.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hsgen.algorithms.radix.constraints import problems
from hsgen.algorithms.radix.hybrid.fields import FALLBACK
from hsgen.algorithms.radix.strategies import FALLBACKS, STRATEGIES
from hsgen.core import records
from hsgen.core.device import Device
from hsgen.core.errors import shown
from hsgen.core.fields import Field, Reader
from hsgen.core.keys import KEYS

VARIANT = r"[a-z0-9]{1,32}"
WRONG_VARIANT = "cannot name a variant", "use up to 32 lower-case letters and digits"
NAME, UP_TO = "name", "up_to"
CASE: Mapping[str, Field] = {
    NAME: Field("str", "the name of the case, with which the names of its kernels end", required=False),
    UP_TO: Field("int", "the greatest count of the case; none in the last one", required=False, least=1),
}
"""The keys of a case in addition to those of its strategy."""
Case = tuple[str, int | None]
"""The label of a case, and the greatest count that it serves; None of the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A table: its strategy, the variant before it ("" for none), the variant of its label, where it stands and what it
    says.  number: of a case in its list; None outside of lists."""

    strategy: str
    variant: str
    label: str
    where: str
    values: Mapping[str, Any]
    complete: bool
    number: int | None = None
    up_to: int | None = None

    @property
    def name(self) -> str:
        """The name by which other tables refer to it; all cases of a list have one."""
        return ".".join(x for x in (self.variant, self.strategy) if x)


@dataclass(slots=True, kw_only=True)
class Labels:
    """What tables are called in ranges: labels by the full names of tables, and the cases by those of lists."""

    tables: dict[str, str] = field(default_factory=dict)
    lists: dict[str, tuple[Case, ...]] = field(default_factory=dict)


def fields(strategy: str) -> Mapping[str, Field]:
    """Return the keys of the table of a strategy."""
    own = STRATEGIES[strategy].FIELDS
    if strategy not in FALLBACKS:
        return own
    hint = f'the table for what buckets do not hold, for example "{next(iter(FALLBACKS[strategy]))}"'
    return {FALLBACK: Field("str", hint), **own}


def read(
    r: Reader, found: dict[tuple[str, str], Any], name: str, key: str, table: Mapping[str, Any], device: Device | None
) -> Labels:
    """Read the strategies of a key into `found` by their labels; return what tables are called."""
    entries = list(_entries(r, f"{name}.{key}", table))
    single = {e.name: e for e in entries if e.number is None}
    behind = {str(e.values.get(FALLBACK, "")) for e in entries}
    labels = Labels()
    lost = [e for e in entries if e.complete and not _fallback(e, single)]
    for entry in lost:
        have = ", ".join(e.name for e in single.values() if e.strategy in FALLBACKS[entry.strategy]) or "none"
        r.error(
            f"{entry.where}.{FALLBACK}", f'"{shown(entry.values[FALLBACK])}" is no table for it', f"name one of: {have}"
        )
    for entry in entries:
        if (entry.number is None and entry.name in behind) or lost:
            continue
        label, full = f"{name}-{entry.label}" if entry.label else name, f"{name}-{entry.name.replace('.', '-')}"
        if (label, key) in found:
            r.error(entry.where, f"is a second table called {label}", "give one of them a name of its own")
            continue
        if entry.number is None:
            labels.tables[full] = label
        else:
            labels.lists[full] = (*labels.lists.get(full, ()), (label, entry.up_to))
        found[label, key] = _params(r, entry, single, key, device)
    return labels


def _entries(r: Reader, where: str, table: Mapping[str, Any]) -> Iterator[Entry]:
    """The tables of all strategies, without a variant and with one."""
    for name, own in table.items():
        if name in STRATEGIES:
            yield from _of_strategy(r, f"{where}.{name}", name, "", own)
        elif not isinstance(own, dict) or not any(x in STRATEGIES for x in own):
            close = difflib.get_close_matches(name, STRATEGIES, 1)
            hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(STRATEGIES)}"
            what = "unknown key" if close or not isinstance(own, dict) else "has no table of a strategy"
            r.error(f"{where}.{name}", what, hint)
        elif not re.fullmatch(VARIANT, name):
            r.error(f"{where}.{name}", *WRONG_VARIANT)
        else:
            r.unknown(own, f"{where}.{name}", STRATEGIES)
            for strategy in (x for x in own if x in STRATEGIES):
                yield from _of_strategy(r, f"{where}.{name}.{strategy}", strategy, name, own[strategy])


def _of_strategy(r: Reader, where: str, strategy: str, variant: str, own: Any) -> Iterator[Entry]:
    """The table of a strategy, or the cases of its list."""
    if isinstance(own, dict):
        before = len(r.errors)
        good = r.fields(_without_variants(r, own, where, strategy), where, fields(strategy))
        complete = len(r.errors) == before
        yield Entry(strategy=strategy, variant=variant, label=variant, where=where, values=good, complete=complete)
        return
    if not isinstance(own, list) or not own or not all(isinstance(x, dict) for x in own):
        r.error(where, "is not a table", f"write it as [{where}], or as [[{where}]] for each range of counts")
        return
    for i, values in enumerate(own):
        at, before = f"{where}[{i}]", len(r.errors)
        good = r.fields(values, at, {**CASE, **fields(strategy)})
        name, up_to = good.pop(NAME, f"{variant}{i + 1}"), good.pop(UP_TO, None)
        if not re.fullmatch(VARIANT, name):
            r.error(f"{at}.{NAME}", f'"{shown(name)}" {WRONG_VARIANT[0]}', WRONG_VARIANT[1])
        if up_to is None and UP_TO not in values and i < len(own) - 1:
            r.error(f"{at}.{UP_TO}", "missing", f"give {CASE[UP_TO].hint}")
        if up_to is not None and i == len(own) - 1:
            r.error(f"{at}.{UP_TO}", "bounds the last case", "leave it out: the last case serves the rest")
        complete = len(r.errors) == before
        yield Entry(
            strategy=strategy,
            variant=variant,
            label=name,
            where=at,
            values=good,
            complete=complete,
            number=i,
            up_to=up_to,
        )


def _without_variants(r: Reader, own: Mapping[str, Any], where: str, strategy: str) -> dict[str, Any]:
    """A table without tables that are no stages; note where these belong."""
    stages = records.records(fields(strategy))
    variants = [k for k, v in own.items() if isinstance(v, dict) and k not in stages]
    for name in variants:
        at = f"{where.removesuffix(strategy)}{shown(name)}.{strategy}"
        r.error(f"{where}.{name}", "is no stage", f"a variant stands before its strategy: write [{at}]")
    return {k: v for k, v in own.items() if k not in variants}


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
