"""The build option HS_CHECK: what it finds, and that a release build does not look for it."""

from __future__ import annotations

import os
import subprocess

import pytest
from building import CONSUMERS, SMALL, WARNINGS, bundle, core, embedded_only, need, opencl, program, runtime

FOUND = {
    "apart": "success",
    "host memory": "buffers overlap",
    "read only": "an argument is null",
    "write only": "an argument is null",
    "plan": "success",
    "faulty plan": "less scratch memory than the sort needs",
}
RELEASE = {**dict.fromkeys(("apart", "host memory", "plan", "faulty plan"), "success")}


def statuses(*options: str) -> dict[str, str]:
    """The statuses of the calls of the program, by name."""
    need("gcc")
    opencl()
    place = bundle(SMALL)
    command = ["gcc", "-std=c99", "-O1", *WARNINGS, *options, f"-I{place / 'include'}"]
    files = [*runtime(place, "opencl"), *core(place), place / "src/hs_targets.c", place / "targets/small/small.c"]
    made = program("checked", *command, CONSUMERS / "checked.c", *files, "-lOpenCL")
    env = {**os.environ, **embedded_only()}
    done = subprocess.run([made], capture_output=True, text=True, env=env, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


@pytest.mark.device
@pytest.mark.usefixtures("embedded")
@pytest.mark.parametrize(
    ("options", "expected"),
    [(("-DHS_CHECK=1",), FOUND), pytest.param((), RELEASE, marks=pytest.mark.nightly)],
    ids=["checked", "release"],
)
def test_what_a_build_finds(options: tuple[str, ...], expected: dict[str, str]) -> None:
    assert statuses(*options) == expected
