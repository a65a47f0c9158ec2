"""A plan compared with each of its sorts alone in `hsgen bench`, and the reasons below its table."""

from __future__ import annotations

import json
import re
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly
from small_target import small
from tools import OPENCL, need

from hsgen.cli import bench_baselines, bench_output, main
from hsgen.core.interpreter import PLAIN
from hsgen.core.keys import Signature
from hsgen.engines.hosts import Host, matches
from hsgen.targets import target
from hsgen.tools.bench import Row

pytestmark = pytest.mark.device
__all__ = ["small"]  # a fixture
ROOT = Path(__file__).resolve().parents[2]
CPU = target.find("cpu")
PAIRS = Signature(value="v4")  # the plan of keys alone changes at 2^27
CHANGE = CPU.default("u32", PAIRS).parts[0].max_n


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["bench", *words, "--rounds", "1"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("runtime", ["python", nightly("c")])
def test_a_plan_meets_its_sorts_on_a_device_of_its_target(
    embedded: Host, runtime: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each sort at the counts at which the plan uses another, which is another sort than the plan itself."""
    if runtime == "c":
        need(OPENCL)
    more = ["-t", "cpu", "--device", embedded.platform, "--key", "u32", "--value", "v4", "--runtime", runtime]
    rows = json.loads(run(capsys, *more, "--sizes", f"{CHANGE},{CHANGE + 1}", "--json"))["rows"]
    every = [None, "hsgen:radix", "numpy", "copy"], [None, "hsgen:bitonic", "numpy", "copy"]
    assert [(r["n"], r["baseline"]) for r in rows] == [
        (CHANGE + i, name) for i, names in enumerate(every) for name in names
    ]
    assert {r["baseline"]: r["baseline_version"] for r in rows if r["algorithm"] and r["baseline"]} == {
        "hsgen:radix": "cpu/radix_u32_v4",
        "hsgen:bitonic": "cpu/bitonic_u32_v4",
    }


def test_elsewhere_a_plan_meets_its_sorts_on_request(
    embedded: Host, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = target.find(str(small))
    assert not matches(found, embedded)
    more = ["-t", str(small), "--device", embedded.platform, "--key", "u32", "--sizes", "100", "--json"]
    assert [r["baseline"] for r in json.loads(run(capsys, *more))["rows"]] == [None, "numpy", "copy"]
    rows = json.loads(run(capsys, *more, "--against", bench_baselines.EACH))["rows"]
    labels = [part.label for part in found.default("u32").parts]
    assert len(labels) > 1
    assert [r["baseline"] for r in rows] == [None, *(f"hsgen:{x}" for x in labels[1:]), "copy"]


def test_one_sort_is_no_plan(embedded: Host, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--key", "u32", "--sizes", "100", "--against", bench_baselines.EACH, "--algorithm", "bitonic"]
    assert main(["bench", "-t", "cpu", *more]) == 2
    assert "cpu/bitonic_u32 is no sort for any count; leave out --algorithm" in capsys.readouterr().err


@pytest.mark.parametrize("name", target.names())
def test_each_sort_of_a_plan_is_measured_where_the_plan_does_not_use_it(name: str) -> None:
    found = target.find(name)
    for value in ("none", "v4"):
        sort = found.default("u32", Signature(value=value))
        others = bench_baselines.alone(sort, name)
        assert set(others) == {f"hsgen:{part.label}" for part in sort.parts}
        for n in (1, *(part.max_n + d for part in sort.parts[:-1] for d in (0, 1))):
            (used,) = {part.label for part in sort.parts if part.min_n < n <= part.max_n}
            for label in {part.label for part in sort.parts} - {used}:
                greatest = found.sort(label, "u32", sort.signature).plan.max_n
                spans = others[f"hsgen:{label}"].spans or ()
                assert any(low < n <= high for low, high in spans) == (n <= greatest)
            assert not any(low < n <= high for low, high in others[f"hsgen:{used}"].spans or ())


@pytest.fixture(scope="module")
def rows(embedded: Host) -> list[Row]:
    """The rows of a run of `cpu`."""
    more = ["-t", "cpu", "--device", embedded.platform, "--key", "u32", "--value", "v4"]
    more += ["--sizes", f"1000,{CHANGE + 1}", "--json"]
    text = StringIO()
    with redirect_stdout(text):
        assert main(["bench", *more, "--rounds", "1"]) == 0
    found: list[dict[str, Any]] = json.loads(text.getvalue())["rows"]
    return [Row(**row) for row in found]


def test_the_least_ratio_to_a_sort_alone_is_told(rows: list[Row]) -> None:
    sort = CPU.default("u32", PAIRS)
    for least, advised in ((0.5, True), (0.949, True), (0.95, False), (1.3, False)):
        told = [
            replace(r, hsgen_ratio=least if (r.baseline, r.n) == ("hsgen:bitonic", CHANGE + 1) else 1.5) for r in rows
        ]
        (line,) = bench_output.of_plan(sort, told)
        assert f"at least {least:.2f} times as fast" in line and f"(bitonic at {CHANGE + 1} keys)" in line
        assert ("hsgen tune -t cpu" in line) == advised
    assert bench_output.of_plan(sort, [r for r in rows if r.baseline in (None, "numpy", "copy")]) == []


def test_a_faster_numpy_is_explained(embedded: Host, rows: list[Row]) -> None:
    sort = CPU.default("u32", PAIRS)
    seconds = {None: 1e-3, "copy": 1e-6, "numpy": 1e-4}

    def told(ratio: float, copy: float) -> list[str]:
        made = [r for r in rows if r.n == 1000 and r.baseline in seconds]
        times = {**seconds, "copy": copy}
        made = [replace(r, seconds=times[r.baseline], hsgen_ratio=r.baseline and ratio) for r in made]
        return bench_output.of_host(sort, made, PLAIN, embedded)

    assert told(1.0, 1e-6) == []
    (line,) = told(0.1, 1e-6)
    assert re.fullmatch(r"cpu/auto_u32_v4: numpy is faster at 1000 keys: .* OpenCL C on the same CPU", line)
    (line,) = told(0.1, 8e-4)
    assert "at 1000 keys, where launches are at least half of the sort's time" in line and line.endswith("800 us")


def test_the_demo_measures_what_this_machine_should_use(embedded: Host) -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    demo = re.search(r"^demo:.*?\n\n", text, re.MULTILINE | re.DOTALL)
    assert demo
    measured = re.findall(r"\$\(HSGEN\) bench -t (\S+)", demo[0])
    assert measured and all(matches(target.find(name), embedded) for name in measured)
