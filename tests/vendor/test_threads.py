"""One OpenCL sorter in two threads at once: every call sorts correctly or reports that the sorter is busy."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from building import (
    CONSUMERS,
    SMALL,
    WARNINGS,
    bundle,
    compiled,
    core,
    embedded_only,
    folder,
    need,
    opencl,
    program,
    run,
    runtime,
)

from hsgen.engines.hosts import Host


def threaded(*options: str) -> Path:
    """The program; `options` are for OpenCL's runtime."""
    need("gcc")
    opencl()
    place = bundle(SMALL)
    command = ["gcc", "-std=c99", "-O1", *WARNINGS, f"-I{place / 'include'}"]
    own = compiled(*command, *options, "-DclSetKernelArg=slow_set_kernel_arg", *runtime(place, "opencl"))
    rest = [*core(place), place / "src/hs_targets.c", place / "targets/small/small.c"]
    return program("threads", *command, CONSUMERS / "threads.c", *own, *rest, "-lOpenCL", "-pthread")


def played(*options: str) -> tuple[int, list[int], str]:
    """The exit code, and the number of calls that sorted correctly, were refused, sorted wrongly, and sorted correctly
    in one thread."""
    env = {**os.environ, **embedded_only()}
    done = subprocess.run([threaded(*options)], capture_output=True, text=True, env=env, check=False, timeout=300)
    counts = re.match(r"(\d+) right, (\d+) busy, (\d+) wrong, then (\d+) right of 60\n", done.stdout)
    return done.returncode, [int(x) for x in counts.groups()] if counts else [], done.stdout + done.stderr


@pytest.mark.device
@pytest.mark.usefixtures("embedded")
def test_every_call_sorts_or_is_refused() -> None:
    code, counts, said = played()
    assert code == 0 and counts, said
    right, busy, wrong, alone = counts
    assert right + busy == 120 and right > 0 and busy > 0 and wrong == 0 and alone == 60, said


@pytest.mark.nightly
@pytest.mark.device
def test_without_the_check_threads_sort_wrongly(embedded: Host) -> None:
    """Otherwise the test above would prove nothing; a driver may also crash or refuse the call."""
    code, counts, said = played("-DHS_CHECK_THREADS=0")
    assert code != 0 and (not counts or counts[2] > 0), (embedded.name, said)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_without_atomics_it_compiles(compiler: str) -> None:
    """The check is omitted if a compiler has no atomics, and on demand; Microsoft's has its own, declared here."""
    need(compiler)
    opencl()
    place = bundle(SMALL)
    command = [compiler, "-std=c99", *WARNINGS, f"-I{place / 'include'}", "-fsyntax-only", place / "src/hs_opencl.c"]
    stub = folder("stub")
    (stub / "intrin.h").write_text("long _InterlockedExchange(long volatile *target, long value);\n", encoding="utf-8")
    microsoft = ("-U__ATOMIC_ACQUIRE", "-D_MSC_VER=1900", f"-I{stub}")
    for options in (("-U__ATOMIC_ACQUIRE",), ("-DHS_CHECK_THREADS=0",), ("-DHS_CHECK_THREADS=1",), microsoft):
        run(*command, *options)
