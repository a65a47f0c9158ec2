"""The command-line options that name the baselines of `hsgen bench`, and the baselines that are themselves sorts of
hsgen.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from hsgen.algorithms import operation
from hsgen.apis.cuda import CCCL
from hsgen.cli import engines as places
from hsgen.cli.drive import Drive
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.engines import hosts
from hsgen.engines.engine import Engine
from hsgen.targets import target as target_files
from hsgen.targets.target import Target
from hsgen.tools.bench.baselines import KNOWN
from hsgen.tools.bench.baselines.build import PEERS

PREFIX = "hsgen:"
EACH = "hsgen:each"
"""The name of a set of baselines.  The measured sort "auto" selects among several sorts by the number of keys; each of
these sorts is a baseline.
"""
PLAIN = "plain"
"""The label of a baseline: the sort "auto" for the same keys and values as the measured sort, but without features such
as bit ranges.
"""


def named(context: click.Context, option: click.Parameter, value: str | None) -> list[str] | None:
    """Return the names that --against lists, each once.

    Raises:
        Usage: a name is neither a known baseline nor a sort of hsgen.
    """
    if value is None:
        return None
    names = list(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    for name in names:
        if name not in KNOWN and not name.startswith(PREFIX):
            raise Usage(
                f"baseline {name}: unknown; known are {', '.join(KNOWN)}, and hsgen:LABEL and others for alternatives"
            )
    return names


def headers(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Make baselines use CUB's headers in the folder that --cccl names.

    Raises:
        Usage: the folder has no headers of CUB.
    """
    if value is None:
        return
    if not (Path(value) / "cub" / "cub.cuh").is_file():
        raise Usage(f"--cccl {value}: has no cub/cub.cuh; give a folder such as nvidia/cu13/include/cccl")
    os.environ[CCCL] = str(Path(value).resolve())


def sources(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Make baselines use sources in the folder that --peer-source names.

    Raises:
        Usage: there is no such folder.
    """
    if value is None:
        return
    if not Path(value).is_dir():
        raise Usage(f"--peer-source {value}: is no folder; give that of a baseline's sources")
    os.environ[PEERS] = str(Path(value).resolve())


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A sort of hsgen that serves as a baseline.

    where: the name of the sort's target, or the path of the target's file.
    label: an algorithm or variant, such as radix-onesweep; None means the algorithm of the measured sort.
    spans: the ranges of counts at which the sort is measured; None means all counts.
    """

    name: str
    where: str
    target: Target
    label: str | None
    spans: tuple[tuple[int, int], ...] | None = None

    def sort(self, measured: Sort, host: hosts.Host) -> Sort:
        """Return the sort that this alternative names, for the keys and values of the measured sort.

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
    """Return the alternative, by name, for each of the `names` that begins with "hsgen:", except `EACH`.

    The name is hsgen:LABEL, hsgen:TARGET or hsgen:FILE.toml.  The last two may be followed by :LABEL.  A LABEL
    without a target or file is a sort of `target`, the measured sort's target.

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
    """Return an `Alternative`, by name, for each of the sorts among which `sort`, which is "auto", selects by count.

    Each is measured only at counts for which "auto" selects another sort; these ranges are its `spans`.

    Raises:
        Usage: the sort is not "auto".
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
    """Return True if a sort is "auto" and selects among several sorts, and the device belongs to its target."""
    several = len({part.label for part in sort.parts if part.min_n < part.max_n}) > 1
    return sort.algorithm == target_files.AUTO and several and hosts.matches(target_files.find(where), host)


def spans(alternatives: dict[str, Alternative]) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the `spans` of alternatives by name, without the alternatives that are measured at all counts."""
    return {name: a.spans for name, a in alternatives.items() if a.spans is not None}


def _split(text: str) -> tuple[str, str | None]:
    """Split TARGET:LABEL or FILE.toml:LABEL at the colon; the label is None if the text has no label."""
    where, colon, label = text.rpartition(":")
    return (where, label) if colon and not text.endswith(".toml") else (text, None)


def engines(alternatives: dict[str, Alternative], measured: Sort, host: hosts.Host) -> dict[str, Engine]:
    """Compile the alternatives for pyopencl; return their engines by name."""
    return {
        name: places.direct(host, alternative.sort(measured, host), strict=True)
        for name, alternative in alternatives.items()
    }


def requests(alternatives: dict[str, Alternative], measured: Sort, host: hosts.Host, drive: Drive) -> dict[str, Any]:
    """Build a library of the C runtime for each alternative; return, by name, the fields by which a worker loads it."""
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
