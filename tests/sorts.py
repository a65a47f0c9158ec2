"""Sorts of parameters that no target has, and checks of their mutants, for tests of algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from models.radix.shapes import made

from hsgen.algorithms import operation, radix
from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.sort import Part, Sort
from hsgen.targets import assembly

Mutant = TypeVar("Mutant")

ROOMY = Device(
    subgroups=(1, 4, 8, 16, 32, 64, 128),
    shuffle=True,
    work_group=8192,
    groups=1 << 31,
    local_bytes=1 << 20,
    int64=True,
    storage8=True,
    storage16=True,
    binding_bytes=1 << 40,
    progress="started",
)
"""A device whose limits no shape of a test reaches."""


def sort_by(algorithm: str, params: Any, signature: Signature = PLAIN, **members: Any) -> Sort:
    """Return the sort of one algorithm for every count, assembled as for targets; `members` are others of Sort."""
    part = Part(algorithm=algorithm, params=params, min_n=0, max_n=2**62)
    kernels, plan, parts = assembly.assemble([part], "test", signature)
    members = {
        "operation": operation(algorithm).name,
        "kernels": kernels,
        "plan": plan,
        "parts": parts,
        "signature": signature,
        **members,
    }
    return Sort(target="test", algorithm=algorithm, key=params.key, **members)


GRID: dict[str, Any] = {"bits": 5, "items": 3, "work_group": 64, "subgroup": 32, "groups": 4, "least": 1, "single": 0}
"""The shape of `grid_sort`: 64 lanes with 3 keys each in up to 4 work-groups."""


def grid_sort(key: str = "u32", signature: Signature = PLAIN, **values: Any) -> Sort:
    """Return a sort in one cooperative launch, of the shape `GRID` changed by `values`."""
    p = made(key, {"signature": signature, "coordination": "grid", **{"ranker": "match_ballot", **GRID, **values}})
    return sort_by("radix", p, signature)


def radix_params(sort: Sort) -> radix.Params:
    """Return the parameters of a sort whose first part is a radix sort."""
    p = sort.parts[0].params
    assert isinstance(p, radix.Params)
    return p


def survivors(
    mutants: Iterable[tuple[str, Mutant]], check: Callable[[Mutant], None], fault: type[Exception]
) -> tuple[int, list[str]]:
    """Return the number of mutants, and the names of those that `check` accepts: without `fault` or a failed access."""
    tried, survived = 0, []
    for name, mutant in mutants:
        tried += 1
        try:
            check(mutant)
        except (AssertionError, fault, KeyError, ValueError, IndexError):
            continue
        survived.append(name)
    return tried, survived
