"""The heap of a process that compiles in itself: no block is overrun, and no text of hsgen is read beyond its end."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import nightly

from hsgen.engines.hosts import Host

pytestmark = pytest.mark.device
HERE = Path(__file__).parent
CHECKED, WORKER = HERE / "heap_checked.c", HERE / "heap_worker.py"
FAULTS = """
#include <stdlib.h>
int main(void)
{
    char *volatile a = malloc(20), *volatile b = malloc(30), *volatile c = malloc(40);
    a[20] = 1;
    free(a);
    free(b);
    b[3] = 9;
    free(c);
    free(c);
    return 0;
}
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The allocator as a library to preload."""
    if "CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", {}):
        pytest.skip("the allocator to preload needs glibc")
    if (gcc := shutil.which("gcc")) is None:
        pytest.skip("gcc is not installed")
    made = tmp_path_factory.mktemp("heap") / "heap_checked.so"
    command = [gcc, "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", CHECKED, "-o", made, "-ldl", "-lpthread"]
    subprocess.run(command, check=True)
    return made


def preloaded(command: list[str | Path], checked: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with the allocator."""
    env = {**os.environ, "LD_PRELOAD": str(checked), "PYTHONPATH": str(HERE.parents[1])}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_the_allocator_names_each_fault(checked: Path, tmp_path: Path) -> None:
    (tmp_path / "faults.c").write_text(FAULTS, encoding="utf-8")
    subprocess.run(["gcc", "-O0", "-w", tmp_path / "faults.c", "-o", tmp_path / "faults"], check=True)
    lines = preloaded([tmp_path / "faults"], checked).stderr.splitlines()
    assert [re.sub(r"; allocated by .*/faults 0x[0-9a-f]+, freed by .*", "", x) for x in lines] == [
        "HEAP write behind a block: 20 bytes, at byte 20",
        "HEAP block freed twice: 40 bytes, at byte 0",
        "HEAP write behind a freed block: 20 bytes, at byte 20",
        "HEAP write to a freed block: 30 bytes, at byte 3",
        "CHECKED 0 texts, 0 options",
    ]


@pytest.mark.parametrize("count", [2, nightly(60)])
def test_fresh_operations_overrun_nothing(embedded: Host, checked: Path, count: int) -> None:
    done = preloaded([sys.executable, WORKER, str(count), "1"], checked)
    assert done.returncode == 0, done.stderr
    assert "HEAP" not in done.stderr, done.stderr
    (texts, options) = map(int, re.findall(r"^CHECKED (\d+) texts, (\d+) options$", done.stderr, re.M)[-1])
    assert texts >= count and options >= count and done.stdout.startswith(f"{count} operations, ")
