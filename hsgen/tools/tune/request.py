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

AROUND = 64  # factor beyond a crossover at which shapes are still compared, because the crossover may move


class Runner(Protocol):
    """Runner of races: `spread.Here` on this machine, `spread.Cluster` on several."""

    @property
    def at_once(self) -> int:
        """The number of concurrent races."""

    def races(
        self, some: Sequence[Race], failed: Callable[[Race, str, str, str], None], seconds: float
    ) -> list[Finish]:
        """Run races, each within seconds; `failed` receives the race, name, kind and reason of each failure as soon as
        it is known."""

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


def starts(text: str, found: Target, request: Request) -> dict[str, Table | None]:
    """Return the initial tables by "label key"; None if the file has no table of a requested label.

    Raises:
        Usage: nothing of the request can be tuned.
    """
    data = tomllib.loads(text)
    out: dict[str, Table | None] = {}
    keys = request.keys or tuple(k for k in KEYS if any(own == k for _, own in found.choices))
    for label in request.labels:
        if label not in OPTIONAL and not re.fullmatch(rf"({'|'.join(ALGORITHMS)})(-[a-z0-9]+)?", label):
            known = ", ".join([*ALGORITHMS, *OPTIONAL])
            raise Usage(f"algorithm {label}: unknown; name {known}, or a variant such as radix-small")
    for key in keys:
        labels = request.labels or tuple(a for a, k in found.choices if k == key and _plain(a))
        for label in labels:
            if label in OPTIONAL:
                out |= _optional(data, found, label, key, asked=key in request.keys)
                continue
            said = operation(label).table_keys
            if said and (label, key) not in found.choices:
                raise Usage(
                    f"target {found.name}: no {label} for {key}, whose {said[0]} a table must say; add one first"
                )
            out[f"{label} {key}"] = table_of(data, label, key)
    if not out:
        raise Usage(f"target {found.name}: no table for {' '.join(keys)}; name an --algorithm to find one for")
    return out


def _optional(data: Mapping[str, Any], found: Target, label: str, key: str, *, asked: bool) -> dict[str, Table | None]:
    """The initial table of an algorithm that needs none: an empty one is the derived shape.

    Raises:
        Usage: the target does not have it for keys of a width that is `asked` for.
    """
    if label not in found.implicit(key):
        if asked:
            raise Usage(f"target {found.name}: no {label} for {key}; name another --key")
        return {}
    return {f"{label} {key}": table_of(data, label, key) or {}}


def derived(found: Target, label: str, key: str) -> Any:
    """Return the parameters of a label for which the target needs no table; None if it needs one."""
    if label not in OPTIONAL:
        return None
    return replace(found, tables={}).sort(label, key, operation(label).tuned).parts[0].params


def _plain(label: str) -> bool:
    """Whether a label is tuned by default: sorts that are not variants."""
    return "-" not in label and operation(label).by_count


def new_header(text: str, found: Target, facts: Device, request: Request, **more: Any) -> Record:
    """Return the first line of a journal for this target.

    `facts` are those of the tuned device; `more` has the API, device, driver, seed and date.
    """
    begin = starts(text, found, request)
    return header(
        target=found.name,
        facts={k: list(v) if isinstance(v, tuple) else v for k, v in asdict(facts).items()},
        sizes={at: _near(found, at, request.sizes) for at in begin},
        start=begin,
        autos={key: [list(x) for x in auto] for key, auto in found.autos.items()},
        **more,
    )


def _near(found: Target, at: str, sizes: Sequence[int]) -> list[int]:
    """The counts at which shapes of a label are compared: those near its range in the file."""
    label, key = at.split()
    low = 0
    for name, upto in found.autos.get(key, ()):
        if name == label:
            near = [n for n in sizes if low <= n * AROUND and n <= AROUND * upto]
            return near or list(sizes)
        low = upto
    return list(sizes)
