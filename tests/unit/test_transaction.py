"""Updates of bundles on disk that are interrupted: by a kill at any call of the system, by errors, by others."""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import killed
import pytest
import tiny
from conftest import missing
from nightly import nightly

from hsgen import lock, store, transaction, tree
from hsgen.errors import Usage, Wrong
from hsgen.manifest import MANIFEST, digest

OLD, NEW = killed.CASES["replace"]


def expected(folder: Path, targets: dict[str, str]) -> dict[str, bytes | None]:
    """What a bundle looks like that was never interrupted."""
    if targets:
        tiny.write(folder, targets)
    return tiny.state(folder) if targets else {}


@pytest.mark.parametrize(
    ("case", "step", "first"), [("create", 5, 2), ("replace", 6, 3), *(nightly(case, 1, 1) for case in killed.CASES)]
)
def test_an_update_that_is_killed_at_any_call_is_healed_by_the_next(
    tmp_path: Path, case: str, step: int, first: int
) -> None:
    """The next may be the same or another, and neither leaves anything of the one that was killed."""
    strace = shutil.which("strace")
    if strace is None:
        missing("strace is not installed (apt-get install strace)")
    (tmp_path / "killed").mkdir()
    script = [sys.executable, killed.__file__, case, str(tmp_path / "killed"), str(step), str(first)]
    done = subprocess.run([strace, *killed.options(), *script], capture_output=True, text=True, check=False)
    if done.returncode and "ptrace" in done.stderr:
        missing(f"strace may not trace here: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    codes = dict(line.split() for line in done.stdout.splitlines())
    assert {codes.pop(name) for name in list(codes) if codes[name] != "-9"} == {"0"}  # each kind to its last call
    assert len({name.split("-")[0] for name in codes}) >= 3 and len(codes) >= (6 if step > 1 else 60)
    before, after = killed.CASES[case]
    want = {name: expected(tmp_path / name, targets) for name, targets in (("before", before), ("after", after))}
    half = 0
    for name in codes:
        folder = tmp_path / "killed" / name
        have = tiny.state(folder) if folder.exists() else {}
        if transaction.WORK in have:
            half += 1
            with pytest.raises(Wrong, match="an update of it was interrupted; run: hsgen generate -o"):
                store.verify(folder)
            assert tiny.state(folder) == have  # which changes nothing
        else:
            assert have in ({}, *want.values()), name
        other = tmp_path / "other"
        if folder.exists():
            shutil.copytree(folder, other)
        tiny.write(folder, after)
        assert tiny.state(folder) == want["after"], name
        if before:
            tiny.write(other, before)
            assert tiny.state(other) == want["before"], name
            shutil.rmtree(other)
        shutil.rmtree(other, ignore_errors=True)
        found = store.verify(folder)
        assert found and not found[1]
    assert half > len(codes) / 2
