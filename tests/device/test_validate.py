"""The kernels of every target on the devices here: quick validations, and their reports."""

from __future__ import annotations

import json

import numpy as np
import pytest
from nightly import NIGHTLY, nightly, nightly_except
from radices import tried

from hsgen.cli import main
from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.engines.compiled import Compiled
from hsgen.engines.engine import Places
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.system import toolchain
from hsgen.targets import assembly, target
from hsgen.tools.validate import validation
from hsgen.tools.validate.cases import around
from hsgen.tools.validate.guarded import Frame
from hsgen.tools.validate.validation import plan_cases

LARGE = 1 << 20
SORTS = [(t, k) for t in ("cpu", "intel-gen8", "generic") for k in ("u32", "u64")]
FAST = [("cpu", "u32"), ("generic", "u64")]  # `make demo` validates intel-gen8


def fewer_large(sort: Sort, *, full: bool, seed: int) -> list[tuple[int, str]]:
    """The cases of a validation; of its large counts, once each, only those next to a boundary, and one per
    doubling."""
    pairs = plan_cases(sort, full=full, seed=seed)
    greatest = max(n for n, _ in pairs)
    near = around(assembly.test_counts(sort, greatest), greatest)
    large = {n: kind for n, kind in reversed(pairs) if n >= LARGE}  # the kinds in turn precede the random keys
    doubling = {n.bit_length(): n for n in large if n not in near}
    kept = {n for n in large if n in near} | set(doubling.values())
    some = [(n, "random" if large[n].startswith("all ") else large[n]) for n in sorted(kept)]  # no pass is skipped
    return [p for p in pairs if p[0] < LARGE] + some


@pytest.mark.device
@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize(("name", "key"), nightly_except(SORTS, FAST))
def test_targets_sort_on_the_embedded_device(
    embedded: Host, name: str, key: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every kernel runs, including the last rows of a plan; the fast run has fewer large counts than the command,
    because numpy and copies take longer for them than sorts."""
    if not NIGHTLY:
        monkeypatch.setattr(validation, "plan_cases", fewer_large)
    assert main(["validate", "-t", name, "--key", key, "--device", embedded.platform, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["target"] == name and row["key"] == key and row["api"] == "opencl"
    assert row["device"] == embedded.label and row["seed"] == 1
    assert row["cases"] >= validation.QUICK and row["failures"] == 0
    assert row["greatest_n"] >= max(1 << 17, validation.reach(target.find(name).default(key).plan))


@pytest.mark.device
@pytest.mark.parametrize("key", ["u32", nightly("u64")])
def test_generic_sorts_on_a_device_without_subgroups(pocl: Host, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another compiler builds the same kernels; only the nightly run tries every count here."""
    if not NIGHTLY:
        monkeypatch.setattr(validation, "plan_cases", lambda *a, **more: plan_cases(*a, **more)[::3])
    assert main(["validate", "-t", "generic", "--key", key, "--device", pocl.platform]) == 0


@pytest.mark.device
@pytest.mark.usefixtures("optimized")
def test_without_a_target_the_matching_one_is_taken(
    embedded: Host, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "plan_cases", lambda *a, **more: plan_cases(*a, **more)[::50])
    assert main(["validate", "--key", "u16", "--device", embedded.platform, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["target"] == "cpu"


@pytest.mark.device
def test_a_full_validation_has_enough_cases() -> None:
    for name, key in SORTS:
        pairs = validation.plan_cases(target.find(name).sort("bitonic", key), full=True, seed=1)
        assert 2 * len(pairs) >= 100_000
        assert max(n for n, _ in pairs) >= 1 << 22


@pytest.mark.device
def test_failures_are_reported_with_the_case(
    embedded: Host, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sort that does nothing fails every case with unsorted input, and the command exits with 1."""
    monkeypatch.setattr(Compiled, "run", lambda *_, **__: None)
    monkeypatch.setattr(validation, "plan_cases", lambda *a, **more: plan_cases(*a, **more)[:100])
    assert main(["validate", "-t", "generic", "--key", "u32", "--device", embedded.platform]) == 1
    err = capsys.readouterr().err
    assert "generic u32: 1 keys" in err and "out of place: key 0 is" in err and "repeat with --seed 1" in err


def framed(host: Host) -> tuple[Direct, Frame]:
    """A sort and framed buffers for up to 100 keys."""
    context = context_for(host)
    engine = Direct(context, Compiled(context, target.find("generic").sort("bitonic", "u32")))
    return engine, Frame(engine, 100)


def poke(engine: Direct, slot: int, byte: int, value: int) -> None:
    """Overwrite a word of a buffer."""
    pattern = np.uint32(value)
    toolchain.pyopencl().enqueue_fill_buffer(engine.queue, engine._buffers[slot], pattern, byte, 4)
    engine.queue.finish()


@pytest.mark.device
@pytest.mark.parametrize(
    ("offset", "what"),
    [
        (-1, "byte 4 before the keys was overwritten"),
        (10, "byte 0 after the keys was overwritten"),
        (3, "key 3 is 4294967295, should be"),
    ],
)
def test_the_frame_catches_stray_writes(embedded: Host, offset: int, what: str) -> None:
    engine, frame = framed(embedded)
    real = engine.run

    def stray(n: int, places: Places, how: Options) -> None:
        real(n, places, how)
        slot, at = places["destination"]
        poke(engine, slot, at + 4 * offset, 0xFFFFFFFF)

    engine.run = stray  # type: ignore[method-assign]
    keys = np.arange(10, dtype=np.uint32)[::-1].copy()
    for in_place in (True, False):
        assert what in str(tried(frame, keys, np.sort(keys), in_place=in_place, shifts=(3, 5)))


@pytest.mark.device
def test_a_changed_input_is_caught(embedded: Host) -> None:
    engine, frame = framed(embedded)
    real = engine.run

    def touch(n: int, places: Places, how: Options) -> None:
        real(n, places, how)
        poke(engine, *places["source"], 5)

    engine.run = touch  # type: ignore[method-assign]
    keys = np.arange(10, dtype=np.uint32)
    assert tried(frame, keys, keys, in_place=False) == "the input was changed"
