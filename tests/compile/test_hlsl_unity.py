"""The class in docs/guides/unity.md: Mono compiles and runs it with a Unity that prints dispatches."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools import missing, need

from hsgen.bundle.plans import plan_json
from hsgen.core.interpreter import launches, offset, scratch_bytes
from hsgen.core.sort import Sort
from hsgen.system import resources
from hsgen.targets import target

PAGE = resources.root() / "docs/guides/unity.md"
UNITY = Path(__file__).with_name("unity") / "unity.cs"
JSON = Path("/usr/lib/cli/Newtonsoft.Json-5.0/Newtonsoft.Json.dll")
GROUPS = 65535


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's class with the program that calls it."""
    need("mcs", "mono")
    if not JSON.is_file():
        missing("Mono's JSON is not installed (apt-get install libnewtonsoft-json5.0-cil)")
    folder = tmp_path_factory.mktemp("unity")
    text = re.findall(r"```csharp\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    assert len(text.splitlines()) < 80
    (folder / "sorter.cs").write_text(text, encoding="utf-8")
    (folder / JSON.name).write_bytes(JSON.read_bytes())
    command = ["mcs", "-warnaserror", f"-r:{JSON}", "-out:sort.exe", "sorter.cs", str(UNITY)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "sort.exe"


def expected(sort: Sort, n: int) -> Iterator[str]:
    """The program's lines for n keys, by hsgen's interpreter."""
    yield f"n {n} {scratch_bytes(sort, n)}"
    for made in launches(sort.plan, n, GROUPS, in_place=True):
        step, kernel = made.step, sort.kernel(made.step.kernel)
        pairs = list(zip(kernel.buffers, step.bindings, strict=True))
        bound = {b.name: "scratch" if at.role == "scratch" else "keys" for b, at in pairs}
        numbers = {f"{b.name}_at": offset(at, n) for b, at in pairs}
        numbers |= {"hs_given_n": n, "hs_given_argument": made.argument, "hs_given_grid": made.grid[0]}
        words = [f"{name}={value}" for group in (bound, numbers) for name, value in sorted(group.items())]
        yield " ".join([step.kernel, f"{made.grid[0]}x{made.grid[1]}x1", *words])


@pytest.mark.parametrize(("name", "key"), [("generic", "u32"), ("direct3d", "u64")])
def test_the_page_dispatches_what_the_plan_says(name: str, key: str, program: Path, tmp_path: Path) -> None:
    sort = target.find(name).sort("auto", key)
    plan = tmp_path / "plan.json"
    plan.write_bytes(plan_json(sort))
    counts = [1, 2, 1000, 65536, 65537, 131072, 131073, 10**6, 10**7 + 3, 2**27]
    counts += [16 * 3**k for k in range(10)]
    done = subprocess.run(
        ["mono", str(program), str(plan), *map(str, counts)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [line for n in counts for line in expected(sort, n)]


def test_the_page_lists_the_kernels_of_its_plan() -> None:
    listed = re.findall(r"#pragma kernel (\w+) HS_KERNEL_(\w+)", PAGE.read_text(encoding="utf-8"))
    kernels = [k.name for k in target.find("generic").sort("auto", "u32").kernels]
    assert listed == [(name, name) for name in kernels]
