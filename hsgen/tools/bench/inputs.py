"""Generates the inputs of a benchmark, with the expected results."""

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
"""The functions that generate keys, by the name of the kind of input, such as random, entropy-0.81 or sorted."""


def load(sort: Sort, n: int, options: Options, rng: np.random.Generator, kind: str = "random") -> Load:
    """Return the input of a call: `n` keys of a kind, with values if the sort has values, and the expected results.

    The kind refers to the key type and the order of the call.  For example, keys of the kind `sorted` are descending
    floats if the call sorts floats in descending order.  In random keys of any type, all bits are random.  The input of
    a merge is two sorted arrays, the halves of these keys.  `options` has the number of segments; their lengths are
    equal or random.
    """
    keys = unordered(INPUTS[kind](rng, n, np.dtype(f"u{sort.key.bytes}")), options.kind, descending=options.descending)
    work = operations.of(sort).load(sort, keys, values_for(rng, n, sort), options, rng)
    return replace(work, kind=kind)


def for_alternative(work: Load, sort: Sort, alternative: Sort) -> Load:
    """Return the input of another sort, `alternative`, with the keys and values of `work` and its own expected results.

    Usually the expected results are those of `sort`.  There are two exceptions.  Certain sorts compare packed words by
    all 64 bits.  And if the operation or the signature differs from that of `sort`, `alternative` sorts all keys as one
    array, by all bits.
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
