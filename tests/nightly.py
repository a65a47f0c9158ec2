"""What the nightly run alone tries (HSGEN_NIGHTLY=1): more of the same, which together takes long.

The fast run tries each kind of a thing once or twice, so that `make test` stays within 10 minutes on two cores; pytest
prints how many tests it deselected.  `fast.py` thins what takes longest further.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from typing import Any

import pytest

NIGHTLY = os.environ.get("HSGEN_NIGHTLY") == "1"


def nightly(*case: Any, id: str | None = None) -> Any:
    """Return a case of a parametrized test that only the nightly run has."""
    return pytest.param(*case, marks=pytest.mark.nightly, id=id)


def by_day(cases: Iterable[Any], chosen: Container[Any]) -> list[Any]:
    """Return all cases, of which by day those that are chosen are run; a tuple has a value for each parameter."""
    return [case if case in chosen else _late(case) for case in cases]


def thinned(cases: Iterable[Any], step: int, first: int = 0) -> list[Any]:
    """Return all cases, of which by day each `step`th is run, from number `first` on.

    A step that has no divisor in common with the lengths of the lists that make up the cases meets all their elements.
    """
    return [case if i % step == first else _late(case) for i, case in enumerate(cases)]


def _late(case: Any) -> Any:
    """A case, that of `pytest.param` too, with the mark."""
    if isinstance(case, type(pytest.param())):
        return case._replace(marks=(*case.marks, pytest.mark.nightly))
    return nightly(*case) if isinstance(case, tuple) else nightly(case)
