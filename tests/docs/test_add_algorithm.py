"""docs/internals/add-an-algorithm.md, followed literally in a copy of the checkout: its files and its commands."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import ROOT, blocks, only, place, shell
from tools import GLSL, need

from hsgen.engines.hosts import Host

PAGE = ROOT / "docs/internals/add-an-algorithm.md"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of generator, templates and targets, with the page's algorithm added."""
    folder = tmp_path_factory.mktemp("algorithm")
    for part in ("hsgen", "templates", "targets"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.pyc.*"))
    python = folder / ".venv/bin/python"  # as in `make setup`
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nexec "$PYTHON" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    named = place(folder, PAGE)
    assert len(named) == sum(language in ("python", "jinja", "toml") for language, _ in blocks(PAGE))
    return folder


@pytest.mark.nightly
def test_the_page_adds_an_algorithm_that_sorts(copy: Path, embedded: Host) -> None:
    """Its commands succeed; validation passes for both key types; the bundle has OpenCL and CUDA."""
    output = {}
    for text in only(PAGE, "sh"):
        done = shell(text, copy)
        assert done.returncode == 0, f"{text}\n{done.stdout}"
        output[text] = done.stdout
    shown = next(out for text, out in output.items() if "--plan 1000" in text)
    assert "plan for 1000 keys: 10 launches" in shown, shown
    validated = next(out for text, out in output.items() if "validate" in text)
    assert "1 passed" in validated, validated
    for key in ("u32", "u64"):
        row = re.search(rf"^generic +opencl +{key} .*Intel.* (\d+) +0 +1$", validated, re.M)
        assert row and int(row[1]) >= 1000, validated
    kernels = copy / "sorts/targets/generic/kernels"
    for suffix in ("opencl/runs_u32.cl", "opencl/runs_u64.cl", "cuda/runs_u64.cu", "glsl/runs_u64.comp"):
        assert "runs_merge" in (kernels / suffix).read_text(encoding="utf-8")


def test_the_added_kernels_are_glsl(copy: Path) -> None:
    """They compile for Vulkan, also with pairs of u32 where a target has no 64-bit integers."""
    need(GLSL)
    (tables,) = only(PAGE, "toml")
    text = (copy / "targets/swiftshader.toml").read_text(encoding="utf-8").replace('"swiftshader"', '"pairs"')
    (copy / "pairs.toml").write_text(f"{text}\n{tables}", encoding="utf-8")
    done = shell("hsgen generate -t generic -t pairs.toml --api vulkan --algorithm runs -o glsl", copy)
    assert done.returncode == 0, done.stdout
    for target in ("generic", "pairs"):
        assert (copy / f"glsl/targets/{target}/spirv/{target}_runs_u64.c").is_file()


def test_the_page_keeps_the_rules_of_the_project(copy: Path) -> None:
    """Its Python is formatted and lint-free, and passes the type checks of hsgen's own modules."""
    files = ["hsgen/algorithms/runs.py", "tests/unit/test_runs.py"]
    config = ROOT / "pyproject.toml"
    for tool in (
        ["ruff", "format", "--check", "--config", str(config), *files],
        ["ruff", "check", "--config", str(config), *files],
        ["mypy", "--strict", "--config-file", str(config), "--cache-dir", str(ROOT / ".mypy_cache"), "hsgen"],
    ):
        done = subprocess.run([sys.executable, "-m", *tool], cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
