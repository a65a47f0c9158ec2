"""What is sorted in a benchmark, and what must come of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.cases import KINDS, Keys
from hsgen.oracle import ordered, permutation, values_expected, values_for
from hsgen.plan import Options, bit_range
from hsgen.spec import Sort

INPUTS = {name.replace(" ", "-"): make for name, make in KINDS.items()}
"""Every kind of input by the name that command lines and rows have for it: random, entropy-0.81, sorted and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is sorted in a benchmark, how, and what must come of it; values are rows of words.

    `kind` is a name in `INPUTS`.
    """

    keys: Keys
    values: NDArray[Any] | None
    expected: Keys
    values_expected: NDArray[Any] | None
    how: Options
    kind: str = "random"

    @property
    def copied(self) -> int:
        """The bytes of keys and values together."""
        return self.expected.nbytes + (0 if self.values_expected is None else self.values_expected.nbytes)


def load(sort: Sort, n: int, how: Options, rng: np.random.Generator, kind: str = "random") -> Load:
    """Return n keys of a kind with values for them.

    Kinds are of the keys in the order that is asked for: `sorted` floats are in the order of floats, and in descending
    order where the sort is to bring them there.  Random keys are random in each of their bits, whatever their type.
    """
    keys = unordered(INPUTS[kind](rng, n, np.dtype(f"u{sort.key.bytes}")), how.kind, descending=how.descending)
    values = values_for(rng, n, sort)
    expected, after = results(sort, how, keys, values)
    return Load(keys=keys, values=values, expected=expected, values_expected=after, how=how, kind=kind)


def results(sort: Sort, how: Options, keys: Keys, values: NDArray[Any] | None) -> tuple[Keys, NDArray[Any] | None]:
    """Return what `sort` must make of keys and values; None for values where it returns none."""
    if sort.form.value == "none" and bit_range(sort.plan, how) == (0, sort.key.bits):
        # numpy sorts keys many times faster than it finds a stable permutation
        by = np.sort(ordered(keys, how.kind, descending=how.descending))
        return unordered(by, how.kind, descending=how.descending), None
    order = permutation(keys, sort, how)
    return keys[order], values_expected(values, order, sort)


def unordered(by: Keys, kind: int, *, descending: bool) -> Keys:
    """Return the keys of a kind (`hsgen.keys.Type`) that `hsgen.oracle.ordered` turns into these unsigned numbers."""
    bits = 8 * by.dtype.itemsize
    sign, every = by.dtype.type(1 << (bits - 1)), by.dtype.type((1 << bits) - 1)
    by = by ^ every if descending else by
    if kind == 2:
        return np.where(by & sign != 0, by ^ sign, ~by)
    return by ^ sign if kind else by
