"""What is sorted in a benchmark, and what must come of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hsgen import operations
from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.operations.calls import Load
from hsgen.operations.inputs import KINDS
from hsgen.operations.oracle import results, unordered, values_for

INPUTS = {name.replace(" ", "-"): make for name, make in KINDS.items()}
"""Every kind of input by the name that command lines and rows have for it: random, entropy-0.81, sorted and so on."""


def load(sort: Sort, n: int, how: Options, rng: np.random.Generator, kind: str = "random") -> Load:
    """Return n keys of a kind with values for them.

    Kinds are of the keys in the order that is asked for: `sorted` floats are in the order of floats, and in descending
    order where the sort is to bring them there.  Random keys are random in each of their bits, whatever their type.
    A merge gets the halves of these keys, each in order.  Segments, as many as `how` counts, are rows of equal
    length where it says so, and else cut at random.
    """
    keys = unordered(INPUTS[kind](rng, n, np.dtype(f"u{sort.key.bytes}")), how.kind, descending=how.descending)
    made = operations.of(sort).load(sort, keys, values_for(rng, n, sort), how, rng)
    return replace(made, kind=kind)


def for_rival(work: Load, own: Sort, theirs: Sort) -> Load:
    """Return the same keys and values for another sort, and what that must make of them.

    Merge sorts of packed words compare these whole.  A sort that has less to do than `own`, or something else, gets all
    keys as one array, and sorts all of them by all of their bits.
    """
    if (theirs.operation, theirs.signature) == (own.operation, own.signature) and theirs.signature.value != "packed":
        return work
    how, keys, values = work.how, work.keys, work.values
    if theirs.operation != own.operation or theirs.signature != own.signature:
        how = Options(kind=how.kind, descending=how.descending)
    if work.other is not None:
        keys = np.concatenate([keys, work.other])
    if values is not None and work.other_values is not None:
        values = np.concatenate([values, work.other_values])
    expected, after = results(theirs, how, keys, values)
    return Load(keys=keys, values=values, expected=expected, values_expected=after, how=how, kind=work.kind)
