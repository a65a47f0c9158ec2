"""Candidates of benchmarks: other sorts of hsgen in the same rounds, through pyopencl and through C runtimes."""

from __future__ import annotations

import csv
import json
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import missing
from faulty import Idle
from nightly import NIGHTLY
from small_target import mine, small
from tools import OPENCL, need

from hsgen.cli import bench_baselines, engines, main
from hsgen.core.errors import Unavailable, Usage, Wrong
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, Signature
from hsgen.engines.compiled import Compiled
from hsgen.engines.engine import KEYS_OUT
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct
from hsgen.targets import target
from hsgen.tools import bench

pytestmark = pytest.mark.device
__all__ = ["mine", "small"]  # fixtures


@cache
def compiled(host: Host, label: str, name: str, signature: Signature) -> Direct:
    """Compile a sort once."""
    return engines.direct(host, target.find(name).sort(label, "u32", signature))


def engine(host: Host, label: str = "auto", name: str = "cpu", signature: Signature = PLAIN) -> Direct:
    """Return an engine with its own memory and shared kernels."""
    first = compiled(host, label, name, signature)
    made = first._compiled
    return Direct(first.context, Compiled(first.context, first.sort, made.source, made._kernels))


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the output of a command; skip the test where this machine cannot run it."""
    if "--runtime" in arguments:
        need(OPENCL)
    code = main(arguments)
    out, err = capsys.readouterr()
    if code == 3:
        missing(err)
    assert code == 0, err
    return out


def test_candidates_take_turns(embedded: Host) -> None:
    against = {"hsgen:bitonic": engine(embedded, "bitonic"), "hsgen:generic": engine(embedded, name="generic")}
    found = list(
        bench.measure(engine(embedded), [1000, 5000], ["numpy", "hsgen:bitonic"], 5, 1, "here", alternatives=against)
    )
    assert [[r.baseline for r in rows] for rows in found] == [
        [None, "hsgen:generic", "numpy", "hsgen:bitonic", "copy"]
    ] * 2
    for own, generic, numpy, merge, copy in found:
        assert (own.algorithm, generic.algorithm, merge.algorithm) == ("auto", "auto", "bitonic")
        assert (generic.baseline_version, merge.baseline_version) == ("generic/auto_u32", "cpu/bitonic_u32")
        for row in (generic, numpy, merge, copy):
            assert row.ratio_low is not None and row.ratio_high is not None and row.hsgen_ratio is not None
            assert 0 < row.ratio_low <= row.hsgen_ratio <= row.ratio_high
        for row in (own, generic, merge):
            assert row.roof_clock == "device" and row.device_seconds and row.bytes and row.roof_share
            assert row.roof_mkeys_per_s == pytest.approx((row.device_mkeys_per_s or 0) / row.roof_share, rel=0.1)
            assert row.min <= row.q1 <= row.mkeys_per_s <= row.q3 <= row.max and row.runs == 5
            assert row.seconds == pytest.approx(row.n / row.mkeys_per_s / 1e6, rel=0.01)
        assert numpy.device_seconds is None and numpy.bytes is None and copy.device_seconds


def test_a_sort_against_itself_is_a_draw(embedded: Host) -> None:
    """Times vary on a busy machine, so the interval may miss 1, but only slightly."""
    ((_, same, _),) = bench.measure(
        engine(embedded), [20000], ["hsgen:auto"], 15, 1, "", alternatives={"hsgen:auto": engine(embedded)}
    )
    assert same.ratio_low is not None and same.ratio_high is not None
    assert same.ratio_low < 1.3 and same.ratio_high > 0.77


class Noted:
    """An engine that records its calls; data read from `spoiled` is corrupted."""

    def __init__(self, inner: Direct, spoiled: int | None = None) -> None:
        self._inner, self._spoiled = inner, spoiled
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._note(name, found) if callable(found) else found

    def _note(self, name: str, call: Any) -> Any:
        def noted(*arguments: Any) -> Any:
            self.asked.append(name if name != "clock" else f"clock {arguments[0]}")
            out = call(*arguments)
            if name == "read" and arguments[0] == self._spoiled:
                arguments[1][0] ^= 1
            return out

        return noted


def test_rounds_with_candidates_renew_the_engines(embedded: Host) -> None:
    own, alternative = Noted(engine(embedded)), Noted(engine(embedded, "bitonic"))
    list(bench.measure(own, [3000], [], 4, 1, "", alternatives={"r": alternative}))  # type: ignore[arg-type,dict-item]
    for some in (own, alternative):
        assert some.asked.count("renew") == 4
        assert some.asked.count("clock True") == some.asked.count("clock False") == 1
        assert "copy" in some.asked[some.asked.index("clock True") :]
    alone = Noted(engine(embedded))
    list(bench.measure(alone, [3000], [], 2, 1, ""))  # type: ignore[arg-type]
    assert "renew" not in alone.asked


def test_a_candidate_that_sorts_wrongly_is_not_timed(embedded: Host) -> None:
    wrong = Noted(engine(embedded, "bitonic"), KEYS_OUT)
    with pytest.raises(Wrong, match=r"^hsgen:bitonic: 1000 uint32 keys came back unsorted; nothing was timed$"):
        list(bench.measure(engine(embedded), [1000], [], 5, 1, "", alternatives={"hsgen:bitonic": wrong}))  # type: ignore[dict-item]
    assert "renew" not in wrong.asked


@pytest.mark.parametrize("kind", ["sorted", "random", "all-equal"])
def test_a_candidate_that_does_nothing_is_detected(embedded: Host, kind: str) -> None:
    """Even for a copy, and where another candidate has left the right result."""
    idle = Idle(engine(embedded))
    with pytest.raises(Wrong, match=r"^idle: 1000 uint32 keys came back unsorted"):
        list(bench.measure(engine(embedded), [1000], [], 5, 1, "", alternatives={"idle": idle}, kinds=[kind]))  # type: ignore[dict-item]


@pytest.mark.nightly
def test_candidates_may_order_equal_packed_keys_differently(embedded: Host) -> None:
    signature = Signature(value="packed")
    own, merge = engine(embedded, signature=signature), engine(embedded, "bitonic", signature=signature)
    ((_, row, _),) = bench.measure(
        own, [3000], [], 2, 1, "", alternatives={"hsgen:bitonic": merge}, kinds=["few-distinct"]
    )
    assert row.algorithm == "bitonic" and row.kind == "few-distinct"


def test_candidates_sort_the_same(embedded: Host) -> None:
    other = engines.direct(embedded, target.find("cpu").sort("auto", "u64"))
    with pytest.raises(Usage, match=r"^alternative r: cpu/auto_u64 sorts other keys or values than cpu/auto_u32"):
        list(bench.measure(engine(embedded), [10], [], 1, 1, "", alternatives={"r": other}))
    small = engine(embedded, "bitonic")
    most = small.sort.plan.max_n
    with pytest.raises(
        Usage, match=rf"^alternative r: sizes up to {most + 1}: cpu/bitonic_u32 sorts up to {most} keys$"
    ):
        list(bench.measure(engine(embedded), [most + 1], [], 1, 1, "", alternatives={"r": small}))


def test_inputs_that_do_not_fit_memory_are_not_timed(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    small = engine(embedded)
    monkeypatch.setattr(small, "memory", lambda: (1 << 20, 1 << 20))
    with pytest.raises(Unavailable, match=r"^sizes up to 1048576: do not fit: all buffers together are "):
        list(bench.measure(small, [10, 1 << 20], [], 1, 1, ""))


def test_the_clock_of_the_device_is_a_part_of_the_wall(embedded: Host) -> None:
    some = engine(embedded)
    work = bench.load(some.sort, 1 << 16, Options(), np.random.default_rng(1))
    for slot in (0, 1):
        some.allocate(slot, work.keys.nbytes)
    some.write(0, work.keys)
    at = {"source": (0, 0), "destination": (1, 0)}
    assert some.run(1 << 16, at) is None and some.copy(1000) is None
    some.clock(True)
    seconds, copied = some.run(1 << 16, at), some.copy(work.keys.nbytes)
    assert seconds is not None and copied is not None and 0 < copied < seconds < 10
    some.clock(False)
    out = np.empty_like(work.keys)
    some.read(1, out)
    assert (out == work.keys).all() and some.run(1 << 16, at) is None


def test_the_command_measures_candidates(
    embedded: Host, small: Path, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ["-t", str(small), "--device", embedded.platform, "--key", "u32"]
    against = f"hsgen:{mine}:bitonic,numpy,hsgen:generic"
    more = ["--sizes", "2^10..2^11:2", "--rounds", "5", "--against", against, "--kind", "sorted", "--kind", "random"]
    found = json.loads(run(["bench", *own, *more, "--json"], capsys))
    assert {k: found[k] for k in ("schema", "target", "api", "rounds", "seed")} == {
        "schema": 2,
        "target": "small",
        "api": "opencl",
        "rounds": 5,
        "seed": 1,
    }
    once = [None, f"hsgen:{mine}:bitonic", "numpy", "hsgen:generic", "copy"]
    measured = [(r["n"], r["kind"], r["baseline"]) for r in found["rows"]]
    assert measured == [(n, kind, p) for n in (1024, 1448, 2048) for kind in ("sorted", "random") for p in once]
    assert {r["baseline_version"] for r in found["rows"] if r["algorithm"] == "bitonic"} == {"mine/bitonic_u32"}


def test_the_table_has_a_part_for_each_sort(
    embedded: Host, small: Path, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ["-t", str(small), "--device", embedded.platform, "--key", "u32"]
    more = ["--sizes", "1000", "--rounds", "5", "--against", f"hsgen:{mine}", "--value", "none", "--value", "v4"]
    lines = run(["bench", *own, *more], capsys).splitlines()
    assert lines[0].startswith("opencl on ") and lines[0].endswith(", 5 rounds")
    titles = [x for x in lines if "  u32  " in x]
    assert titles == ["small  u32  no values  random", "small  u32  v4  random"]
    assert sum(x.startswith("n ") for x in lines) == 2
    assert sum(" hsgen:mine.toml " in x and " x " in x and " to " in x for x in lines) == 2
    assert all(len(x) <= 120 for x in lines[1:] if not x.startswith("hsgen:"))


def test_csv_has_the_fields_of_json(embedded: Host, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--sizes", "1000", "--rounds", "1", "--against", "", "--bits", "0..8"]
    rows = list(csv.DictReader(StringIO(run(["bench", "-t", "cpu", "--key", "u32", *more, "--csv"], capsys))))
    assert [r["baseline"] for r in rows] == ["", "copy"] and list(rows[0]) == list(bench.Row.__dataclass_fields__)
    assert rows[0]["bits"] == "0..8" and rows[0]["device_count"] == "false" and float(rows[0]["mkeys_per_s"]) > 0
    assert rows[1]["ratio_low"] == "" and float(rows[1]["hsgen_ratio"]) > 0


@pytest.mark.nightly  # the fast run has test_bench_parted.py
def test_candidates_through_the_c_runtime_are_other_libraries(
    embedded: Host, small: Path, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """hsgen:auto is the same library as the baseline: it is loaded twice, with separate state."""
    versions = {"hsgen:auto": "small/auto_u32", f"hsgen:{mine}": "mine/auto_u32"}
    versions |= {f"hsgen:{small}:bitonic": "small/bitonic_u32"} if NIGHTLY else {}
    names = [*versions, "numpy"]
    given = ["bench", "-t", str(small), "--key", "u32", "--runtime", "c", "--device", embedded.platform, "--json"]
    found = json.loads(run([*given, "--sizes", "1000", "--rounds", "5", "--against", ",".join(names)], capsys))
    rows = found["rows"]
    assert [r["baseline"] for r in rows] == [None, *names, "copy"]
    assert {r["baseline"]: r["baseline_version"] for r in rows if r["algorithm"] and r["baseline"]} == versions
    assert all((r["device_seconds"] is None) == (r["baseline"] == "numpy") for r in rows)
    assert all(0 < r["device_seconds"] <= r["seconds"] * 3 for r in rows if r["device_seconds"] is not None)


@pytest.mark.nightly
def test_candidates_run_on_vulkan(capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--sizes", "2000", "--rounds", "5", "--against", "hsgen:bitonic,hsgen:generic", "--json"]
    rows = json.loads(run(["bench", "-t", "lavapipe", "--key", "u32", *more], capsys))["rows"]
    assert [r["baseline"] for r in rows] == [None, "hsgen:bitonic", "hsgen:generic", "copy"]
    assert all(r["device_seconds"] > 0 and r["ratio_low"] != 0 for r in rows)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "hsgen:bitonic-x",
            "alternative hsgen:bitonic-x: cpu has no sort 'bitonic-x'; name one of auto, bitonic, radix, plain, or",
        ),
        ("hsgen:", "alternative hsgen:: cpu has no sort ''; name one of auto"),
        ("hsgen:scan-x1", "alternative hsgen:scan-x1: cpu has no sort 'scan-x1'"),
        ("hsgen:none.toml", "target none.toml: cannot be read (No such file or directory)"),
        ("hsgen:generic:auto-x", "alternative hsgen:generic:auto-x: generic has no sort 'auto-x'"),
        ("hsgen:gen9:auto", "target gen9: unknown; known are "),
        ("hsgen:lavapipe", "alternative hsgen:lavapipe: target lavapipe has no kernels for opencl"),
        ("hsgenx", "baseline hsgenx: unknown; known are numpy"),
    ],
)
def test_names_that_are_no_candidates(embedded: Host, name: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "-t", "cpu", "--key", "u32", "--sizes", "1000", "--against", name]) == 2
    out, err = capsys.readouterr()
    assert not out and err.splitlines()[-1].startswith(f"hsgen: {line}"), err


def test_a_device_that_cannot_run_a_candidate_is_one_line(pocl: Host) -> None:
    """PoCL has no subgroups."""
    alternative = bench_baselines.read(["hsgen:intel-gen8", "numpy"], "generic")
    assert list(alternative) == ["hsgen:intel-gen8"]
    with pytest.raises(Unavailable, match=r"^alternative hsgen:intel-gen8: .* has no subgroups of "):
        alternative["hsgen:intel-gen8"].sort(target.find("generic").sort("auto", "u32"), pocl)


def test_two_ways_to_print_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "-t", "cpu", "--json", "--csv"]) == 2
    assert "--json and --csv: both print rows; give one of them" in capsys.readouterr().err
