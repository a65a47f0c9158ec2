"""What is sorted in a benchmark, and what must come of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options, bit_range
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.operations.oracle import ordered, permutation, values_expected, values_for
from hsgen.tools.validate import layouts
from hsgen.tools.validate.cases import KINDS, Keys

INPUTS = {name.replace(" ", "-"): make for name, make in KINDS.items()}
"""Every kind of input by the name that command lines and rows have for it: random, entropy-0.81, sorted and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is sorted in a benchmark, how, and what must come of it; values are rows of words.

    `kind` is a name in `INPUTS`.  Of a merge `keys` and `values` are the first array, `other` and `other_values` the
    second.  `offsets` are those of segments, one more than there are, also where these are rows.  `report` is what is
    told besides.
    """

    keys: Keys
    values: NDArray[Any] | None
    expected: Keys
    values_expected: NDArray[Any] | None
    how: Options
    kind: str = "random"
    other: Keys | None = None
    other_values: NDArray[Any] | None = None
    offsets: NDArray[np.int64] | None = None
    report: NDArray[np.uint32] | None = None

    @property
    def n(self) -> int:
        """The number of keys."""
        return len(self.expected)

    @property
    def copied(self) -> int:
        """The bytes of keys and values together."""
        return self.expected.nbytes + (0 if self.values_expected is None else self.values_expected.nbytes)


def load(sort: Sort, n: int, how: Options, rng: np.random.Generator, kind: str = "random") -> Load:
    """Return n keys of a kind with values for them.

    Kinds are of the keys in the order that is asked for: `sorted` floats are in the order of floats, and in descending
    order where the sort is to bring them there.  Random keys are random in each of their bits, whatever their type.
    A merge gets the halves of these keys, each in order.  Segments, as many as `how` has parts, are rows of equal
    length where it says so, and else cut at random.
    """
    keys = unordered(INPUTS[kind](rng, n, np.dtype(f"u{sort.key.bytes}")), how.kind, descending=how.descending)
    values = values_for(rng, n, sort)
    if sort.kind == "merge":
        return _halves(sort, how, kind, keys, values)
    if sort.kind == "segments":
        offsets = np.arange(how.parts + 1) * (n // how.parts) if how.rows else layouts.cut(rng, n, how.parts)
        expected, after = segmented(sort, how, keys, values, offsets)
        return Load(
            keys=keys, values=values, expected=expected, values_expected=after, how=how, kind=kind, offsets=offsets
        )
    expected, after = results(sort, how, keys, values)
    made = Load(keys=keys, values=values, expected=expected, values_expected=after, how=how, kind=kind)
    return replace(made, report=oracle.changes(expected, sort, how.parts)) if sort.form.changes else made


def _halves(sort: Sort, how: Options, kind: str, keys: Keys, values: NDArray[Any] | None) -> Load:
    """Both halves of the keys, brought in order, and what the merge of these is."""
    how = replace(how, parts=len(keys) // 2)
    plain = replace(sort, form=replace(sort.form, value="none"))
    first, other = (results(plain, how, half, None)[0] for half in (keys[: how.parts], keys[how.parts :]))
    expected, after = results(sort, how, np.concatenate([first, other]), values)
    return Load(
        keys=first,
        values=None if values is None else values[: how.parts],
        expected=expected,
        values_expected=after,
        how=how,
        kind=kind,
        other=other,
        other_values=None if values is None else values[how.parts :],
    )


def results(sort: Sort, how: Options, keys: Keys, values: NDArray[Any] | None) -> tuple[Keys, NDArray[Any] | None]:
    """Return what `sort` must make of keys and values; None for values where it returns none."""
    if sort.form.value == "none" and bit_range(sort.plan, how) == (0, sort.key.bits):
        # numpy sorts keys many times faster than it finds a stable permutation
        by = np.sort(ordered(keys, how.kind, descending=how.descending))
        return unordered(by, how.kind, descending=how.descending), None
    order = permutation(keys, sort, how)
    return keys[order], values_expected(values, order, sort)


def segmented(
    sort: Sort, how: Options, keys: Keys, values: NDArray[Any] | None, offsets: NDArray[np.int64]
) -> tuple[Keys, NDArray[Any] | None]:
    """Return what a sort of segments must make of keys and values, many times as fast as `layouts.permutation`."""
    by = ordered(keys, how.kind, descending=how.descending)
    slices = [slice(begin, end) for begin, end in pairwise(offsets.tolist())]
    if not sort.form.value_bytes:
        for part in slices:
            by[part].sort()
        return unordered(by, how.kind, descending=how.descending), None
    order = np.arange(len(keys))
    for part in slices:
        order[part] = part.start + np.argsort(by[part], kind="stable")
    return keys[order], values_expected(values, order, sort)


def for_rival(work: Load, own: Sort, theirs: Sort) -> Load:
    """Return the same keys and values for another sort, and what that must make of them.

    Merge sorts of packed words compare these whole.  A sort that has less to do than `own`, or something else, gets all
    keys as one array, and sorts all of them by all of their bits.
    """
    if (theirs.kind, theirs.form) == (own.kind, own.form) and theirs.form.value != "packed":
        return work
    how, keys, values = work.how, work.keys, work.values
    if theirs.kind != own.kind or theirs.form != own.form:
        how = Options(kind=how.kind, descending=how.descending)
    if work.other is not None:
        keys = np.concatenate([keys, work.other])
    if values is not None and work.other_values is not None:
        values = np.concatenate([values, work.other_values])
    expected, after = results(theirs, how, keys, values)
    return Load(keys=keys, values=values, expected=expected, values_expected=after, how=how, kind=work.kind)


def unordered(by: Keys, kind: int, *, descending: bool) -> Keys:
    """Return the keys of a kind (`hsgen.core.keys.Type`) that `oracle.ordered` turns into these unsigned numbers."""
    bits = 8 * by.dtype.itemsize
    sign, every = by.dtype.type(1 << (bits - 1)), by.dtype.type((1 << bits) - 1)
    by = by ^ every if descending else by
    if kind == 2:
        return np.where(by & sign != 0, by ^ sign, ~by)
    return by ^ sign if kind else by
