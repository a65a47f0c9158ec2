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
"""Every kind of input, by its name on command lines and in rows, such as random, entropy-0.81 or sorted."""


def load(sort: Sort, n: int, options: Options, rng: np.random.Generator, kind: str = "random") -> Load:
    """Return `n` keys of a kind, and their values, with the expected results of a call.

    Kinds respect the type and order of the call: `sorted` floats are in the order of floats, descending for a
    descending sort.  All bits of random keys are random for every type.  The input of a merge is two sorted halves of
    these keys.  `options` has the number of segments, whose lengths are equal or random.
    """
    keys = unordered(INPUTS[kind](rng, n, np.dtype(f"u{sort.key.bytes}")), options.kind, descending=options.descending)
    work = operations.of(sort).load(sort, keys, values_for(rng, n, sort), options, rng)
    return replace(work, kind=kind)


def for_alternative(work: Load, sort: Sort, alternative: Sort) -> Load:
    """Return the keys and values of `work` for another sort, with its expected results.

    The results differ for packed words, which some sorts compare by all 64 bits.  A sort of another operation or
    signature than `sort` sorts all keys as one array by all bits.
    """
    if (alternative.operation, alternative.signature) == (
        sort.operation,
        sort.signature,
    ) and alternative.signature.value != "packed":
        return work
    options, keys, values = work.how, work.keys, work.values
    if alternative.operation != sort.operation or alternative.signature != sort.signature:
        options = Options(kind=options.kind, descending=options.descending)
    if work.other is not None:
        keys = np.concatenate([keys, work.other])
    if values is not None and work.other_values is not None:
        values = np.concatenate([values, work.other_values])
    expected, after = results(alternative, options, keys, values)
    return Load(keys=keys, values=values, expected=expected, values_expected=after, how=options, kind=work.kind)
