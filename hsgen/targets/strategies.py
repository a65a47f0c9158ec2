"""The reader of the tables of radix sorts in a target file.

The parameters of a radix sort depend on its *strategy*, such as onesweep or hybrid.  Its table is
``[radix.KEY.STRATEGY]`` or, for a further set of parameters, ``[radix.KEY.VARIANT.STRATEGY]``.  The label of the
parameters is the algorithm, with the variant as a suffix, as in radix-bits2.

A strategy may need a *fallback* for keys that it cannot sort, such as a hybrid sort whose buckets are too large.  The
fallback is another table, with another strategy.  A table that is used as a fallback has no label.

A list ``[[radix.KEY.VARIANT.STRATEGY]]`` has several tables, its *cases*, one for each range of counts.  Each case but
the last has a greatest count, `up_to`.  The suffix in the label of a case is its `name`.  By default, the name is the
variant, followed by the number of the case, from 1.
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
"""The keys that a case may have in addition to the keys of its strategy."""
Case = tuple[str, int | None]
"""The label of a case, and the greatest count that it serves; None for the last case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A table of a radix sort, as the target file has it.

    variant: the variant in the table's path; "" if there is none.
    label: the suffix of the table's label: the variant or, for a case, its name.
    where: the path of the table, for messages.
    values: the valid values in the table, by key.
    complete: whether the table has no errors.
    number: the index of a case in its list; None for a table that is no case.
    up_to: the greatest count of a case; None for the last case, and for a table that is no case.
    """

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
        """The name by which other tables refer to this table as a fallback; all cases of a list have the same name."""
        return ".".join(x for x in (self.variant, self.strategy) if x)


@dataclass(slots=True, kw_only=True)
class Labels:
    """The names, such as radix-bits2-onesweep, by which rows in ``[sort.KEY]`` refer to tables of radix sorts.

    tables: the label of each table, such as radix-bits2, by that name.
    lists: the cases of each list of tables, by the name of the list.
    """

    tables: dict[str, str] = field(default_factory=dict)
    lists: dict[str, tuple[Case, ...]] = field(default_factory=dict)


def fields(strategy: str) -> Mapping[str, Field]:
    """Return the fields of a strategy's table, with a field for the name of the fallback if the strategy needs one."""
    keys = STRATEGIES[strategy].FIELDS
    if strategy not in FALLBACKS:
        return keys
    hint = f'the table for what buckets do not hold, for example "{next(iter(FALLBACKS[strategy]))}"'
    return {FALLBACK: Field("str", hint), **keys}


def read(
    r: Reader, choices: dict[tuple[str, str], Any], name: str, key: str, table: Mapping[str, Any], device: Device | None
) -> Labels:
    """Read all tables of an algorithm with strategies for one key width; record errors in `r`.

    Store the parameters in `choices`, by (label, key width).  Return the names by which rows in ``[sort.KEY]`` refer to
    the tables.
    name: the algorithm.
    table: the table ``[NAME.KEY]``, whose inner tables are those of strategies or variants.
    """
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
        if (label, key) in choices:
            r.error(entry.where, f"is a second table called {label}", "give one of them a name of its own")
            continue
        if entry.number is None:
            labels.tables[full] = label
        else:
            labels.lists[full] = (*labels.lists.get(full, ()), (label, entry.up_to))
        choices[label, key] = _params(r, entry, single, key, device)
    return labels


def _entries(r: Reader, where: str, table: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield an entry for each table with the parameters of a radix sort, for one key width; record errors in `r`."""
    for name, sub in table.items():
        if name in STRATEGIES:
            yield from _of_strategy(r, f"{where}.{name}", name, "", sub)
        elif not isinstance(sub, dict) or not any(x in STRATEGIES for x in sub):
            close = difflib.get_close_matches(name, STRATEGIES, 1)
            hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(STRATEGIES)}"
            problem = "unknown key" if close or not isinstance(sub, dict) else "has no table of a strategy"
            r.error(f"{where}.{name}", problem, hint)
        elif not re.fullmatch(VARIANT, name):
            r.error(f"{where}.{name}", *WRONG_VARIANT)
        else:
            r.unknown(sub, f"{where}.{name}", STRATEGIES)
            for strategy in (x for x in sub if x in STRATEGIES):
                yield from _of_strategy(r, f"{where}.{name}.{strategy}", strategy, name, sub[strategy])


def _of_strategy(r: Reader, where: str, strategy: str, variant: str, table: Any) -> Iterator[Entry]:
    """Yield the entry of a strategy's table or, if `table` is a list, of each case; record errors in `r`."""
    if isinstance(table, dict):
        before = len(r.errors)
        good = r.fields(_without_variants(r, table, where, strategy), where, fields(strategy))
        complete = len(r.errors) == before
        yield Entry(strategy=strategy, variant=variant, label=variant, where=where, values=good, complete=complete)
        return
    if not isinstance(table, list) or not table or not all(isinstance(x, dict) for x in table):
        r.error(where, "is not a table", f"write it as [{where}], or as [[{where}]] for each range of counts")
        return
    for i, values in enumerate(table):
        at, before = f"{where}[{i}]", len(r.errors)
        good = r.fields(values, at, {**CASE, **fields(strategy)})
        name, up_to = good.pop(NAME, f"{variant}{i + 1}"), good.pop(UP_TO, None)
        if not re.fullmatch(VARIANT, name):
            r.error(f"{at}.{NAME}", f'"{shown(name)}" {WRONG_VARIANT[0]}', WRONG_VARIANT[1])
        if up_to is None and UP_TO not in values and i < len(table) - 1:
            r.error(f"{at}.{UP_TO}", "missing", f"give {CASE[UP_TO].hint}")
        if up_to is not None and i == len(table) - 1:
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


def _without_variants(r: Reader, table: Mapping[str, Any], where: str, strategy: str) -> dict[str, Any]:
    """Return a strategy's table without inner tables that do not belong there; record an error in `r` for each of them.

    An inner table must have the parameters of a stage of the strategy, such as ``bucket``.  Usually, any other inner
    table is a variant, which should precede the strategy in the path.
    """
    stages = records.records(fields(strategy))
    variants = [k for k, v in table.items() if isinstance(v, dict) and k not in stages]
    for name in variants:
        at = f"{where.removesuffix(strategy)}{shown(name)}.{strategy}"
        r.error(f"{where}.{name}", "is no stage", f"a variant stands before its strategy: write [{at}]")
    return {k: v for k, v in table.items() if k not in variants}


def _fallback(entry: Entry, entries: Mapping[str, Entry]) -> Entry | None:
    """Return the table that an entry names as its fallback, or the entry itself if its strategy needs no fallback.

    Return None if there is no such table, or if its strategy cannot be a fallback for that of the entry.
    """
    if entry.strategy not in FALLBACKS:
        return entry
    base = entries.get(str(entry.values.get(FALLBACK, "")))
    return base if base and base.strategy in FALLBACKS[entry.strategy] else None


def _params(r: Reader, entry: Entry, entries: Mapping[str, Entry], key: str, device: Device | None) -> Any:
    """Return the parameters of a radix sort, from the values in its table and in that of its fallback.

    If there are errors, record them in `r`, and return None.
    """
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
    for at, problem, hint in wrong:
        table = base if at in base.values and at not in entry.values else entry
        known = fields(table.strategy)
        r.error(f"{table.where}.{at}" if at in (*known, *records.records(known)) else entry.where, problem, hint)
    return None if wrong else params
