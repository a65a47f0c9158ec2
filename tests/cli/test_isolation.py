"""Child processes: no file of the current folder is executed, and a terminated command leaves nothing behind."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nightly import nightly
from tools import GLSL, OPENCL, VULKAN, missing, need

import hsgen
from hsgen.engines.hosts import Host
from hsgen.system import processes, toolchain
from hsgen.tools.compile import nvrtc

PACKAGE = Path(hsgen.__file__).parent
ROOT = str(PACKAGE.parent)
HOSTILE = ("json", "numpy", "click", "dataclasses", "tempfile", "subprocess", "pathlib", "runpy", "hsgen")
CHILDREN = (
    "hsgen.tools.worker",
    "hsgen.engines.isolated_build",
    "hsgen.tools.compile.nvrtc",
    "hsgen.tools.compile.radv_child",
    "hsgen.tools.bench.baselines.numpy_child",
)


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fill the current folder with modules that record their import in a file; return that file."""
    folder, mark = tmp_path / "here", tmp_path / "mark"
    folder.mkdir()
    for name in HOSTILE:
        text = f"open({str(mark)!r}, 'a').write('{name} '); raise SystemExit(99)\n"
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    return mark


def test_the_trap_works(trap: Path) -> None:
    subprocess.run([sys.executable, "-m", "json"], check=False)
    assert trap.read_text() == "json "


@pytest.mark.parametrize("path", ["", os.pathsep, f".{os.pathsep}", f"{os.pathsep}{ROOT}"])
def test_children_import_nothing_from_the_current_folder(
    trap: Path, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if PYTHONPATH has an empty or relative entry, which stands for the current folder."""
    monkeypatch.setenv("PYTHONPATH", path)
    for module in CHILDREN if path == os.pathsep else CHILDREN[-1:]:
        done = processes.run(processes.python(module), 60, tmp_path, "{}", os.curdir)
        assert done.returncode != 99 and "No module named" not in done.stderr, done.stderr
    assert not trap.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        nightly(["doctor"]),
        nightly(["validate", "-t", "cpu", "--key", "u32"]),
        nightly(["validate", "-t", "cpu", "--key", "u32", "--runtime", "c"]),
        nightly(["compile", "-t", "nvidia-sm90", "--key", "u32", "--algorithm", "bitonic"]),
        nightly(["bench", "-t", "cpu", "--key", "u32", "--sizes", "2^10", "--against", "numpy-avx2"]),
    ],
    ids=lambda x: " ".join(x[:1] + x[5:]),
)
def test_no_command_imports_from_the_current_folder(trap: Path, arguments: list[str]) -> None:
    """Started like the console script, with a variable that its children would inherit."""
    start = "import os; os.environ['PYTHONPATH'] = os.pathsep; from hsgen.cli import run; run()"
    env = {**os.environ, "PYTHONPATH": ROOT}
    command = [sys.executable, "-P", "-c", start, *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stderr
    assert not trap.exists()


def test_the_module_imports_only_hsgen_from_the_current_folder(trap: Path) -> None:
    """Python itself puts that folder first for ``python -m hsgen``; see SECURITY.md."""
    command, env = [sys.executable, "-m", "hsgen", "--version"], {**os.environ, "PYTHONPATH": ROOT}
    assert subprocess.run(command, env=env, check=False).returncode == 99 and trap.read_text() == "hsgen "
    trap.unlink()
    Path("hsgen.py").unlink()
    Path("runpy.py").unlink()  # modules are started by Python itself
    assert subprocess.run(command, env=env, check=False, capture_output=True).returncode == 0
    assert not trap.exists()


def test_only_one_module_knows_how_programs_are_started() -> None:
    """Every other module uses it, so that none forgets -P, the process group, or the paths."""
    words = {"sys.executable", "subprocess.run", "subprocess.Popen", "os.system", "os.popen", "shutil.which"}
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {ast.unparse(node)}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in words
        # an annotation such as subprocess.Popen[bytes] starts nothing, but is an attribute too
    }
    holders = ("tools/worker.py", "tools/bench/baselines/numpy_avx2.py")
    allowed = {
        f"system/{x}"
        for x in ("processes.py: sys.executable", "processes.py: subprocess.Popen", "toolchain.py: shutil.which")
    }
    key_transform = {f"{name}: subprocess.Popen" for name in holders}
    assert allowed <= found and found - allowed <= key_transform
    for name in holders:
        calls = [n for n in ast.walk(ast.parse((PACKAGE / name).read_text())) if isinstance(n, ast.Call)]
        assert "subprocess.Popen" not in {ast.unparse(c.func) for c in calls}


def test_tools_are_not_taken_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "glslangValidator"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", os.pathsep, f".{os.pathsep}{tmp_path.name}"):
        monkeypatch.setenv("PATH", path)
        assert toolchain.tool("glslangValidator") is None
        assert processes.environment()["PATH"] == ""
    monkeypatch.setenv("PATH", f"{os.pathsep}{tmp_path}")
    assert toolchain.tool("glslangValidator") == str(tool)
    assert toolchain.tool("./glslangValidator") == str(tool)  # another name for it


def test_programs_start_in_a_folder_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    done = toolchain.run(["sh", "-c", "pwd; echo $TMPDIR; ls -A; touch x; kill -9 $$"], 20)
    place, temporary = done.stdout.split()
    assert place == temporary != str(tmp_path) and not Path(place).exists() and not [*tmp_path.iterdir()]


def survivors(word: str) -> list[bytes]:
    """The commands of the processes whose environment contains a word."""
    found = []
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdigit() and word.encode() in (place / "environ").read_bytes():
                found.append((place / "cmdline").read_bytes())
        except OSError:  # it has ended
            continue
    return [x for x in found if x]


def children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        yield from map(int, (task / "children").read_text().split())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are looked for in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, nightly(signal.SIGHUP)])
@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "-t", "cpu", "--device", "Intel(R) OpenCL"],
        ["generate", "-t", "generic", "-o", "out"],
        nightly(["validate", "-t", "cpu", "--runtime", "c"]),
        nightly(["validate", "-t", "generic", "--api", "vulkan"]),
        nightly(["compile", "-t", "nvidia-sm90"]),
        nightly(["tune", "-t", "cpu", "--device", "Intel(R) OpenCL", "--key", "u32"]),
        nightly(["bench", "-t", "cpu", "--device", "Intel(R) OpenCL"]),
        nightly(["doctor"]),
    ],
    ids=lambda x: "-".join(x[:1] + x[3:]).replace("/", "").replace(" ", "-"),
)
def test_a_terminated_command_leaves_nothing_behind(
    arguments: list[str], number: signal.Signals, tmp_path: Path, embedded: Host
) -> None:
    """Terminated while a child program runs: no temporary folder and no process remains."""
    if arguments[0] == "generate":
        need(GLSL)
    if "--runtime" in arguments:
        need(OPENCL)
    if "vulkan" in arguments:
        need(GLSL, VULKAN)
    if arguments[0] == "compile" and not nvrtc.compilers():
        missing(f"NVRTC ({nvrtc.INSTALL})")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    env = {**os.environ, "PYTHONPATH": ROOT, "TMPDIR": str(temporary), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "hsgen", *arguments]
    with subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        until = time.monotonic() + 60
        while not any(children(process.pid)):
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number and err.decode().splitlines()[-1] == "hsgen: terminated"
    assert [*temporary.iterdir()] == [] and survivors(str(temporary)) == []
    assert not (tmp_path / "out").exists()


STUCK = """
import ctypes, time
from hsgen.system import folders, processes
from hsgen import cli
cli.PATIENCE = 0.5
folders.temporary()
processes.start(["sleep", "60"])
print("ready", flush=True)
def hang():  # as a driver that does not return: the calls resume after a signal, and no handler of Python runs
    end = time.monotonic() + 20
    while True:
        try:
            while time.monotonic() < end:
                ctypes.CDLL(None).sleep(20)
            return 0
        except BaseException:
            pass
cli.main = hang
cli.run()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_driver_that_does_not_return_does_not_keep_the_process(number: signal.Signals, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": ROOT, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-P", "-c", STUCK]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(0.3)
        begin = time.monotonic()
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number and b"hsgen: terminated" in err and time.monotonic() - begin < 10
    assert [*tmp_path.iterdir()] == [] and survivors(str(tmp_path)) == []
