"""docs/internals/add-an-operation.md, followed literally in a copy of the checkout: adding files adds an operation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import ROOT, blocks, only, place, shell
from tools import GLSL, need

from hsgen.engines.hosts import Host

PAGE = ROOT / "docs/internals/add-an-operation.md"
FILES = [
    "hsgen/operations/reverse.py",
    "hsgen/algorithms/reverse.py",
    "templates/reverse/words.j2",
    "templates/reverse/exchange.j2",
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of generator, templates and targets, with the page's files added."""
    folder = tmp_path_factory.mktemp("operation")
    for part in ("hsgen", "templates", "targets"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    assert not any((folder / name).exists() for name in FILES)
    assert place(folder, PAGE) == FILES
    assert len(FILES) == sum(language in ("python", "jinja") for language, _ in blocks(PAGE))
    return folder


def test_the_page_adds_an_operation(copy: Path) -> None:
    """The bundle has its kernel in every dialect of the target, under its own name, and a C function for it."""
    need(GLSL)
    without, _ = only(PAGE, "sh")
    done = shell(without, copy)
    assert done.returncode == 0, done.stdout
    assert "plan for 1000 keys: 1 launches" in done.stdout and "reversals is up to date" in done.stdout
    target = copy / "reversals/targets/generic"
    for suffix in ("opencl/reverse_u32.cl", "cuda/reverse_u64.cu", "glsl/reverse_u64.comp"):
        text = (target / "kernels" / suffix).read_text(encoding="utf-8")
        assert "reverse of " not in text and "reversal of u" in text and "exchange" in text
    headers = copy / "reversals/include/hs"
    for api in ("opencl", "vulkan", "cuda"):
        text = (headers / f"hs_{api}.h").read_text(encoding="utf-8")
        assert f"}} hs_{api}_reverse_args;" in text and f"hs_status hs_{api}_reverse(" in text
    assert '"generic", "reverse", "u32", "none",' in (target / "generic.c").read_text(encoding="utf-8")


@pytest.mark.nightly
def test_its_kernels_reverse(copy: Path, embedded: Host) -> None:
    """On a device validation passes, and a benchmark times it."""
    _, with_device = only(PAGE, "sh")
    done = shell(with_device, copy)
    assert done.returncode == 0, done.stdout
    for key in ("u32", "u64"):
        row = re.search(rf"^generic +opencl +{key} .*Intel.* (\d+) +0 +1$", done.stdout, re.M)
        assert row and int(row[1]) >= 1000, done.stdout
    assert "random  reversal" in done.stdout and re.search(r"^ *65536 +hsgen reverse +\d", done.stdout, re.M)


def test_a_wrong_oracle_is_noticed(copy: Path, embedded: Host) -> None:
    """A validation gets the expected results from the operation: right ones pass, wrong ones fail."""
    script = """
from dataclasses import replace
import numpy as np
from hsgen.engines.hosts import hosts
from hsgen.engines.selection import embedded
from hsgen.cli.engines import direct
from hsgen.operations import reverse
from hsgen.targets import target
from hsgen.tools.validate import validation
host = next(filter(embedded, hosts()))
engine = direct(host, target.find("generic").sort("reverse", "u32"), strict=True)
pairs = validation.plan_cases(engine.sort, full=False, seed=1)[:60]
print(validation.run(engine, pairs, 1).failed, end=" ")
right = reverse._Reverse.call
def wrong(self, sort, keys, how, **more):
    return replace(right(self, sort, keys, how, **more), expected=np.sort(keys))
reverse._Reverse.call = wrong
print(validation.run(engine, pairs, 1).failed > 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "True"]


def test_the_page_keeps_the_rules_of_the_project(copy: Path) -> None:
    """Its Python is formatted and lint-free, and passes the type checks of hsgen's own modules."""
    config = ROOT / "pyproject.toml"
    for tool in (
        ["ruff", "format", "--check", "--config", str(config), *FILES[:2]],
        ["ruff", "check", "--config", str(config), *FILES[:2]],
        ["mypy", "--strict", "--config-file", str(config), "--cache-dir", str(ROOT / ".mypy_cache"), "hsgen"],
    ):
        done = subprocess.run([sys.executable, "-m", *tool], cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
