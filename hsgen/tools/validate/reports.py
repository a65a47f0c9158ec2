"""Calls of a validation that tell something: digests of arrays, sorts that tell where keys change, and epilogues."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.operations import digests, oracle
from hsgen.stages.attach import report_length, report_words
from hsgen.tools.validate.cases import Keys
from hsgen.tools.validate.guarded import Call


def digested(sort: Sort, keys: Keys, how: Options, rng: np.random.Generator) -> Call:
    """Return the call that digests `keys`, in turns all of them and all but some, which are only looked at."""
    n = len(keys) - int(rng.integers(0, 3)) * min(len(keys), int(rng.integers(0, 300)))
    n = max(n, 0)
    values = oracle.values_for(rng, len(keys), sort)
    if values is not None and rng.integers(2):
        values[:, 0] = np.arange(len(keys))  # places, in their order
        values[:, 1:] = 0
    found = digests.model(sort, keys, values, n, how)
    how = replace(how, discard=False, parts=len(keys) if n < len(keys) else 0)
    report = np.array(found.words, np.uint32)
    return Call(n=n, keys=keys, expected=None, in_place=False, values=values, how=how, report=report)


def told(call: Call, sort: Sort, rng: np.random.Generator) -> Call:
    """Return the call of a sort with what it tells of the keys that it sorted, from a bit of theirs on."""
    shift = int(rng.integers(0, sort.plan.bits))
    keys = call.expected
    if keys is None:  # an argsort that leaves them away
        keys = call.keys[oracle.permutation(call.keys, sort, call.how)]
    return replace(call, how=replace(call.how, parts=shift), report=oracle.changes(keys, sort, shift))


def supplied(call: Call, sort: Sort, rng: np.random.Generator) -> Call:
    """Return the call of a sort with an epilogue, whose report is left to its user but must stay within its room."""
    room = report_length(sort, call.n) if report_words(sort) != (0, 0) else None
    return replace(call, how=replace(call.how, parts=int(rng.integers(0, sort.plan.bits))), report_room=room)
