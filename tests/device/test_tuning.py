"""`hsgen tune` on the embedded device: faulty shapes never win, a killed run resumes, and nightly a cluster runs
races."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import json_schemas
import pytest
import tune_child
from conftest import missing

from hsgen.core.errors import Unavailable
from hsgen.engines.hosts import Host
from hsgen.system import toolchain
from hsgen.targets.target import parse
from hsgen.tools.tune import spread
from hsgen.tools.tune.detected import of_host
from hsgen.tools.tune.propose import Table
from hsgen.tools.tune.runner import Entry, Field
from hsgen.tools.tune.search import Rung

pytestmark = pytest.mark.device

BARE = """\
# A device of few shapes, which a test tunes.
schema = 3
name = "bare"
summary = "lanes that walk alone"
apis = ["opencl"]

[device] # facts
subgroups = [1]
shuffle = false
work_group = 1
groups = 64
local_bytes = 32768
int64 = true
storage8 = true
storage16 = true
binding_bytes = 134217728
progress = "none"

# Too many passes, and one lane alone.
[radix.u32.per_thread]
bits = 2 # few
items = 64
work_group = 1
subgroup = 1
groups = 1

[sort.u32]
ranges = [
    { use = "radix-per_thread" },
]
"""
SHAPE: Table = {
    "strategy": "per_thread",
    "bits": 8,
    "items": 256,
    "work_group": 1,
    "subgroup": 1,
    "groups": 2,
    "single": 4096,
}


def field(host: Host, **more: Any) -> Field:
    return of_host(parse(BARE, "bare", "bare.toml"), BARE, "bare.toml", "opencl", host, native=False, **more)


def test_planted_faults_are_recorded_and_never_win(embedded: Host) -> None:
    """Shapes that hang, crash, sort wrongly (two) or do not build race with two sound ones; a table that skips most of
    the work would be the fastest of all."""
    child = Path(tune_child.__file__)
    here = field(embedded, limit=15.0, child=(sys.executable, str(child)))  # on a busy machine, too
    entries = {f"of {n} groups": Entry(label="radix", table={**SHAPE, "groups": n}) for n in (2, *tune_child.FAULTS, 3)}
    failures: list[tuple[str, str, str]] = []
    rungs = [Rung(sizes=(5000,), rounds=3, keep=7), Rung(sizes=(1 << 18,), rounds=3, keep=7)]
    finish = here.run(entries, "u32", rungs, lambda *at: failures.append(at), best="of 2 groups", cases=24)
    sound = {"of 2 groups", "of 3 groups"}
    assert set(finish.seconds) == set(finish.reached) == sound <= set(finish.cases)
    assert all(sorted(t) == [5000, 1 << 18] and min(map(min, t.values())) > 0 for t in finish.seconds.values())
    assert set(finish.reached.values()) == {1} and all(n > 20 for n in finish.cases.values())
    kinds = {name: kind for name, kind, _ in failures}
    assert len(failures) == 5 and {name: (kind, why) for name, kind, why in failures} == finish.failed
    assert kinds == {
        f"of {tune_child.HANG} groups": "hang",
        f"of {tune_child.CRASH} groups": "crash",
        f"of {tune_child.WRONG} groups": "wrong",
        f"of {tune_child.LATE} groups": "wrong",
        f"of {tune_child.BUILD} groups": "build",
    }
    reasons = {kind: why for _, kind, why in failures}
    assert "no answer for 15 seconds" in reasons["hang"]
    assert "crashed with " in reasons["crash"] and "its output is in" in reasons["crash"]
    assert "does not build on" in reasons["build"]
    wrong = [why for _, kind, why in failures if kind == "wrong"]
    assert sum("262144 uint32 keys came back wrong" in why for why in wrong) == 1, wrong
    assert all("\n" not in why for _, _, why in failures)


def test_facts_of_a_family_that_do_not_hold_for_this_device(embedded: Host) -> None:
    """Unsupported features are not even proposed."""
    text = BARE.replace("subgroups = [1]", "subgroups = [1, 16, 128]").replace("shuffle = false", "shuffle = true")
    text = text.replace("work_group = 1\ngroups = 64", "work_group = 1048576\ngroups = 64")
    found = parse(text, "bare", "bare.toml")
    facts = of_host(found, text, "bare.toml", "opencl", embedded, native=False).facts
    assert found.device.subgroups == (1, 16, 128) and facts.subgroups == (1, 16) and facts.shuffle
    assert facts.work_group == embedded.work_group < 1 << 20 and facts.local_bytes == 32768


# Few and small races: the unmodified command takes minutes.
LAUNCH = """\
import sys
from hsgen.cli import tune as tuning
from hsgen.tools.tune import detected, runner, search
tuning.CANDIDATES = 2
search.PATIENCE = {patience}
detected.os.cpu_count = lambda: 1
runner.Field.run.__kwdefaults__["cases"] = 8
from hsgen.cli import main
sys.exit(main(sys.argv[1:]))
"""
PATIENCE = 6
"""Races without a better shape before the search stops, as of the unmodified command."""
UNHURRIED = ("--budget", "3600s", "--limit", "120s")
"""More time than a few races take: a compiler takes a minute on a busy machine."""
SMALL = ["--budget", "60s", "--sizes", "2^10,2^12", "--limit", "20s", "--seed", "3"]


def command(folder: Path, host: Host, *more: str, patience: int = PATIENCE) -> list[str]:
    (folder / "launch.py").write_text(LAUNCH.format(patience=patience), encoding="utf-8")
    if not (folder / "bare.toml").exists():
        (folder / "bare.toml").write_text(BARE, encoding="utf-8")
    device = ["--device", host.platform]
    return [sys.executable, "launch.py", "tune", "-t", "bare.toml", *device, *SMALL, "--journal", "j.jsonl", *more]


def ran(folder: Path, host: Host, *more: str, patience: int = PATIENCE) -> subprocess.CompletedProcess[str]:
    started = command(folder, host, *more, patience=patience)
    done = subprocess.run(started, cwd=folder, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr
    return done


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def killed_behind_the_first_race(folder: Path, host: Host) -> bytes:
    """Start a tuning, kill all its processes after its first race, and return its journal."""
    process = subprocess.Popen(
        command(folder, host), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    path = folder / "j.jsonl"
    try:
        end = time.monotonic() + 120
        while not any(r["what"] == "race" for r in records(path)):
            assert process.poll() is None and time.monotonic() < end, "no race was recorded"
            time.sleep(0.05)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return path.read_bytes()


def compare_fields(document: dict[str, Any]) -> None:
    """docs/reference/json.md has a table of the document and one of its rows."""
    text = (Path(__file__).resolve().parents[2] / "docs/reference/json.md").read_text(encoding="utf-8")
    section = text.split("## `hsgen tune --json`")[1].split("\n## ")[0]
    tables = [re.findall(r"^\| `(\w+)` \|", part, re.M) for part in section.split("| field |")[1:]]
    assert [list(document), list(document["rows"][0])] == tables
    schema = json.loads((json_schemas.SCHEMAS / "tune.schema.json").read_text(encoding="utf-8"))
    json_schemas.validator(schema).validate(document)
    for name in ("tables", "failed"):
        (line,) = (x for x in section.splitlines() if x.startswith(f"| `{name}` |"))
        assert all(f"`{field}`" in line for item in document[name] for field in item)


@pytest.mark.nightly  # the fast run has tests/unit/test_tune_resume.py, which truncates journals
def test_a_killed_run_resumes_with_the_same_result(embedded: Host, tmp_path: Path) -> None:
    path, file = tmp_path / "j.jsonl", tmp_path / "bare.toml"
    before = killed_behind_the_first_race(tmp_path, embedded)
    assert not any(r["what"] == "checked" for r in records(path))
    path.write_bytes(before + b'{"what": "fin')  # as if killed while writing it
    first = ran(tmp_path, embedded, "--json")
    after = path.read_bytes()
    assert after.startswith(before) and len(after) > len(before)
    assert [r["what"] for r in records(path)][-2:] == ["final", "checked"]
    assert file.read_text(encoding="utf-8") == BARE, "without --write"

    begin = time.monotonic()
    again = ran(tmp_path, embedded, "--json")
    assert time.monotonic() - begin < 10 and again.stdout == first.stdout and path.read_bytes() == after
    document = json.loads(first.stdout)
    compare_fields(document)
    assert [t["algorithm"] for t in document["tables"]] == ["radix"] and document["target"] == "bare"
    assert [r["n"] for r in document["rows"]] == [1 << b for b in range(8, 15)]
    assert document["rows"][-1]["ratio"] > 1.2, "two bits a pass by one lane alone, at 2^14 keys"

    written = ran(tmp_path, embedded, "--write")
    assert written.stdout.startswith("key  n") and "written to bare.toml:" in written.stdout
    assert document["diff"].strip() in written.stdout
    text = file.read_text(encoding="utf-8")
    assert parse(text, "bare", "bare.toml").evidence[0]["result"].startswith("tune: u32 radix; ")
    head, tail = BARE.split("[radix.u32.per_thread]\n")
    assert text.startswith(head) and text[text.index("[sort.u32]") :].startswith(tail[tail.index("[sort.u32]") :])
    last = ran(tmp_path, embedded, "--write", "--json")
    assert json.loads(last.stdout)["diff"] == "" and file.read_text(encoding="utf-8") == text
    assert path.read_bytes() == after and sorted(p.name for p in tmp_path.iterdir()) == [
        "bare.toml",
        "j.jsonl",
        "launch.py",
    ]


SLOW_SELECTION: Table = {"work_group": 64, "items": 1, "capacity": 128, "bits": 4, "groups": 1}
"""Passes of four bits by as many lanes as the device allows, in tiles of one key a lane."""
WIDER = BARE.replace("work_group = 1\ngroups = 64\nlocal", "work_group = 64\ngroups = 65535\nlocal").replace(
    "none", 'none"\nlocal = "memory'
)


@pytest.mark.nightly
def test_a_short_run_validates_what_it_leaves(embedded: Host, tmp_path: Path) -> None:
    """After one race; whether that finds a faster table is left to longer runs."""
    table = "".join(f"{k} = {v}\n" for k, v in SLOW_SELECTION.items())
    text = f"{WIDER}\n[radix_select.u32]\n{table}"
    (tmp_path / "bare.toml").write_text(text, encoding="utf-8")
    done = ran(tmp_path, embedded, "--algorithm", "radix_select", *UNHURRIED, "--write", "--json", patience=0)
    document, found = json.loads(done.stdout), records(tmp_path / "j.jsonl")
    assert [r["n"] for r in document["rows"]] == [1 << b for b in range(8, 15)]
    assert [r["what"] for r in found] == ["journal", "race", "final", "checked"] and found[-1]["cases"] > 100
    after = (tmp_path / "bare.toml").read_text(encoding="utf-8")
    tuned, before = parse(after, "bare", "bare.toml"), parse(text, "bare", "bare.toml")
    assert tuned.tables["radix_select", "u32"] == found[-1]["table"]
    assert tuned.choices == before.choices and tuned.autos == before.autos


@pytest.mark.nightly
def test_an_optional_table_is_tuned_on_typical_calls(embedded: Host, tmp_path: Path) -> None:
    """A slow selection in the file is replaced by a validated one; sorts and the other tables stay as they are."""
    table = "".join(f"{k} = {v}\n" for k, v in SLOW_SELECTION.items())
    text = f"{WIDER}\n[radix_select.u32]\n{table}"
    (tmp_path / "bare.toml").write_text(text, encoding="utf-8")
    sizes = ("--sizes", "2^14,2^16")  # where one work-group is clearly slower, on a busy machine too
    done = ran(tmp_path, embedded, "--algorithm", "radix_select", *sizes, *UNHURRIED, "--write", "--json", patience=1)
    document = json.loads(done.stdout)
    assert [t["algorithm"] for t in document["tables"]] == ["radix_select"], done.stderr
    assert {r["before"] for r in document["rows"]} == {r["after"] for r in document["rows"]} == {"radix_select"}
    ratios = {r["n"]: r["ratio"] for r in document["rows"]}
    assert list(ratios) == [1 << b for b in range(8, 19)]
    assert ratios[1 << 14] * ratios[1 << 16] > 1, "at the counts of the races"
    found = records(tmp_path / "j.jsonl")
    assert found[0]["start"] == {"radix_select u32": SLOW_SELECTION}
    assert [r["what"] for r in found][-2:] == ["final", "checked"] and found[-1]["cases"] > 100
    after = (tmp_path / "bare.toml").read_text(encoding="utf-8")
    tuned, before = parse(after, "bare", "bare.toml"), parse(text, "bare", "bare.toml")
    assert tuned.tables["radix_select", "u32"] == document["tables"][0]["table"] != SLOW_SELECTION
    assert tuned.choices == before.choices and tuned.autos == before.autos
    assert tuned.evidence[-1]["result"].startswith("tune: u32 radix_select; ")


@pytest.mark.nightly
@pytest.mark.parametrize("label", ["reduce_by_key", "gather", "pack"])
def test_an_algorithm_without_a_table_gets_one_or_keeps_what_is_derived(
    embedded: Host, tmp_path: Path, label: str
) -> None:
    (tmp_path / "bare.toml").write_text(WIDER, encoding="utf-8")
    document = json.loads(ran(tmp_path, embedded, "--algorithm", label, "--write", "--json").stdout)
    tuned = parse((tmp_path / "bare.toml").read_text(encoding="utf-8"), "bare", "bare.toml")
    assert list(tuned.tables.values()) == [t["table"] for t in document["tables"]]
    assert set(tuned.tables) <= {(label, "u32")}
    assert [r["n"] for r in document["rows"]] == [1 << b for b in range(8, 15)]
    assert len(tuned.evidence) == 1


@pytest.mark.nightly
def test_a_run_ends_within_its_budget_and_a_validation(embedded: Host, tmp_path: Path) -> None:
    """The clock of tests/unit/test_tune_budget.py is simulated; this one is not."""
    begin = time.monotonic()
    done = ran(tmp_path, embedded, "--budget", "40s", "--journal", "b.jsonl")
    took = time.monotonic() - begin
    unit = max((r["took"] for r in records(tmp_path / "b.jsonl") if r["what"] == "checked"), default=0.0)
    assert took <= 1.2 * 40 + unit + 15, "15 s to start Python and to open the device"
    phases = re.findall(r"^ *\d+ s  (race|compare|validate)(?=: )", done.stderr, re.M)
    assert list(dict.fromkeys(phases)) == ["race", "compare", "validate"]
    assert done.stderr.startswith(f"device: {embedded.label}, API opencl\n")


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """A local Dask scheduler with this number of workers, each a separate process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    common = ["--no-dashboard"]
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    parts = [[*dask, "--port", address.rpartition(":")[2], *common]]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", *common]
    parts += [worker] * workers
    log = (folder / "cluster.log").open("w")
    started = [
        subprocess.Popen(p, stdout=log, stderr=log, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)})
        for p in parts
    ]
    try:
        import distributed

        with distributed.Client(address, timeout=60) as client:
            client.wait_for_workers(workers, timeout=60)
        yield address
    finally:
        for process in started[::-1]:
            process.kill()
            process.wait()
        log.close()


@pytest.mark.nightly
def test_two_workers_share_the_races(embedded: Host, tmp_path: Path) -> None:
    if not toolchain.has_module("distributed"):
        missing("Dask is not installed (pip install 'hsgen[dask]')")
    with cluster(tmp_path, 2) as address:
        done = ran(tmp_path, embedded, "--dask", address, "--write")
        assert "written to bare.toml" in done.stdout
        found = records(tmp_path / "j.jsonl")
        races = [r for r in found if r["what"] == "race"]
        assert [r["number"] for r in races] == list(range(len(races))) and len(races) % 2 == 0, "two at a time"
        shapes = [{json.dumps(c["table"]) for c in r["candidates"]} for r in races]
        assert len(shapes[0] & shapes[1]) == 1, "they share the file's shape alone"
        assert {r["what"] for r in found} >= {"final", "checked"}
        with pytest.raises(Unavailable, match=r"worker tcp://.*: has no H100, it has .*; start workers where that is"):
            spread.Cluster(replace(field(embedded), device="H100"), address)
