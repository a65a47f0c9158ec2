"""Benchmarks of segmented sorts, of merges, and of sorts that report run boundaries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import missing
from faulty import Spoiled
from nightly import nightly
from small_target import small
from tools import OPENCL, need

from hsgen.cli import engines, main
from hsgen.core.errors import Wrong
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, Signature
from hsgen.engines.engine import KEYS_OUT, REPORT, VALUES_OUT
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct
from hsgen.operations import layouts, pack
from hsgen.operations.oracle import permutation
from hsgen.targets import target
from hsgen.tools import bench
from hsgen.tools.bench.baselines import MERGING, SEGMENTED, Halves, Segments

device = pytest.mark.device
__all__ = ["small"]  # a fixture


def engine(host: Host, algorithm: str, signature: Signature = PLAIN) -> Direct:
    return engines.direct(host, target.find("cpu").sort(algorithm, "u32", signature))


def rows_of(command: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    if "--runtime c" in command:
        need(OPENCL)
    code = main(["bench", *command.split(), "--device", "Intel(R) OpenCL", "--json"])
    out, err = capsys.readouterr()
    if code == 3:
        missing(err)
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["rows"]
    return found


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("value", ["none", "v4", "index"])
def test_sorted_segments_follow_the_permutation(value: str, rows: bool) -> None:
    sort = target.find("cpu").sort("segmented_sort", "u32", Signature(value=value, key_transform=True))
    how = Options(kind=2, descending=True, segment_count=50, rows=rows)
    work = bench.load(sort, 3000, how, np.random.default_rng(1), "few-distinct")
    assert work.offsets is not None and len(work.offsets) == 51 and (work.offsets[0], work.offsets[-1]) == (0, 3000)
    assert (len(set(np.diff(work.offsets))) == 1) == rows
    order = layouts.permutation(work.keys, work.offsets, sort, how)
    assert (work.expected == work.keys[order]).all() and work.n == 3000
    if value == "index":
        assert work.values_expected is not None and (work.values_expected[:, 0] == order).all()
    if work.values is not None:
        assert (work.values_expected == work.values[order]).all()


@pytest.mark.parametrize("n", [1, 2, 999])
def test_halves_are_in_order_and_make_a_whole(n: int) -> None:
    sort = target.find("cpu").sort("merge_path", "u32", Signature(value="v8", key_transform=True))
    work = bench.load(sort, n, Options(kind=1, descending=True), np.random.default_rng(1), "few-distinct")
    assert work.other is not None and work.values is not None and work.other_values is not None
    assert (len(work.keys), len(work.other), work.how.first_count) == (n // 2, n - n // 2, n // 2)
    for half in (work.keys, work.other):
        assert (np.diff(half.view(np.int32).astype(np.int64)) <= 0).all()
    both = np.concatenate([work.keys, work.other])
    order = permutation(both, sort, work.how)
    assert (work.expected == both[order]).all()
    assert (work.values_expected == np.concatenate([work.values, work.other_values])[order]).all()


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize(("value", "index"), [("none", False), ("v8", False), ("index", True)])
def test_numpy_sorts_segments(value: str, index: bool, rows: bool) -> None:
    sort = target.find("cpu").sort("segmented_sort", "u32", Signature(value=value))
    work = bench.load(sort, 1200, Options(segment_count=40, rows=rows), np.random.default_rng(2), "few-distinct")
    assert work.offsets is not None
    given = Segments(keys=work.keys, values=work.values, offsets=work.offsets, rows=rows, index=index)
    run = SEGMENTED["numpy"](None, given)  # type: ignore[arg-type]
    for _ in range(2):
        run.prepare()
        run.sort()
        assert (run.result() == work.expected).all() and run.version == np.__version__
        assert (run.values is None) == (work.values_expected is None)
        assert run.values is None or (run.values() == work.values_expected).all()


@pytest.mark.parametrize("value", ["none", "v4"])
def test_numpy_merges(value: str) -> None:
    sort = target.find("cpu").sort("merge_path", "u32", Signature(value=value))
    work = bench.load(sort, 1201, Options(), np.random.default_rng(2), "few-distinct")
    assert work.other is not None
    values = None if work.values is None or work.other_values is None else (work.values, work.other_values)
    run = MERGING["numpy"](None, Halves(keys=(work.keys, work.other), values=values))  # type: ignore[arg-type]
    run.sort()
    assert (run.result() == work.expected).all()
    assert (run.values is None) == (values is None)
    assert run.values is None or (run.values() == work.values_expected).all()


@device
@pytest.mark.parametrize(
    "more", [*map(nightly, ("", "--rows", "--value v4")), "--value index --rows", "--key f32 --order descending"]
)
def test_segments_are_measured(small: Path, more: str, capsys: pytest.CaptureFixture[str]) -> None:
    baselines = ["hsgen:plain"] if "f32" in more else ["numpy", "hsgen:plain"]
    given = f"-t {small} --algorithm segmented_sort --sizes 1000,4096 --segments 2^3,1 --rounds 5 {more}"
    rows = rows_of(f"{given} {'' if 'f32' in more else '--key u32'} --against {','.join(baselines)}", capsys)
    once = [None, *baselines, "copy"]
    assert [(r["n"], r["segments"], r["baseline"]) for r in rows] == [
        (n, parts, baseline) for n in (1000, 4096) for parts in (8, 1) for baseline in once
    ]
    for r in rows:
        assert (r["task"], r["layout"]) == ("segmented_sort", "equal" if "--rows" in more else "random")
        own = r["baseline"] in (None, "hsgen:plain")
        assert (r["device_seconds"] is not None) == (own or r["baseline"] == "copy")
        size = 8 if r["value"] else 4
        if r["baseline"] is None:  # each key counts as read and written once
            assert r["bytes"] == 2 * r["n"] * size and r["roof_share"] > 0 and r["algorithm"] == "segmented_sort"
        if r["baseline"] == "hsgen:plain":
            assert r["algorithm"] == "auto" and r["hsgen_ratio"] > 0
            assert r["baseline_version"].startswith("small/auto_u32")


@device
@pytest.mark.parametrize("value", [nightly("none"), "v4"])
def test_merges_are_measured(small: Path, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = f"-t {small} --key u32 --value {value} --algorithm merge_path --sizes 1,2,5001 --rounds 5"
    rows = rows_of(f"{command} --kind random --kind sorted --against numpy,hsgen:plain", capsys)
    assert [r["baseline"] for r in rows] == [None, "numpy", "hsgen:plain", "copy"] * 6
    for own, _, plain, copy in zip(*[iter(rows)] * 4, strict=True):
        assert (own["task"], own["segments"], own["layout"]) == ("merge", None, None)
        item = 8 if value == "v4" else 4
        assert copy["bytes"] == 2 * item * own["n"] and own["bytes"] >= copy["bytes"]
        assert own["roof_share"] > 0 and (plain["algorithm"], own["algorithm"]) == ("auto", "merge_path")


@device
@pytest.mark.parametrize("value", [nightly("none"), "index"])
def test_the_cost_of_run_boundaries_is_measured(small: Path, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = (
        f"-t {small} --key u32 --value {value} --feature run-boundaries --sizes 3000 --kind few-distinct --rounds 5"
    )
    own, plain, copy = rows_of(f"{command} --against hsgen:plain", capsys)
    assert own["run_boundaries"] and own["task"] == "sort" and copy["baseline"] == "copy"
    assert own["bytes"] > plain["bytes"] and plain["hsgen_ratio"] > 0


CELLS = """{% set report_words = 256 %}
{% macro epilogue(i, key, report) %}
hs_u32 cell = hs_key_bits({{ key }}, 0) >> 24;
hs_atomic_add({{ report("cell") }}, 1u);
{% endmacro %}
"""


@device
def test_what_an_epilogue_costs_is_measured(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cells.j2"
    file.write_text(CELLS)
    command = f"-t {small} --key u32 --value v4 --sizes 3000 --rounds 2 --epilogue {file} --against hsgen:plain"
    own, plain, copy = rows_of(command, capsys)
    assert own["epilogue"] and own["algorithm"] == plain["algorithm"] == "auto" and copy["baseline"] == "copy"
    assert own["bytes"] > plain["bytes"]
    file.write_text("{% set changes_keys = true %}{% macro epilogue(key) %}{{ key }} = 1u;{% endmacro %}")
    assert main(["bench", *command.split(), "--device", "Intel(R) OpenCL"]) == 2
    line = "hsgen: --epilogue: changes keys, so results cannot be verified; measure one that does not"
    assert capsys.readouterr().err.splitlines()[-1] == line


@device
def test_a_plain_candidate_does_without_features(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = f"-t {small} --key u32 --sizes 3000 --rounds 2 --bits 4..9 --feature device-count --against hsgen:plain"
    own, plain, _ = rows_of(command, capsys)
    assert own["device_count"] and own["bits"] == [4, 9] and plain["algorithm"] == "auto"


@device
def test_the_table_says_what_was_done(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    titles = {
        "--algorithm segmented_sort --segments 10": "small  u32  no values  random  10 segments",
        "--algorithm segmented_sort --segments 10 --rows": "small  u32  no values  random  10 segments of equal length",
        "--algorithm merge_path": "small  u32  no values  random  merge of two halves",
        "--feature run-boundaries": "small  u32  no values  random  run boundaries",
    }
    for more, title in titles.items():
        command = f"bench -t {small} --key u32 --sizes 1000 --rounds 1 --against= {more}"
        assert main([*command.split(), "--device", "Intel(R) OpenCL"]) == 0
        assert title in capsys.readouterr().out.splitlines()


@device
@pytest.mark.parametrize(
    ("more", "task"),
    [
        nightly("--algorithm segmented_sort --segments 2^5 --value v4", "segmented_sort"),
        nightly("--algorithm segmented_sort --segments 2^5 --rows", "segmented_sort"),
        ("--algorithm merge_path --value v4", "merge"),
        nightly("--feature run-boundaries", "sort"),
    ],
)
def test_the_c_runtime_measures_the_same(small: Path, more: str, task: str, capsys: pytest.CaptureFixture[str]) -> None:
    baselines = ["hsgen:plain"] if task == "sort" else ["numpy", "hsgen:plain"]
    given = f"-t {small} --key u32 --runtime c --rounds 2 --sizes 4096 {more} --against {','.join(baselines)}"
    rows = rows_of(given, capsys)
    assert [r["baseline"] for r in rows] == [None, *baselines, "copy"]
    assert all(r["task"] == task and (r["device_seconds"] or r["baseline"] == "numpy") for r in rows)
    assert rows[0]["run_boundaries"] == (task == "sort") and rows[-2]["algorithm"] == "auto"


@device
@pytest.mark.parametrize(
    ("algorithm", "signature", "slot", "line"),
    [
        (
            "segmented_sort",
            Signature(value="v4"),
            KEYS_OUT,
            "hsgen: 1000 uint32 keys came back unsorted; nothing was timed",
        ),
        (
            "segmented_sort",
            Signature(value="v4"),
            VALUES_OUT,
            "hsgen: the values of 1000 keys came back wrong; nothing was timed",
        ),
        ("merge_path", PLAIN, KEYS_OUT, "hsgen: 1000 uint32 keys came back unsorted; nothing was timed"),
        ("merge_path", Signature(value="v4"), VALUES_OUT, "hsgen: the values of 1000 keys came back wrong"),
        (
            "auto",
            Signature(run_boundaries=True),
            REPORT,
            "hsgen: the run boundaries of 1000 keys came back wrong; nothing was timed",
        ),
    ],
)
def test_wrong_results_are_not_timed(
    embedded: Host, algorithm: str, signature: Signature, slot: int, line: str
) -> None:
    good = engine(embedded, algorithm, signature)
    parts = [20] if algorithm == "segmented_sort" else [0]
    assert len(list(bench.measure(good, [1000], [], 1, 1, "", segments=parts))) == 1
    with pytest.raises(Wrong, match=f"^{line}"):
        list(bench.measure(Spoiled(good, slot), [1000], [], 1, 1, "", segments=parts))  # type: ignore[arg-type]


@device
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "--algorithm segmented_sort",
            "algorithm segmented_sort: give the number of segments, for example --segments 2^10,2^14",
        ),
        ("--segments 2^3", "segments: cpu/auto_u32 has no segments; add --algorithm segmented_sort"),
        ("--rows", "rows: cpu/auto_u32 has no segments; add --algorithm segmented_sort"),
        ("--algorithm segmented_sort --segments 0", "segments 0: a count of 0 cannot be timed; give at least 1"),
        ("--algorithm segmented_sort --segments few", "segments few: 'few' is no count; write for example 1000,2^16"),
        ("--algorithm segmented_sort --segments 2^31", "segments 2147483648: there are up to 2147483647; give fewer"),
        (
            "--algorithm segmented_sort --segments 3 --rows",
            "segments 3: 1024 keys cannot be split into 3 rows of equal length",
        ),
        (
            "--algorithm segmented_sort --segments 3 --against std",
            "baseline std: cannot sort in this way; take numpy, cub, cub-r",
        ),
        (
            "--algorithm merge_path --against cub-radix",
            "baseline cub-radix: cannot sort in this way; take numpy, cub, or",
        ),
        ("--against cub-radix", "baseline cub-radix: cannot sort in this way; take numpy, pyopencl"),
        ("--feature run-boundaries --against numpy", "baseline numpy: cannot sort in this way; omit baselines"),
        ("--algorithm digest", "algorithm digest: bench times "),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    embedded: Host, words: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(f"bench -t cpu --key u32 --sizes 2^10 {words}".split()) == 2
    out, err = capsys.readouterr()
    assert not out and err.splitlines()[-1].startswith(f"hsgen: {line}"), err


@device
@pytest.mark.parametrize("algorithm", ["segmented_sort --segments 3", "merge_path"])
def test_cub_needs_cuda(embedded: Host, algorithm: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(f"bench -t cpu --key u32 --sizes 2^10 --algorithm {algorithm} --against cub".split()) == 3
    out, err = capsys.readouterr()
    assert not out and err.splitlines()[-1] == "hsgen: baseline cub: requires CUDA; add --api cuda"


@device
@pytest.mark.parametrize("value", ["none", "v4"])
def test_reductions_are_timed_by_the_c_runtime_where_runs_are_fewer_than_keys(
    value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = f"-t cpu --runtime c --key u8 --value {value} --algorithm reduce_by_key --sizes 100,5000 --rounds 2"
    rows = rows_of(f"{command} --against numpy", capsys)
    assert [x["n"] for x in rows if x["baseline"] == "numpy"] == [100, 5000]


@device
@pytest.mark.parametrize(("name", "runtime"), [("cpu", "python"), ("cpu", "c"), ("generic", "python")])
@pytest.mark.parametrize("key", ["u32", "u64"])
def test_packs_are_timed_beside_those_of_numpy(
    name: str, runtime: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Results are compared before they are timed; columns of an odd count of 16-bit items end within a word."""
    command = f"-t {name} --runtime {runtime} --key {key} --algorithm pack --sizes 1,5001 --rounds 2"
    rows = rows_of(f"{command} --against numpy", capsys)
    assert [(x["n"], x["baseline"]) for x in rows if x["baseline"] == "numpy"] == [(1, "numpy"), (5001, "numpy")]
    assert {x["task"] for x in rows} == {"pack"}


def test_the_workload_of_packs_is_what_numpy_sorts_by() -> None:
    """Rows in the order of the packed keys are in the order of their columns."""
    rng, kinds = np.random.default_rng(1), {4: ("i2", "u2"), 8: ("i4", "u4")}
    for size, (first, second) in kinds.items():
        sort = target.find("generic").sort("pack", f"u{8 * size}")
        few = rng.integers(0, 1 << 8 * size, 40, f"u{size}")  # columns with equal values
        work = pack.OPERATION.load(
            sort, rng.choice(few, 1001) ^ rng.integers(0, 9, 1001, f"u{size}"), None, Options(), rng
        )
        assert work.other is not None and len(work.other) % 2 == 0
        columns = (work.other[:1001].view(second), -work.keys.view(first).astype(np.int64))
        assert np.array_equal(np.lexsort(columns), np.argsort(work.expected, kind="stable"))
