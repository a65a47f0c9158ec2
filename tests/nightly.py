"""Cases that only the nightly run executes (HSGEN_NIGHTLY=1, or HSGEN_NIGHTLY=all for every one of them).

The fast run tries each kind of case once or twice, so that `make test` stays within 8 minutes on two cores; pytest
prints the number of deselected tests.  `fast.py` further thins the slowest tests.  `night.py` thins what the
nightly run adds, so that its tests stay within about two hours.  The fast run compiles kernels without optimization;
the nightly run, and the validations of .ci/run, compile them as users do.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from typing import Any, TypeVar

import pytest

EVERY = os.environ.get("HSGEN_NIGHTLY") == "all"
NIGHTLY = EVERY or os.environ.get("HSGEN_NIGHTLY") == "1"
T = TypeVar("T")


def nightly(*case: Any, id: str | None = None) -> Any:
    """Mark a case of a parametrized test as nightly; a test itself has the decorator `pytest.mark.nightly`."""
    assert not any(getattr(x, "__name__", "").startswith("test_") for x in case), "a test would not be collected"
    return pytest.param(*case, marks=pytest.mark.nightly, id=id)


def nightly_except(cases: Iterable[Any], chosen: Container[Any]) -> list[Any]:
    """Return all cases; the fast run executes only those in `chosen`.  A tuple has one value per parameter."""
    return [case if case in chosen else _nightly(case) for case in cases]


def sampled(items: Iterable[T], step: int) -> list[T]:
    """Return all items in the nightly run; every `step`th item in the fast run."""
    return list(items)[:: 1 if NIGHTLY else step]


def thinned(cases: Iterable[Any], step: int, first: int = 0) -> list[Any]:
    """Return all cases; the fast run executes every `step`th, from number `first` on.

    A step that is coprime to the lengths of the lists whose product the cases are covers all elements of these lists.
    """
    return [case if i % step == first else _nightly(case) for i, case in enumerate(cases)]


def _nightly(case: Any) -> Any:
    """A case, possibly a `pytest.param`, with the nightly mark."""
    if isinstance(case, type(pytest.param())):
        return case._replace(marks=(*case.marks, pytest.mark.nightly))
    return nightly(*case) if isinstance(case, tuple) else nightly(case)
