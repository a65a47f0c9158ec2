"""docs/internals/add-an-api.md, followed literally in a copy of the checkout: its files and its commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import ROOT, blocks, only, shell
from tools import need, tool

PAGE = ROOT / "docs/internals/add-an-api.md"


def files() -> dict[str, str]:
    """The page's files by path."""
    text = PAGE.read_text(encoding="utf-8")
    return dict(re.findall(r"`([\w/.-]+)`:\n\n```\w+\n(.*?)^```$", text, re.M | re.S))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of generator, templates and targets with the page's API, which adds only new files, and a bundle."""
    folder = tmp_path_factory.mktemp("api")
    for part in ("hsgen", "templates", "targets", "generated"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.pyc.*"))
    assert len(files()) == sum(language in ("python", "jinja", "toml", "c") for language, _ in blocks(PAGE))
    for name, text in files().items():
        path = folder / name
        assert not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for text in only(PAGE, "sh"):
        done = shell(text, folder)
        assert done.returncode == 0, f"{text}\n{done.stdout}"
    return folder


def test_the_bundle_is_in_the_names_of_the_api(copy: Path) -> None:
    """Runtime, example, lists, tables and build files; the kernels are CUDA's, the functions are Toy's."""
    (shown,) = only(PAGE, "console")
    command, *names = shown.splitlines()
    assert shell(command.removeprefix("$ "), copy).stdout.split() == names
    made = copy / "sorts"
    wanted = ["src/hs_toy.cu", "src/hs_targets_toy.cu", "targets/toy-gpu/toy-gpu_toy.cu", "examples/sort_toy.cu"]
    wanted += ["targets/toy-gpu/kernels/toy/radix_u32.cu"]
    for path in wanted:
        assert "hs_cuda" not in (made / path).read_text(encoding="utf-8"), path
    assert '#include "hs/hs_toy_names.h"' in (made / "include/hs/hs_toy.h").read_text(encoding="utf-8")
    listed = (made / "sources/toy.txt").read_text(encoding="utf-8").split()
    assert {*wanted[:3]} <= {*listed} and all((made / path).is_file() for path in listed)
    for path in ("CMakeLists.txt", "meson.build", "README.md"):
        assert "hs_toy" in (made / path).read_text(encoding="utf-8")
    assert "--api toy" in (made / wanted[-1]).read_text(encoding="utf-8")


def test_everything_else_stays_unchanged(copy: Path) -> None:
    """The committed bundle is unchanged; CUDA and Toy can be generated together."""
    done = shell("hsgen check", copy)
    assert done.returncode == 0 or (done.returncode == 3 and "all but this SPIR-V is up to date" in done.stdout)
    both = (copy / "toy-gpu.toml").read_text(encoding="utf-8")
    both = both.replace('apis = ["toy"]', 'apis = ["toy", "cuda"]').replace('"toy-gpu"', '"both"')
    (copy / "both.toml").write_text(both, encoding="utf-8")
    done = shell("hsgen generate -t both.toml -o both && hsgen check -o both -t both.toml && hsgen verify both", copy)
    assert done.returncode == 0, done.stdout
    own = copy / "both/targets/both"
    assert {"both.c", "both_cuda.cu", "both_toy.cu"} == {p.name for p in own.iterdir() if p.is_file()}
    assert {p.name for p in (own / "kernels").iterdir()} == {"cuda", "toy"}
    done = shell("hsgen generate -t both.toml --single-file -o one && hsgen check -o one -t both.toml", copy)
    assert done.returncode == 0, done.stdout
    assert {"hs_sort_cuda.h", "hs_sort_toy.h"} == {p.name for p in (copy / "one").glob("*.h")}
    assert "hs_cuda_sort" not in (copy / "one/hs_sort_toy.h").read_text(encoding="utf-8")


def test_the_command_line_knows_it(copy: Path) -> None:
    """Its devices are driven like CUDA's, by a harness with its names; its options are CUDA's."""
    run = "hsgen validate -t toy-gpu.toml --api toy"
    done = shell(f"{run} --option graph=2", copy)
    assert done.returncode == 2 and "option graph=2: unknown for toy; it has graph=0 to 1" in done.stdout
    done = shell(f"{run} --runtime python", copy)
    assert done.returncode == 2 and "runtime python: drives opencl only; omit --runtime for toy" in done.stdout
    show = "from hsgen.apis import APIS; from hsgen.engines import native; print(native.harness_files(APIS['toy']))"
    done = subprocess.run([sys.executable, "-c", show], cwd=copy, capture_output=True, text=True, check=False)
    assert "hs_toy_sort" in done.stdout and "hs_cuda" not in done.stdout, done.stderr


def test_what_it_generates_compiles(copy: Path) -> None:
    """The runtime and a target's kernels with CUDA's compiler; the tables as C99."""
    nvcc, cc = tool("nvcc"), tool("gcc")
    made = copy / "sorts"
    for path in (made / "sources/toy.txt").read_text(encoding="utf-8").split():
        compiler = [cc, "-std=c99", "-Wall", "-Werror"] if path.endswith(".c") else [nvcc, "-arch=sm_90"]
        command = [*compiler, "-Iinclude", "-c", path, "-o", str(copy / "object.o")]
        done = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{path}\n{done.stderr}"


@pytest.mark.nightly
def test_the_library_that_drives_it_builds(copy: Path, tmp_path: Path) -> None:
    """For a GPU that only a fake nvidia-smi reports; it has the baselines of CUDA's harness, too."""
    need("nvcc")
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 9.0\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    build = """
from hsgen.engines import native
from hsgen.targets import target
print(native.library("toy", [target.find("toy-gpu.toml")], "u32", ["cub"], algorithms=["radix"]))
"""
    variables = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", build]
    done = subprocess.run(command, cwd=copy, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    symbols = Path(done.stdout.strip()).read_bytes()
    assert all(name in symbols for name in (b"hn_sort", b"hn_baseline_sort", b"hs_toy_sort"))
    assert b"hs_cuda" not in symbols


def test_the_page_keeps_the_rules_of_the_project(copy: Path) -> None:
    """Its Python is formatted and lint-free, and passes the type checks of hsgen's own modules."""
    config = ROOT / "pyproject.toml"
    for command in (
        ["ruff", "format", "--check", "--config", str(config), "hsgen/apis/toy.py"],
        ["ruff", "check", "--config", str(config), "hsgen/apis/toy.py"],
        ["mypy", "--strict", "--config-file", str(config), "--cache-dir", str(ROOT / ".mypy_cache"), "hsgen/apis"],
    ):
        done = subprocess.run([sys.executable, "-m", *command], cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
