"""What the nightly run alone tries (HSGEN_NIGHTLY=1): more of the same, which together takes long.

By day each kind of a thing is tried once or twice, so that `make test` stays within minutes; pytest says how many tests
it deselected.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

NIGHTLY = os.environ.get("HSGEN_NIGHTLY") == "1"


def nightly(*case: Any, id: str | None = None) -> Any:
    """Return a case of a parametrized test that only the nightly run has."""
    return pytest.param(*case, marks=pytest.mark.nightly, id=id)


def thinned(cases: Iterable[Any], step: int, first: int = 0) -> list[Any]:
    """Return all cases, of which by day each `step`th is run, from number `first` on.

    A step that has no divisor in common with the lengths of the lists that make up the cases meets all their elements.
    """
    found = []
    for i, case in enumerate(cases):
        made = (
            case
            if isinstance(case, type(pytest.param()))
            else pytest.param(*(case if isinstance(case, tuple) else (case,)))
        )
        found.append(made if i % step == first else made._replace(marks=(*made.marks, pytest.mark.nightly)))
    return found
