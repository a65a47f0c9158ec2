"""A sorter for some calls has as many kernels as these launch, from source and from a binary."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest
from building import CONSUMERS, WARNINGS, bundle, embedded_only, folder, need, opencl, program, run, sources
from nightly import nightly

from hsgen.core.interpreter import launches
from hsgen.engines.hosts import Host
from hsgen.targets import target

IN_PLACE, OUT_OF_PLACE = 1, 2
"""As in hs.h."""
CASES = [
    (0, 1 << 20, 0),
    (0, 100, IN_PLACE),
    (1 << 18, 0, OUT_OF_PLACE),
    nightly(0, 0, 0),
    nightly(3000, 100_000, 0),
]


def launched(name: str, low: int, high: int, calls: int) -> set[str]:
    """The kernels that calls of a sort by all bits launch, by the Python interpreter, at every bound of its plan."""
    plan = target.find(name).sort("auto", "u32").plan
    most = high or plan.max_n
    bounds = {n for s in plan.steps for n in (s.guard.min_n + 1, s.guard.max_n)} | {low, most}
    places = [p == IN_PLACE for p in (IN_PLACE, OUT_OF_PLACE) if not calls or calls & p]
    counts = [n for n in bounds if low <= n <= most]
    return {x.step.kernel for n in counts for p in places for x in launches(plan, n, 2**31, in_place=p)}


@cache
def creation(name: str) -> Path:
    """The program with the sorts of a target."""
    need("gcc")
    opencl()
    place = bundle(name)
    command = ["gcc", "-std=c99", *WARNINGS, f"-I{place / 'include'}", CONSUMERS / "creation.c"]
    return program("creation", *command, *sources(place), "-lOpenCL")


@pytest.mark.device
@pytest.mark.usefixtures("embedded")
@pytest.mark.parametrize(("low", "high", "calls"), CASES)
def test_as_many_kernels_as_calls_launch(low: int, high: int, calls: int) -> None:
    said = run(creation("generic"), str(low), str(high), str(calls), env=embedded_only())
    expected = len(launched("generic", low, high, calls))
    assert said == f"{expected} kernels, from a binary: 0, then 1\n"
    everything = len(target.find("generic").sort("auto", "u32").kernels)
    assert expected < everything if high == 100 or low == 1 << 18 else expected


@pytest.mark.device
def test_the_example_keeps_its_kernels_in_a_file(embedded: Host) -> None:
    """A second run takes them from there; a file that is damaged is replaced."""
    need("gcc")
    opencl()
    place, kept = bundle("generic"), folder("kept") / "kernels"
    command = ["gcc", "-std=c99", *WARNINGS, f"-I{place / 'include'}", place / "examples/sort_opencl.c"]
    path = program("kept", *command, *sources(place), "-lOpenCL")
    lines, stored = [], []
    for _ in range(2):
        lines.append(run(path, "", kept, env=embedded_only()))
        stored.append((kept.stat().st_mtime_ns, kept.read_bytes()))
    assert lines[0] == lines[1] and "with target generic" in lines[0]
    assert stored[0] == stored[1], embedded.name
    kept.write_bytes(stored[0][1][:-1])
    assert run(path, "", kept, env=embedded_only()) == lines[0]
    assert kept.read_bytes() == stored[0][1]


@pytest.mark.device
@pytest.mark.usefixtures("embedded")
def test_the_example_names_what_the_sort_lacks() -> None:
    """If its call is changed to one that the bundle was not generated for."""
    need("gcc")
    opencl()
    place = bundle("generic")
    text = (place / "examples/sort_opencl.c").read_text(encoding="utf-8")
    changed = folder("lacking") / "lacking.c"
    changed.write_text(
        text.replace("args.scratch = scratch;\n", "args.scratch = scratch; args.options.descending = 1;\n")
    )
    command = ["gcc", "-std=c99", *WARNINGS, f"-I{place / 'include'}", changed]
    path = program("lacking", *command, *sources(place), "-lOpenCL")
    done = subprocess.run([path], env={**os.environ, **embedded_only()}, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and not done.stdout
    said = "not sorted: the sort was not generated for an option or buffer of the call (OpenCL code 0)"
    assert done.stderr.splitlines()[:2] == [said, "descending: descending order (--order both)"]
