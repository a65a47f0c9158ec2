"""The Rust program of the guide for WebGPU: its size, its syntax, and the launches that it reads from plans."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hsgen.bundle.manifest import Choice
from hsgen.bundle.plans import plan_json
from hsgen.bundle.selection import sorts
from hsgen.core.interpreter import launches, offset
from hsgen.targets import target

GUIDE = Path(__file__).parents[2] / "docs/guides/webgpu-native.md"
COUNTS = (0, 1, 2, 1023, 1024, 1025, 5000, 65537, 1000003, 2**25)


def program() -> str:
    """The program of the guide."""
    [found] = re.findall(r"```rust\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def test_the_program_is_short() -> None:
    lines = program().splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 120


def test_rustfmt_reads_the_program() -> None:
    tool = shutil.which("rustfmt")
    if not tool or subprocess.run([tool, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("rustfmt is not installed, or rustup has no toolchain for it")
    done = subprocess.run([tool, "--edition", "2021"], input=program(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def played(plan: dict[str, Any], n: int) -> list[tuple[object, ...]]:
    """The kernel, argument, work-groups and beginnings of buffers of each launch, as the program has them."""
    found: list[tuple[object, ...]] = []
    for step in plan["steps"]:
        guard, grid = step["guard"], step["grid"]
        if step["plain"] is None or not guard["min_n"] < n <= guard["max_n"]:
            continue
        groups = min((n + grid["add"]) // grid["div"] * grid["mul"], grid["cap"])
        places = []
        for b in step["bindings"]:
            role, row = (b, {}) if isinstance(b, str) else (b["role"], b)
            most = row.get("max_n")
            begin = row.get("plus", 0) + row.get("per_n", 0) * (n if most is None else min(n, most))
            places.append((role if isinstance(b, str) else "scratch", -(-begin // 1024) * 1024))
        if groups:
            found.append((step["kernel"], step["plain"], groups, places))
    return found


@pytest.mark.parametrize("name", ["webgpu", "webgpu-subgroups"])
@pytest.mark.parametrize("key", ["u32", "u64", "u16", "f32"])
def test_it_launches_what_the_plan_says(name: str, key: str) -> None:
    choice = Choice(keys=(key,), apis=("webgpu",), algorithms=("auto",))
    found = sorts(target.find(name), choice)
    assert found
    for sort in found:
        plan = json.loads(plan_json(sort))
        for n in (n for n in COUNTS if n <= plan["max_n"]):
            expected = [
                (x.step.kernel, x.argument, x.groups, [(b.role, offset(b, n)) for b in x.step.bindings])
                for x in launches(sort.plan, n, in_place=False)
            ]
            assert played(plan, n) == expected
            assert all(0 <= given < 2**31 for _, given, *_ in expected)
