"""Segmented sorts, merges, digests, and sorts with run boundaries or an epilogue, through an engine, compared with
numpy.

`python kinds.py API LIBRARY TARGET KIND OPTIONS` runs them through the C runtime in a separate process, and prints as
JSON what `wrong` returns, or the messages of validation layers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.engines import selection
from hsgen.engines.engine import KEYS, KEYS_OUT, OTHER, OTHER_VALUES, REPORT, VALUES, VALUES_OUT, Engine
from hsgen.engines.harness import Harness, Native
from hsgen.system import toolchain
from hsgen.targets import target

Words = NDArray[np.uint32]
MARK = 0xA5A5A5A5
GUARD = 16
"""Guard u32 after each buffer."""


EPILOGUE = """
{% set report_words = 2 %}
{% set report_words_per_key = 4 %}
{% macro epilogue(i, n, key, before, value, report, shift) %}
hs_atomic_add({{ report(0) }}, hs_key_bits({{ key }}, 0));
if ({{ i }} == {{ n }} - 1) {{ report(1) }} = hs_to_u32({{ n }});
{{ report("2 + 4 * %s" | format(i)) }} = hs_key_bits({{ before }}, 0);
{{ report("3 + 4 * %s" | format(i)) }} = {{ value() }};
{{ report("4 + 4 * %s" | format(i)) }} = {{ value(1) }};
{{ report("5 + 4 * %s" | format(i)) }} = hs_key_bits({{ key }}, 0) >> {{ shift }};
{% endmacro %}
"""


def sort_of(name: str, kind: str) -> Sort:
    """The sort of a kind: merges have values, and sorts with an epilogue report 8 bytes."""
    signatures = {
        "merge_path": Signature(value="v4", key_transform=True),
        "changes": Signature(run_boundaries=True),
        "epilogue": Signature(value="v8", epilogue=EPILOGUE),
    }
    return target.find(name).sort(label(kind), "u32", signatures.get(kind, Signature(key_transform=True)))


def label(kind: str) -> str:
    """The algorithm of a kind."""
    return "auto" if kind in ("changes", "epilogue") else kind


def call(engine: Engine, n: int, given: Mapping[str, tuple[int, Words]], **how: Any) -> dict[int, Words]:
    """Call with these arrays by role, each in its slot; return the content of all slots afterwards."""
    for slot, data in {slot: data for slot, data in given.values()}.items():
        image = np.append(data, np.full(GUARD, MARK, np.uint32))
        engine.allocate(slot, image.nbytes)
        engine.write(slot, image)
    engine.run(n, {role: (slot, 0) for role, (slot, _) in given.items()}, Options(**how))
    after = {}
    for slot, data in given.values():
        image = np.empty(len(data) + GUARD, np.uint32)
        engine.read(slot, image)
        assert (image[len(data) :] == MARK).all(), f"memory beyond buffer {slot} was written"
        after[slot] = image[: len(data)]
    return after


def merges(engine: Engine, rng: np.random.Generator) -> int:
    """Merges with either array empty, and of arrays with many equal keys; return the number of calls."""
    cases = [(0, 0), (1, 0), (1, 1), (2, 1), (1000, 300), (5000, 0), (5000, 5000), (70001, 12345)]
    for n, parts in cases:
        for descending in (False, True):
            keys = rng.integers(0, 50, n, np.uint32)
            a, b = (np.sort(x)[:: -1 if descending else 1] for x in (keys[:parts], keys[parts:]))
            values = np.arange(n, dtype=np.uint32)
            given = {"destination": (KEYS_OUT, np.full(n, MARK, np.uint32))}
            given["values_out"] = (VALUES_OUT, np.full(n, MARK, np.uint32))
            if parts:
                given |= {"source": (KEYS, a), "values": (VALUES, values[:parts])}
            if n > parts:
                given |= {"other": (OTHER, b), "other_values": (OTHER_VALUES, values[parts:])}
            after = call(engine, n, given, first_count=parts, descending=descending)
            both = np.append(a, b).astype(np.int64)
            order = np.argsort(-both if descending else both, kind="stable")
            assert (after[KEYS_OUT] == both[order]).all() and (after[VALUES_OUT] == values[order]).all(), (n, parts)
    return 2 * len(cases)


def segments(engine: Engine, rng: np.random.Generator) -> int:
    """Segments by offsets and rows, in place and out of place, and refused offsets; return the number of calls."""
    done = 0
    for n, parts in [(0, 0), (1, 1), (1000, 10), (1000, 1000), (30000, 3), (65536, 512)]:
        for rows in (False, True):
            for in_place in (False, True):
                keys = rng.integers(0, 2**32, n, np.uint32)
                cuts = (
                    np.sort(rng.integers(0, n + 1, parts + 1))
                    if not rows
                    else np.arange(parts + 1) * (n // max(parts, 1))
                )
                expected = keys.copy()
                for i in range(parts):
                    expected[cuts[i] : cuts[i + 1]].sort()
                given = {"source": (KEYS, keys), "destination": (KEYS, keys)}
                if not in_place:
                    given["destination"] = (KEYS_OUT, np.full(n, MARK, np.uint32))
                if not rows:
                    given["other"] = (OTHER, cuts.astype(np.uint32))
                after = call(engine, n, given, segment_count=parts)
                assert (after[KEYS if in_place else KEYS_OUT] == expected).all(), (n, parts, rows, in_place)
                assert engine.device_status() == 0
                done += 1
    keys = rng.integers(0, 2**32, 1000, np.uint32)
    for bad in ([0, 600, 500, 1000], [0, 10, 20, 1001]):
        given = {"source": (KEYS, keys), "destination": (KEYS, keys), "other": (OTHER, np.array(bad, np.uint32))}
        assert (call(engine, 1000, given, segment_count=3)[KEYS] == keys).all() and engine.device_status() != 0, bad
        done += 1
    return done


def checks(engine: Engine, rng: np.random.Generator) -> int:
    """Digests of no key, some keys, and keys beyond the sorted ones; return the number of calls."""
    cases = [(0, 0), (0, 100), (1, 0), (1000, 0), (1000, 900), (1000, 1500), (70001, 70100)]
    for n, parts in cases:
        keys = rng.integers(0, 2**32, max(n, parts), np.uint32)
        told = []
        for what in (keys, np.append(rng.permutation(keys[:n]), keys[n:]), keys ^ np.uint32(n == 0)):
            given = {"report": (REPORT, np.full(8, MARK, np.uint32))}
            if len(keys):
                given["source"] = (KEYS, what)
            after = call(engine, n, given, capacity=parts)
            report = after[REPORT]
            descents = int((what[: max(n - 1, 0)] > what[1 : max(n, 1)]).sum())
            assert report[7] == n and report[4] == descents, (n, parts, [int(x) for x in report])
            assert not len(keys) or (after[KEYS] == what).all()
            told.append(report)
        assert (told[0][[0, 1, 6]] == told[1][[0, 1, 6]]).all(), (n, parts)
        assert n or not parts or told[0][6] != told[2][6], "keys beyond n changed unnoticed"
    return 3 * len(cases)


def changes(engine: Engine, rng: np.random.Generator) -> int:
    """Sorts of keys with runs that are equal above a bit; return the number of calls."""
    cases = [(0, 0), (1, 31), (2, 0), (1000, 0), (1000, 20), (70001, 16), (70001, 31)]
    for n, shift in cases:
        keys = rng.integers(0, 2**32, n, np.uint32)
        expected = np.sort(keys)
        heads = expected >> np.uint32(shift)
        begins = np.flatnonzero(np.append(np.ones(min(n, 1), bool), heads[1:] != heads[:-1]))
        for in_place in (False, True):
            given = {"report": (REPORT, np.full(n + 1, MARK, np.uint32))}
            if n:
                given |= {"source": (KEYS, keys), "destination": (KEYS, keys)}
            if n and not in_place:
                given["destination"] = (KEYS_OUT, np.full(n, MARK, np.uint32))
            after = call(engine, n, given, shift=shift)
            assert not n or (after[KEYS if in_place else KEYS_OUT] == expected).all(), (n, shift)
            report = after[REPORT]
            assert report[0] == len(begins), (n, shift, int(report[0]), len(begins))
            assert (report[1 : 1 + len(begins)] == begins).all(), (n, shift)
    return 2 * len(cases)


def epilogues(engine: Engine, rng: np.random.Generator) -> int:
    """Sorts whose epilogue reports everything available to it; return the number of calls."""
    cases = [(0, 0), (1, 31), (2, 0), (2047, 3), (2049, 20), (70001, 16)]
    for n, shift in cases:
        keys, values = rng.integers(0, 2**32, n, np.uint32), rng.integers(0, 2**32, (n, 2), np.uint32)
        order = np.argsort(keys, kind="stable")
        for in_place in (False, True):
            told = np.append(np.zeros(2, np.uint32), np.full(4 * n, MARK, np.uint32))
            given = {"report": (REPORT, told)}
            if n:
                given |= {"source": (KEYS, keys), "destination": (KEYS, keys)}
                given |= {"values": (VALUES, values.reshape(-1)), "values_out": (VALUES, values.reshape(-1))}
            if n and not in_place:
                given["destination"] = (KEYS_OUT, np.full(n, MARK, np.uint32))
                given["values_out"] = (VALUES_OUT, np.full(2 * n, MARK, np.uint32))
            report = call(engine, n, given, shift=shift)[REPORT]
            expected = keys[order]
            assert report[0] == np.add.reduce(expected, dtype=np.uint32) and report[1] == n, (n, shift)
            rows = report[2:].reshape(n, 4)
            assert (rows[:, 0] == np.append(expected[:1], expected[:-1])).all(), (n, shift)
            assert (rows[:, 1:3] == values[order]).all(), (n, shift)
            assert (rows[:, 3] == expected >> np.uint32(shift)).all(), (n, shift)
    return 2 * len(cases)


KINDS: Mapping[str, Callable[[Engine, np.random.Generator], int]] = {
    "merge_path": merges,
    "segmented_sort": segments,
    "digest": checks,
    "changes": changes,
    "epilogue": epilogues,
}


def wrong(engine: Engine, kind: str) -> tuple[int, str]:
    """Try a kind: the number of calls, and what was wrong with one."""
    try:
        return KINDS[kind](engine, np.random.default_rng(1)), ""
    except AssertionError as e:
        return 0, str(e)


def main() -> None:
    """See above."""
    api, path, name, kind, options = sys.argv[1:6]
    if api == "opencl":
        toolchain.prepare_opencl()
    harness = Harness(Path(path))
    index = next(h.handle for h in harness.hosts(api) if api != "opencl" or selection.embedded(h))
    engine = Native(harness, api, sort_of(name, kind), index, options)
    count, problem = wrong(engine, kind)
    print(json.dumps((count, problem or engine.messages())))
    engine.close()


if __name__ == "__main__":
    main()
