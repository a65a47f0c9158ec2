"""Calls of a validation with run boundaries or an epilogue after the sort."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.operations.calls import Call
from hsgen.stages.attach import report_length, report_words


def boundaries(call: Call, sort: Sort, rng: np.random.Generator) -> Call:
    """Return `call` with the run boundaries of its output as expected report; runs are of the bits above a random bit.

    The random bit is the option `shift`.
    """
    shift = int(rng.integers(0, sort.plan.bits))
    keys = call.expected
    if keys is None:  # an argsort that discards keys
        keys = call.keys[oracle.permutation(call.keys, sort, call.how)]
    return replace(call, how=replace(call.how, shift=shift), report=oracle.changes(keys, sort, shift))


def supplied(call: Call, sort: Sort, rng: np.random.Generator) -> Call:
    """Return `call` for a sort with an epilogue.

    The epilogue may write any report, but not outside the report's buffer.
    """
    room = report_length(sort, call.n) if report_words(sort) != (0, 0) else None
    return replace(call, how=replace(call.how, shift=int(rng.integers(0, sort.plan.bits))), report_room=room)
