"""Reductions by key without a device: parameters of every target, plans, scratch, numbers of calls, the oracle.

- Every target that sorts has a reduction, whose kernels fit its local memory, for all keys.
- One launch serves up to a tile, n = 0 included; three launches serve more.
- Scratch holds the words of all spans, and is small.
"""

from __future__ import annotations

import numpy as np
import pytest

from hsgen import operations
from hsgen.algorithms import reduce_by_key
from hsgen.core.errors import Usage
from hsgen.core.flags import DEVICE_COUNT
from hsgen.core.interpreter import Options, argument, launches
from hsgen.core.keys import KEYS, TYPES, Signature
from hsgen.core.scratch import scratch_limit
from hsgen.operations.reduce_by_key import OPERATION, RUNS, number, reduced, starts
from hsgen.targets import target

VALUED = Signature(value="v4", floats=True)


@pytest.mark.parametrize("name", target.names())
def test_every_target_reduces(name: str) -> None:
    found = target.find(name)
    for key in ("u8", "u16", "f32", "u64"):
        wide = {"u8": found.device.storage8, "u16": found.device.storage16}.get(key, True)
        if not found.autos or not wide:
            with pytest.raises(Usage):
                found.sort("reduce_by_key", key)
            continue
        for signature in (Signature(), VALUED, Signature(value="v4", device_count=True)):
            sort = found.sort("reduce_by_key", key, signature)
            p = sort.parts[0].params
            assert sort.operation == "reduce_by_key" and sort.key.name == TYPES[key].key and sort.label == sort.key.name
            assert sort.signature.floats == (sort.signature.value == "v4") and not sort.signature.key_transform
            assert max(k.local_bytes(sort.key) for k in sort.kernels) <= p.local_bytes() <= found.device.local_bytes
            assert all(
                len(k.buffers) <= (9 if p.sections else 8) and k.work_group <= found.device.work_group
                for k in sort.kernels
            )
            assert p.items < 32 and p.items % 2 == 1 - p.sections and p.tile >= 128
            assert not p.sections or (p.items % 4 == 0 and p.work_group % p.subgroup == 0 and found.device.promised)
            for n in (p.tile + 1, 1 << 20, 1 << 30):
                assert sort.plan.scratch.bytes(n) <= scratch_limit(n, sort.key.bytes)
                assert sort.plan.scratch.bytes(n) <= (16 * -(-n // p.tile) + 2048 if p.sections else 1 << 16)


def test_what_a_reduction_does_not_serve() -> None:
    found = target.find("generic")
    for value in ("v8", "packed"):
        with pytest.raises(Usage):
            found.sort("reduce_by_key", "u32", Signature(value=value))
    for value in ("index", "index64"):
        assert OPERATION.signature(Signature(value=value)).value == "none"


def launched(n: int, signature: Signature = VALUED, **values: int) -> list[str]:
    small = {"work_group": 32, "items": 3, "groups": 5, **values}
    p = reduce_by_key.Params(key=KEYS["u32"], signature=signature, **small)
    return [x.step.kernel for x in launches(reduce_by_key.plan(p), n, in_place=False)]


def test_launches() -> None:
    assert launched(0) == launched(1) == launched(96) == ["single"]
    assert launched(97) == launched(1 << 30) == ["count", "write", "finish"]
    counted = Signature(device_count=True)
    assert launched(0, counted) == ["clear", "single"] and launched(97, counted)[0] == "clear"
    assert launched(97, subgroup=8, items=4) == ["single"]
    assert launched(129, subgroup=8, items=4) == launched(1 << 30, subgroup=8, items=4) == ["begin", "sections"]
    assert launched(129, counted, subgroup=8, items=4) == ["clear", "begin", "sections"]


@pytest.mark.parametrize("valued", [False, True])
def test_scratch_holds_the_words_of_all_spans(valued: bool) -> None:
    signature = VALUED if valued else Signature()
    p = reduce_by_key.Params(key=KEYS["u32"], signature=signature, work_group=32, items=3, groups=5)
    scratch = reduce_by_key.plan(p).scratch
    assert scratch.bytes(p.tile) == 0
    for n in range(p.tile + 1, 40 * p.tile, 7):
        tiles = -(-n // p.tile)
        each = -(-tiles // p.groups)
        spans = -(-tiles // each)
        assert spans <= p.groups and 4 * p.span_words * spans <= scratch.bytes(n)


@pytest.mark.parametrize("valued", [False, True])
def test_scratch_holds_the_states_of_all_tiles(valued: bool) -> None:
    signature = VALUED if valued else Signature()
    p = reduce_by_key.Params(key=KEYS["u32"], signature=signature, work_group=32, items=4, subgroup=8)
    scratch = reduce_by_key.plan(p).scratch
    assert scratch.bytes(p.tile) == 0
    for n in (*range(p.tile + 1, 40 * p.tile, 7), 1 << 30):
        assert 4 * (p.states + p.state_words * -(-n // p.tile)) <= scratch.bytes(n)


def test_the_number_of_a_call_says_what_is_stored() -> None:
    sort = target.find("generic").sort("reduce_by_key", "u32", VALUED)
    how = Options(reduction=number("max", "f32"))
    plain = operations.settled(sort, 5, how, ("source", "destination", "report"))
    assert plain.reduction == plain.number == 2 | 2 << 2
    whole = operations.settled(sort, 5, how, ("other", "other_values"))
    assert whole.reduction == plain.reduction | 16 | 32
    assert operations.settled(sort, 5, Options(device_count=True), ()).reduction == DEVICE_COUNT
    assert argument(sort.plan, sort.plan.steps[0], whole, in_place=False) == whole.reduction
    for reduction, value in (("mean", "u32"), ("sum", "u64"), ("sum", "f16")):
        with pytest.raises(Usage):
            number(reduction, value)


def test_expected_reductions() -> None:
    keys = np.array([5, 5, 2, 2, 2, 5], np.uint32)
    begins = starts(keys)
    assert begins.tolist() == [0, 2, 5] and starts(keys[:0]).tolist() == []
    signed = np.array([-1, -2, 3, -3, 0, 7], np.int32).view(np.uint32)
    for reduction, expected in (("sum", [-3, 0, 7]), ("min", [-2, -3, 7]), ("max", [-1, 3, 7])):
        assert reduced(signed, begins, number(reduction, "i32")).view(np.int32).tolist() == expected
    assert reduced(signed, begins, number("max", "u32"))[0] == np.uint32(2**32 - 1)
    floats = np.array([0.0, -0.0, -np.inf, np.nan, 1.0, -np.nan], np.float32)
    words = floats.view(np.uint32)
    assert reduced(words, begins, number("min", "f32")).tolist() == words[[1, 2, 5]].tolist(), "-0 is less than +0"
    assert reduced(words, begins, number("max", "f32")).tolist() == words[[0, 3, 5]].tolist(), "NaN is the greatest"
    assert len(reduced(words[:0], begins[:0], 0)) == 0


@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("key", KEYS)
def test_inputs_are_runs(kind: str, key: str) -> None:
    rng, dtype = np.random.default_rng(7), np.dtype(f"u{KEYS[key].bytes}")
    for n in (0, 1, 2, 100, 5000):
        keys = RUNS[kind](rng, n, dtype)
        assert len(keys) == n and keys.dtype == dtype
        if kind == "all different":
            assert len(starts(keys)) == n
        if kind == "all equal":
            assert len(starts(keys)) == min(n, 1)
