"""docs/internals/add-an-operation.md, followed literally in a copy of the checkout: adding files adds an operation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import missing
from doc_blocks import ROOT, blocks, only, place, shell
from tools import GLSL, need, tool

from hsgen.engines.hosts import Host

NPM = ROOT / ".ci/npm"
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
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.pyc.*"))
    assert not any((folder / name).exists() for name in FILES)
    assert place(folder, PAGE) == FILES
    assert len(FILES) == sum(language in ("python", "jinja") for language, _ in blocks(PAGE))
    return folder


@pytest.fixture(scope="module")
def reversals(copy: Path) -> Path:
    """The bundle that the page generates."""
    need(GLSL)
    without, _ = only(PAGE, "sh")
    done = shell(without, copy)
    assert done.returncode == 0, done.stdout
    assert "plan for 1000 keys: 1 launches" in done.stdout and "reversals is up to date" in done.stdout
    return copy / "reversals"


def test_the_page_adds_an_operation(copy: Path, reversals: Path) -> None:
    """The bundle has its kernel in every dialect of the target, under its own name, and a C function for it."""
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


PYTHON = """
import numpy as np
import pytest
from fake_cuda import Array, Fake
from hsgen.engines.hosts import hosts
from hsgen.engines.selection import embedded
from hsgen.opencl import import_pyopencl
import_pyopencl()
from pyopencl import array
host = next(filter(embedded, hosts()))
fake = Fake(host).install(pytest.MonkeyPatch())
queue = fake.queue
numbers = np.arange(1001, dtype=np.uint32)
keys, gpu_keys = array.to_device(queue, numbers), Array(fake, numbers)
reversed_keys = array.zeros_like(keys)
{block}
assert (reversed_keys.get() == numbers[::-1]).all() and (keys.get() == numbers).all()
assert (gpu_keys.get() == numbers[::-1]).all()
def message(call, *given, **arguments):
    try:
        call(*given, **arguments)
    except Exception as e:
        print(e)
for call, given, all_keys in ((reverse, (queue,), keys), (reverse_on_gpu, (), gpu_keys)):
    message(call, *given, keys=all_keys, values=all_keys)
    message(call, *given, keys=all_keys, out=all_keys[:5] if given else all_keys.part(0, 5))
    message(call, *given, out=all_keys)
    message(call, *given, keys=all_keys, n=2000)
"""
SAID = """values: reverse has no such argument
out holds 5 keys, 1001 are to be processed
keys is None; give {kind}
keys holds 1001 keys, 2000 are to be processed
"""


def test_python_calls_it(copy: Path, embedded: Host) -> None:
    """With pyopencl, and by the driver of CUDA that runs launches through OpenCL; messages name the arguments."""
    (block,) = only(PAGE, "py")
    places = [str(copy), str(ROOT / "tests"), str(ROOT / "tests/device")]
    done = subprocess.run(
        [sys.executable, "-c", PYTHON.replace("{block}", block)],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    gpu = "an array on a GPU: of PyTorch, CuPy, Numba, or another with DLPack"
    assert done.stdout == SAID.format(kind="a pyopencl array or buffer") + SAID.format(kind=gpu)


START = """import { buffer, opened, read } from "{dawn}";
const { device } = await opened("{npm}", []);
const numbers = Uint32Array.from({ length: 1001 }, (_, i) => i);
const keys = buffer(device, numbers), reversed = buffer(device, new Uint32Array(1001));
"""
END = """
const again = device.createCommandEncoder();
reverse.record(again, { keys });
device.queue.submit([again.finish()]);
for (const place of [reversed, keys]) {
    const found = new Uint32Array((await read(device, place, 4004)).buffer);
    console.log(found.every((x, i) => x === 1000 - i));
}
for (const call of [{}, { keys, keysOut: reversed, n: 1002 }]) {
    try {
        reverse.record(again, call);
    } catch (error) {
        console.log(error.message);
    }
}
process.exit(0);
"""


def test_javascript_calls_it(copy: Path, reversals: Path) -> None:
    """The class is generated, with its type; it reverses on lavapipe."""
    declared = (reversals / "js/hs_webgpu_operations.d.ts").read_text(encoding="utf-8")
    assert re.search(
        r"interface ReverseCall [^}]*\bkeys: Bound;[^}]*\bkeysOut\?: Bound;[^}]*\bn\?: number;\n}", declared
    )
    assert "record(encoder: GPUCommandEncoder, call: ReverseCall): void;" in declared
    node, drivers = tool("node"), sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))
    if not drivers or not (NPM / "node_modules/webgpu").is_dir():
        missing("no lavapipe, or no Dawn for node (npm ci --ignore-scripts --prefix .ci/npm)")
    (block,) = only(PAGE, "js")
    start = START.replace("{dawn}", str(ROOT / "tests/device/webgpu/dawn.mjs")).replace("{npm}", str(NPM))
    (copy / "page.mjs").write_text(start + block + END, encoding="utf-8")
    done = subprocess.run(
        [node, "page.mjs"],
        cwd=copy,
        env={**os.environ, "VK_DRIVER_FILES": str(drivers[0])},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ["keys: there is no buffer", "keys: 4004 bytes are too few; n = 1002 takes 4008"]
    assert done.stdout == "true\ntrue\n" + "".join(f"hs_webgpu: {line}\n" for line in lines), done.stderr


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
    for command in (
        ["ruff", "format", "--check", "--config", str(config), *FILES[:2]],
        ["ruff", "check", "--config", str(config), *FILES[:2]],
        ["mypy", "--strict", "--config-file", str(config), "--cache-dir", str(ROOT / ".mypy_cache"), "hsgen"],
    ):
        done = subprocess.run([sys.executable, "-m", *command], cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
