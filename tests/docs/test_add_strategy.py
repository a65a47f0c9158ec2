"""A strategy of radix sorts is added from outside: one module, one folder of templates, and no other change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import ROOT

from hsgen.engines.hosts import Host

MODULE = '''"""One work-group sorts on chip, like `single`, in a kernel of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from hsgen.algorithms.radix import single
from hsgen.algorithms.radix.single import FIELDS as FIELDS
from hsgen.algorithms.radix.single import Single, fitted, moved, notes, problems, space, test_counts
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Plan

__all__ = ["fitted", "moved", "notes", "problems", "space", "test_counts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone(Single):
    """The table ``[radix.KEY.alone]``."""

    STRATEGY: ClassVar[str] = "alone"


Params = Alone


def kernels(p: Alone) -> tuple[Kernel, ...]:
    """Return the only kernel."""
    return (replace(single.kernel(p), name="alone", template="radix/alone/alone"),)


def plan(p: Alone) -> Plan:
    """Return the plan: one row, up to a tile."""
    made = single.plan(p)
    return replace(made, steps=tuple(replace(s, kernel="alone") for s in made.steps))
'''
TEMPLATE = '{% import "radix/single/single.j2" as single with context %}\n{{ single.single() }}'
TARGET = """schema = 3
name = "lonely"
summary = "one work-group"
apis = ["opencl", "cuda"]

[device]
subgroups = [1]
shuffle = false
work_group = 256
groups = 65535
local_bytes = 32768
int64 = true
storage8 = true
storage16 = true
binding_bytes = 134217728
progress = "none"

[radix.u32.alone]
bits = 4
items = 4
work_group = 64
subgroup = 1
ranker = "bitmask"
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the generator with a strategy more, and a target that uses it."""
    folder = tmp_path_factory.mktemp("strategy")
    for part in ("hsgen", "templates", "targets"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.pyc.*"))
    (folder / "hsgen/algorithms/radix/alone.py").write_text(MODULE, encoding="utf-8")
    (folder / "templates/radix/alone").mkdir()
    (folder / "templates/radix/alone/alone.j2").write_text(TEMPLATE, encoding="utf-8")
    (folder / "lonely.toml").write_text(TARGET, encoding="utf-8")
    return folder


def hsgen(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the generator of the copy."""
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    command = [sys.executable, "-m", "hsgen", *arguments]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=600)


def test_a_strategy_is_a_module_and_a_folder(copy: Path) -> None:
    done = hsgen(copy, "generate", "-t", "lonely.toml", "--key", "u32", "--algorithm", "radix", "-o", "out")
    assert done.returncode == 0, done.stderr
    (text,) = (copy / "out/targets/lonely/kernels/cuda").glob("radix_u32*")
    assert "radix/alone/alone.j2 radix/" in text.read_text(encoding="utf-8")
    shown = hsgen(copy, "show", "lonely.toml", "--key", "u32")
    assert shown.returncode == 0 and "strategy: alone" in shown.stdout
    (copy / "wrong").mkdir()
    (copy / "wrong/lonely.toml").write_text(TARGET.replace("bits = 4", "bit = 4"), encoding="utf-8")
    wrong = hsgen(copy, "show", "wrong/lonely.toml")
    assert wrong.returncode == 2 and "radix.u32.alone.bit: unknown key; did you mean bits?" in wrong.stderr


@pytest.mark.device
def test_the_strategy_sorts(copy: Path, embedded: Host) -> None:
    done = hsgen(copy, "validate", "-t", "lonely.toml", "--key", "u32", "--algorithm", "radix")
    assert done.returncode == 0, done.stdout + done.stderr
