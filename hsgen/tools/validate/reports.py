"""Calls of a validation with something behind the sort: a report of where keys change, or an epilogue."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.operations.calls import Call
from hsgen.stages.attach import report_length, report_words


def told(call: Call, sort: Sort, rng: np.random.Generator) -> Call:
    """Return the call of a sort with what it tells of the keys that it sorted, from a bit of theirs on."""
    shift = int(rng.integers(0, sort.plan.bits))
    keys = call.expected
    if keys is None:  # an argsort that leaves them away
        keys = call.keys[oracle.permutation(call.keys, sort, call.how)]
    return replace(call, how=replace(call.how, shift=shift), report=oracle.changes(keys, sort, shift))


def supplied(call: Call, sort: Sort, rng: np.random.Generator) -> Call:
    """Return the call of a sort with an epilogue, whose report is left to its user but must stay within its room."""
    room = report_length(sort, call.n) if report_words(sort) != (0, 0) else None
    return replace(call, how=replace(call.how, shift=int(rng.integers(0, sort.plan.bits))), report_room=room)
