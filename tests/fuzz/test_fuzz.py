"""A short run of the fuzzer (nightly a long one), and tests of its guards."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import missing
from nightly import EVERY, NIGHTLY
from run import HERE, asked, run

from hsgen.algorithms.radix.strategies import STRATEGIES
from hsgen.engines.hosts import Host


def _guarded(side: str) -> tuple[int, list[str]]:
    """The exit status of a process with an illegal access, and the steps that it printed before."""
    done = subprocess.run([sys.executable, str(HERE / "child.py"), "guard", side], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.device
@pytest.mark.parametrize(("side", "last"), [("begin", "-1"), ("end", "10"), ("write", "-2")])
def test_an_access_beyond_an_array_ends_the_process(embedded: Host, side: str, last: str) -> None:
    """Reads before the start and after the end, and a write to a read-only array; accesses within it do not."""
    code, said = _guarded(side)
    assert code < 0 and said[-1] == f'{{"at": {last}}}', (code, said)
    assert len(said) == (1 if side == "write" else 11)


@pytest.mark.device
def test_random_legal_targets_sort_right(embedded: Host) -> None:
    """Fast run: a few small targets, new ones each day.  Nightly: for 2 minutes; `EVERY`: 500, however long they take.

    Between guard pages, on fibers of the host and, at night, on lavapipe, where it is installed.
    """
    seed = asked("SEED", int(time.time()) // 86400)
    count = asked("COUNT", 500 if NIGHTLY else 4)  # the first four are not for lavapipe, which takes long
    seconds = 120 if NIGHTLY and not EVERY else 1e9
    found = run(seed, range(count), "many" if NIGHTLY else "fast", seconds)
    print(f"{found}\n{found.counted()}")
    if found.copied:
        missing(f"a runtime that uses the memory of the host in place: {found.copied}; guards would prove nothing")
    assert not found.failures, "\n\n".join([str(found), *found.failures[:5]])
    assert found.calls >= 10 * found.sorts > 0, str(found)
    if EVERY:
        assert set(found.strategies) >= set(STRATEGIES), found.counted()
        assert {"of 1 lane", "of 2 lanes", "of 1 subgroup"} <= set(found.shapes), found.counted()


def test_failures_are_reported_with_their_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crashed process and one that finds an error: each is a failure with its seed and its target."""
    said = '{"target": "name = 7"}\\n{"sort": "auto u32", "at": "compile"}\\n{"at": "5 keys"}\\n'
    ran = '{"ran": ["hybrid", "bitonic"], "lanes": 2, "subgroups": 1}'
    fake = tmp_path / "child.py"
    fake.write_text(
        f"import os, sys\nprint('{said}', end='', flush=True)\n"
        "if sys.argv[2] == '0': os.abort()\n"
        f"print('{ran}')\n"
        'print(\'{"found": "key 1 is wrong"}\')\nprint(\'{"done": 1, "calls": 9, "skipped": 2}\')\n',
        encoding="utf-8",
    )
    monkeypatch.setattr("run.HERE", tmp_path)
    found = run(17, range(2), "fast")
    first, second = found.failures
    assert "auto u32: ended with -6 at: 5 keys" in first and "--seed 17 --number 0 --size fast\nname = 7" in first
    assert second.startswith("key 1 is wrong\n") and "--seed 17 --number 1" in second
    assert (found.targets, found.sorts, found.calls, found.skipped) == (2, 1, 9, 2)
    assert found.counted().splitlines() == [
        "strategies: bitonic 1, hybrid 1",
        "work-groups: of 1 subgroup 1, of 2 lanes 1",
        "ways: opencl 2",
    ]
