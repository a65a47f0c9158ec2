"""Validates sorts of so many keys that the host cannot check them with numpy.

The device computes a digest of the array before and after the sort.  The host compares only the digests.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hsgen import operations
from hsgen.algorithms import implicit_for
from hsgen.core.errors import Usage
from hsgen.core.interpreter import PLAIN
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.engines.engine import KEYS, REPORT, VALUES, VALUES_OUT, Engine, Places
from hsgen.operations.digest import ARGSORT_VALUES, OPERATION, WORDS, Digest, read
from hsgen.targets.target import Target

BEHIND = 1024
"""The number of elements after the array that are checked too; a sort must not change them."""
_CHUNK = 1 << 24  # number of random keys that are generated at once, to save memory


def checks(target: Target, sort: Sort) -> tuple[Sort, Sort]:
    """Return the operations that compute the digests of a sort's input and output; they differ only for argsorts.

    Raises:
        Usage: the sort has a device-side count, run boundaries or an epilogue, or no digest supports it.
    """
    if not operations.of(sort).digested or sort.signature.device_count or sort.signature.followed:
        unsupported = "a count on the device, changes and an epilogue"
        raise Usage(f"{sort.name}: only sorts without {unsupported} are checked so")
    key = "u32" if sort.signature.value == "packed" else sort.label
    signature = Signature(value=sort.signature.value, key_transform=sort.signature.key_transform)
    label = implicit_for(OPERATION)
    before = target.sort(label, key, signature, sort.limit)
    output = replace(signature, value=ARGSORT_VALUES.get(signature.value, signature.value))
    return before, target.sort(label, key, output, sort.limit) if signature.index else before


def faults(engine: Engine, by: tuple[Sort, Sort], n: int, seed: int) -> tuple[str, ...]:
    """Sort `n` random keys in place on the device; return the names of the faults that the digests show.

    `hsgen.operations.digest` defines the names.  `by` are the digest operations for input and output, from `checks`.

    Raises:
        Usage: n exceeds the greatest count of the sort or of a digest.
    """
    sort, before = engine.sort, engine.sibling(by[0])
    most = min(sort.plan.max_n, *(c.plan.max_n - BEHIND for c in by))
    if n > most:
        raise Usage(f"count {n}: {sort.name} is checked for up to {most} keys")
    room = n + BEHIND
    at = _filled(engine, room, seed)
    size = 0 if sort.signature.index else room  # an argsort's input has no values
    first = _digest(before, at, n, size)
    engine.renew()
    out = {"destination": at["source"], **({"values_out": (VALUES_OUT, 0)} if sort.signature.index else {})}
    if "values" in at:
        out["values_out"] = at["values"]
    engine.run(n, {**at, **out}, PLAIN)
    after = engine.sibling(by[1])
    output: Places = {"source": at["source"], "values": (VALUES_OUT, 0)} if sort.signature.index else at
    return _digest(after, output, n, size).faults(first, stable=sort.signature.value_bytes > 0)


def _filled(engine: Engine, room: int, seed: int) -> dict[str, tuple[int, int]]:
    """Fill buffers with `room` random keys, and with their indices as values if the sort has values.

    Return (buffer, byte offset) by role for the buffers that the sort reads.
    """
    sort, rng = engine.sort, np.random.default_rng(seed)
    keys = np.empty(room, f"u{sort.key.bytes}")
    for begin in range(0, room, _CHUNK):
        part = keys[begin : begin + _CHUNK]
        part[:] = rng.integers(0, sort.key.greatest, len(part), keys.dtype, endpoint=True)
    engine.allocate(KEYS, keys.nbytes)
    engine.write(KEYS, keys)
    del keys
    engine.allocate(REPORT, 4 * WORDS)
    width = sort.signature.value_bytes
    if sort.signature.index:
        engine.allocate(VALUES_OUT, room * width)
    elif width:
        values = np.zeros((room, width // 4), np.uint32)
        values[:, 0] = np.arange(room)
        engine.allocate(VALUES, values.nbytes)
        engine.write(VALUES, values)
        return {"source": (KEYS, 0), "values": (VALUES, 0)}
    return {"source": (KEYS, 0)}


def _digest(check: Engine, at: Places, n: int, size: int) -> Digest:
    check.run(n, {**at, "report": (REPORT, 0)}, replace(PLAIN, capacity=size))
    words = np.empty(WORDS, np.uint32)
    check.read(REPORT, words)
    return read(words)
