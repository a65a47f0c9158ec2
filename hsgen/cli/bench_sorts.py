"""Other sorts of hsgen as baselines of `hsgen bench`, measured in the same rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hsgen.algorithms import operation
from hsgen.cli import engines as places
from hsgen.cli.drive import Drive
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.engines import hosts
from hsgen.engines.engine import Engine
from hsgen.targets import target as target_files
from hsgen.targets.target import Target

PREFIX = "hsgen:"
EACH = "hsgen:each"
"""The name for a set of baselines: each sort of the plan for any count, alone."""
PLAIN = "plain"
"""The label of the sort for any count of the same keys and values, without features."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A sort of hsgen as a baseline.

    where: the name or file of the sort's target.  label: the label of the sort, None for the label of the measured
    sort.  spans: the counts at which the alternative is measured, None for every count.
    """

    name: str
    where: str
    target: Target
    label: str | None
    spans: tuple[tuple[int, int], ...] | None = None

    def sort(self, measured: Sort, host: hosts.Host) -> Sort:
        """Return the alternative's sort for the keys and values of the measured sort.

        Raises:
            Usage: the target has no such sort.
            Unavailable: the device cannot run the sort.
        """
        if host.api not in self.target.apis:
            raise Usage(f"alternative {self.name}: target {self.target.name} has no kernels for {host.api}")
        if self.label == PLAIN:
            sort = self.target.default(
                measured.label,
                Signature(value=measured.signature.value, key_transform=measured.signature.key_transform),
            )
        else:
            sort = self.target.sort(self.label or measured.algorithm, measured.label, measured.signature)
        if lacking := hosts.lacks(sort, host):
            raise Unavailable(f"alternative {self.name}: {host.label} {lacking}")
        return sort


def read(names: Sequence[str], target: str) -> dict[str, Alternative]:
    """Return the sorts of hsgen among the names of baselines.

    A sort is named hsgen:LABEL, hsgen:TARGET or hsgen:FILE.toml.  LABEL alone is a sort of `target`, the measured
    sort's target. :LABEL may follow a target or file.

    Raises:
        Usage: a name is invalid.
    """
    alternatives = {}
    for name in names:
        if name.startswith(PREFIX) and name != EACH:
            alternatives[name] = _read(name, target)
    return alternatives


def _read(name: str, default: str) -> Alternative:
    where, label = _split(name.removeprefix(PREFIX))
    if label is None and where not in target_files.names() and not where.endswith(".toml"):
        where, label = default, where
    target = target_files.find(where)
    labels = [target_files.AUTO, *sorted({x for x, _ in target.choices if operation(x).by_count}), PLAIN]
    if label is not None and label not in labels:
        known = f"{', '.join(labels)}, or a target, or a file that ends in .toml"
        raise Usage(f"alternative {name}: {target.name} has no sort '{label}'; name one of {known}")
    return Alternative(name=name, where=where, target=target, label=label)


def alone(sort: Sort, where: str) -> dict[str, Alternative]:
    """Return each sort of a plan as an alternative to the plan, at the counts at which the plan uses another sort.

    Raises:
        Usage: the sort is not the plan of a target for any count.
    """
    if sort.algorithm != target_files.AUTO:
        raise Usage(f"alternative {EACH}: {sort.name} is no sort for any count; leave out --algorithm")
    target, out = target_files.find(where), {}
    serving = [part for part in sort.parts if part.min_n < part.max_n]
    for label in dict.fromkeys(part.label for part in serving):
        greatest = target.sort(label, sort.label, sort.signature).plan.max_n
        parts = [part for part in serving if part.label != label and part.min_n < greatest]
        spans = tuple((part.min_n, min(part.max_n, greatest)) for part in parts)
        name = f"{PREFIX}{label}"
        out[name] = Alternative(name=name, where=where, target=target, label=label, spans=spans)
    return out


def planned(sort: Sort, where: str, host: hosts.Host) -> bool:
    """Return True if a sort is a target's plan for its own device, and selects among several sorts by count."""
    several = len({part.label for part in sort.parts if part.min_n < part.max_n}) > 1
    return sort.algorithm == target_files.AUTO and several and hosts.matches(target_files.find(where), host)


def spans(alternatives: dict[str, Alternative]) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the spans of the alternatives that are not measured at every count."""
    return {name: a.spans for name, a in alternatives.items() if a.spans is not None}


def _split(text: str) -> tuple[str, str | None]:
    """Return a target or file, and the label that follows it or None; a text that ends in .toml is a file."""
    where, colon, label = text.rpartition(":")
    return (where, label) if colon and not text.endswith(".toml") else (text, None)


def engines(alternatives: dict[str, Alternative], measured: Sort, host: hosts.Host) -> dict[str, Engine]:
    """Return the engines of sorts that run through pyopencl, by name."""
    return {
        name: places.direct(host, alternative.sort(measured, host), strict=True)
        for name, alternative in alternatives.items()
    }


def requests(alternatives: dict[str, Alternative], measured: Sort, host: hosts.Host, drive: Drive) -> dict[str, Any]:
    """Return the worker's requests for engines of sorts that run through the C runtime, by name."""
    out = {}
    for name, alternative in alternatives.items():
        sort = alternative.sort(measured, host)
        library = str(drive.library(alternative.target, sort))
        out[name] = {
            "library": library,
            "target": alternative.where,
            "algorithm": sort.algorithm,
            "signature": asdict(sort.signature),
            "max_n": sort.limit,
        }
    return out
