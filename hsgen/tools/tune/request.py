"""The request of a tuning (tables of a target, time budget, counts), and the protocol of race runners."""

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

AROUND = 64  # shapes are compared up to this factor beyond a crossover, because the crossover may move


class Runner(Protocol):
    """Runner of races: `spread.Here` on this machine, `spread.Cluster` on several."""

    @property
    def at_once(self) -> int:
        """The number of concurrent races."""

    def races(
        self, races: Sequence[Race], failed: Callable[[Race, str, str, str], None], seconds: float
    ) -> list[Finish]:
        """Run races, each within `seconds`.

        `failed` receives the race, name, kind and reason of each failure as soon as the failure is known.
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
        """Run one race of arbitrary entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The request of a tuning: key widths, labels (default: those of the file), budget in seconds, and counts."""

    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    budget: float = 600.0
    sizes: tuple[int, ...] = tuple(1 << b for b in range(10, 23, 2))


def starts(text: str, target: Target, request: Request) -> dict[str, Table | None]:
    """Return the initial tables by "label key"; None if the file has no table of a requested label.

    Raises:
        Usage: the target has no table of the request to tune.
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
    """Return the initial table of an algorithm that needs no table; an empty table is the derived shape.

    Raises:
        Usage: the request names the key width (`named`), and the target lacks the algorithm for it.
    """
    if label not in target.implicit(key):
        if named:
            raise Usage(f"target {target.name}: no {label} for {key}; name another --key")
        return {}
    return {f"{label} {key}": table_of(data, label, key) or {}}


def derived(target: Target, label: str, key: str) -> Any:
    """Return the parameters of a label for which the target needs no table; None if the label needs a table."""
    if label not in OPTIONAL:
        return None
    return replace(target, tables={}).sort(label, key, operation(label).tuned).parts[0].params


def _plain(label: str) -> bool:
    """Return True if a label is tuned by default: a sort that is not a variant."""
    return "-" not in label and operation(label).by_count


def new_header(text: str, target: Target, facts: Device, request: Request, **more: Any) -> Record:
    """Return the first line of a journal for this target.

    `facts` are those of the tuned device; `more` has the API, device, driver, seed and date.
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
    """Return the counts at which shapes of a label are compared: those near the label's range in the file."""
    label, key = at.split()
    low = 0
    for name, upto in target.autos.get(key, ()):
        if name == label:
            near = [n for n in sizes if low <= n * AROUND and n <= AROUND * upto]
            return near or list(sizes)
        low = upto
    return list(sizes)
