"""What to tune (tables of a target, counts of keys, time budget), and the interface of objects that run races."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from hsgen.algorithms import ALGORITHMS, OPTIONAL, operation
from hsgen.core.device import Device
from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, PLAIN, Signature
from hsgen.targets.tables import table_of
from hsgen.targets.target import Target
from hsgen.tools.tune.journal import Record, header
from hsgen.tools.tune.propose import Table
from hsgen.tools.tune.runner import Entry
from hsgen.tools.tune.search import Finish, Race, Rung

AROUND = 64  # a label also races at counts outside its range, up to this factor, because crossovers may move


class Runner(Protocol):
    """The interface of objects that run races: `spread.Here` on this machine, `spread.Cluster` on several machines."""

    @property
    def at_once(self) -> int:
        """The number of races that can run at the same time."""

    def races(
        self, races: Sequence[Race], failed: Callable[[Race, str, str, str], None], seconds: float
    ) -> list[Finish]:
        """Run races, each for at most `seconds`; return their results in the same order.

        `failed` is called with the race, the candidate's name, the kind and the reason of each failure, as soon as the
        failure is known.
        """

    def run(
        self,
        entries: Mapping[str, Entry],
        key: str,
        rungs: Sequence[Rung],
        failed: Callable[[str, str, str], None],
        *,
        signature: Signature = PLAIN,
        cases: int = 0,
        seconds: float = math.inf,
    ) -> Finish:
        """Run one race whose entries may have different labels; see `hsgen.tools.tune.runner.Field.run`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to tune: key widths and labels (if empty, those of the file), budget in seconds, and counts of keys."""

    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    budget: float = 600.0
    sizes: tuple[int, ...] = tuple(1 << b for b in range(10, 23, 2))


def starts(text: str, target: Target, request: Request) -> dict[str, Table | None]:
    """Return the tables from which the tuning starts, by "LABEL KEY", such as "radix u32".

    A table is None if its label was requested, but the file has no table for it.

    Raises:
        Usage: a label is unknown, a required table is missing, or there is nothing to tune.
    """
    data = tomllib.loads(text)
    out: dict[str, Table | None] = {}
    keys = request.keys or tuple(k for k in KEYS if any(width == k for _, width in target.choices))
    for label in request.labels:
        if label not in OPTIONAL and not re.fullmatch(rf"({'|'.join(ALGORITHMS)})(-[a-z0-9]+)?", label):
            known = ", ".join([*ALGORITHMS, *OPTIONAL])
            raise Usage(f"algorithm {label}: unknown; name {known}, or a variant such as radix-small")
    for key in keys:
        labels = request.labels or tuple(a for a, k in target.choices if k == key and _plain(a))
        for label in labels:
            if label in OPTIONAL:
                out |= _optional(data, target, label, key, named=key in request.keys)
                continue
            required = operation(label).table_keys
            if required and (label, key) not in target.choices:
                raise Usage(
                    f"target {target.name}: no {label} for {key}, whose {required[0]} a table must say; add one first"
                )
            out[f"{label} {key}"] = table_of(data, label, key)
    if not out:
        raise Usage(f"target {target.name}: no table for {' '.join(keys)}; name an --algorithm to find one for")
    return out


def _optional(data: Mapping[str, Any], target: Target, label: str, key: str, *, named: bool) -> dict[str, Table | None]:
    """Return the initial table of an algorithm whose table is optional, by "LABEL KEY".

    Without a table in the file, the initial table is empty, and all parameters are derived.  If the target does not
    support the algorithm for this key width, the result has no table.

    Raises:
        Usage: the target does not support the algorithm for this key width, which the request names (`named`).
    """
    if label not in target.implicit(key):
        if named:
            raise Usage(f"target {target.name}: no {label} for {key}; name another --key")
        return {}
    return {f"{label} {key}": table_of(data, label, key) or {}}


def derived(target: Target, label: str, key: str) -> Any:
    """Return the parameters that a label has without a table; None if the label requires a table."""
    if label not in OPTIONAL:
        return None
    return replace(target, tables={}).sort(label, key, operation(label).tuned).parts[0].params


def _plain(label: str) -> bool:
    """Return True if a label is tuned by default; the label must be a sort, and not a variant such as radix-small."""
    return "-" not in label and operation(label).by_count


def new_header(text: str, target: Target, facts: Device, request: Request, **more: Any) -> Record:
    """Return the first line of a new journal.

    `facts` describe the device on which the target is tuned.  `more` has the API, device, driver, seed and date.
    """
    begin = starts(text, target, request)
    return header(
        target=target.name,
        facts={k: list(v) if isinstance(v, tuple) else v for k, v in asdict(facts).items()},
        sizes={at: _near(target, at, request.sizes) for at in begin},
        start=begin,
        autos={key: [list(x) for x in auto] for key, auto in target.autos.items()},
        **more,
    )


def _near(target: Target, at: str, sizes: Sequence[int]) -> list[int]:
    """Return those of `sizes` at which shapes of a label race: counts within a factor `AROUND` of the label's range.

    `at` is "LABEL KEY".  All of `sizes` are returned if the file gives the label no range, or no count is near it.
    """
    label, key = at.split()
    low = 0
    for name, upto in target.autos.get(key, ()):
        if name == label:
            near = [n for n in sizes if low <= n * AROUND and n <= AROUND * upto]
            return near or list(sizes)
        low = upto
    return list(sizes)
