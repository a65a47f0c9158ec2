"""The inputs of a benchmark, and the expected results."""

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
"""Every kind of input by its name on command lines and in rows: random, entropy-0.81, sorted and so on."""


def load(sort: Sort, n: int, how: Options, rng: np.random.Generator, kind: str = "random") -> Load:
    """Return n keys of a kind, with values for them.

    Kinds respect type and order of the call: `sorted` floats are in the order of floats, descending for a descending
    sort.  All bits of random keys are random, regardless of their type.  A merge gets the sorted halves of these keys.
    Segments, of the number in `how`, have equal or random lengths.
    """
    keys = unordered(INPUTS[kind](rng, n, np.dtype(f"u{sort.key.bytes}")), how.kind, descending=how.descending)
    made = operations.of(sort).load(sort, keys, values_for(rng, n, sort), how, rng)
    return replace(made, kind=kind)


def for_alternative(work: Load, own: Sort, theirs: Sort) -> Load:
    """Return the same keys and values for another sort, with its expected results.

    These differ for packed words, which some sorts compare by all 64 bits.  A sort of another operation or signature
    than `own` gets all keys as one array, and sorts them by all bits.
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
