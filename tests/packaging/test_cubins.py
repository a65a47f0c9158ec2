"""The package of machine code: the same bytes each time, found by the texts of calls, and used only if it is intact."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import missing

from hsgen.core.errors import Unavailable, Wrong
from hsgen.cuda import compiler, driver, kernels, offline, order, shipped
from hsgen.cuda.subjects import Shape

ROOT = Path(__file__).parents[2]


@pytest.fixture
def cubins(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program that builds the package, with a compiler that needs no NVRTC."""
    monkeypatch.syspath_prepend(ROOT / ".ci")
    module = importlib.import_module("cubins")
    monkeypatch.setattr(module, "compiled", lambda text, arch, path: (12, _code(text, arch)))
    return module


def _code(text: str, arch: int) -> bytes:
    return compiler._MAGIC + f"{arch} {text}".encode()


_BUILT: dict[str, bytes] = {}


@pytest.fixture
def package(cubins: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The installed package of kernels for up to 1000 floats; NVRTC must not be used."""
    if not _BUILT:
        cubins.main([str(tmp_path), "--arch", "sm_90", "--key", "f32", "--max-n", "1000"])
        _BUILT["wheel"] = next(tmp_path.glob("*.whl")).read_bytes()
    zipfile.ZipFile(io.BytesIO(_BUILT["wheel"])).extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(shipped, "_driver", lambda: 13)
    monkeypatch.setattr(shipped, "_refused", False)
    monkeypatch.setattr(compiler, "compiled", lambda *_: pytest.fail("a compilation"))
    shipped._installed.cache_clear()
    yield tmp_path / "site" / shipped.PACKAGE
    shipped._installed.cache_clear()
    importlib.invalidate_caches()


def test_the_same_sources_give_the_same_bytes(cubins: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        cubins.main([str(tmp_path / name), "--arch", "sm_90", "--key", "i64", "--max-n", "64"])
    first, second = (next((tmp_path / name).glob("*.whl")) for name in ("a", "b"))
    assert first.name == second.name and first.read_bytes() == second.read_bytes()
    assert f"{first}: " in capsys.readouterr().out
    names = zipfile.ZipFile(first).namelist()
    assert any(n.endswith("dist-info/RECORD") for n in names) and any(n.endswith("licenses/LICENSE") for n in names)


def test_pip_installs_the_package(cubins: Any, tmp_path: Path) -> None:
    cubins.main([str(tmp_path), "--arch", "sm_90", "--key", "f32", "--max-n", "64"])
    (path,) = tmp_path.glob("*.whl")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", str(tmp_path / "t")]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    if "No module named pip" in done.stderr:
        pytest.skip("this Python has no pip")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "t" / shipped.PACKAGE / shipped.INDEX).is_file()


SERVED = ("--arch", "sm_90", "--key", "f32", "--max-n", "1000")


def test_first_calls_in_a_new_environment_need_no_nvrtc(cubins: Any, tmp_path: Path) -> None:
    """With the wheel, all kernels are found; without the wheel, or with a damaged file, some are missing."""
    cubins.main([str(tmp_path), *SERVED])
    (path,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=False)
    bases = {"base": str(tmp_path / "venv"), "platbase": str(tmp_path / "venv")}
    packages, python = Path(sysconfig.get_path("purelib", "venv", bases)), tmp_path / "venv/bin/python"
    (packages / "dependencies.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")

    def served() -> subprocess.CompletedProcess[str]:
        command = [str(python), str(ROOT / ".ci/served.py"), *SERVED]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    without = served()
    assert without.returncode == 1 and without.stderr.startswith("sm_90 Shape(")
    options = ["--disable-pip-version-check", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
    done = subprocess.run([sys.executable, "-m", "pip", *options, str(path)], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("this Python has no pip")
    assert served().stdout.endswith("kernels of hsgen_cubins without NVRTC\n"), served().stderr
    cache = tmp_path / "cache/hsgen/cubin"
    assert not cache.is_dir() or not any(cache.iterdir())  # nothing was compiled
    for file in (packages / shipped.PACKAGE / "sm90").iterdir():
        file.write_bytes(file.read_bytes() + b"x")
    assert served().returncode == 1


def test_problems_of_a_wheel(cubins: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code has CUDA's header and the hash of the index, and the wheel has the bytes of its files."""
    header = compiler._MAGIC + bytes(14) + cubins.CUDA.to_bytes(2, "little")
    monkeypatch.setattr(cubins, "compiled", lambda text, arch, path: (12, header + text.encode()))
    cubins.main([str(tmp_path), "--arch", "sm_90", "--key", "f32", "--max-n", "2"])
    (path,) = tmp_path.glob("*.whl")
    assert cubins.problems(path) == []
    with zipfile.ZipFile(path) as archive:
        every = {name: archive.read(name) for name in archive.namelist() if name.startswith(shipped.PACKAGE)}
    first = min(name for name in every if name.endswith(".cubin"))
    changed = {
        "another hash": every | {first: header},
        "no machine code": every | {first: b"\x7fELF"},
        "other kernels": {name: data for name, data in every.items() if name != first},
    }
    for problem, files in changed.items():
        path.write_bytes(cubins.wheel(files))
        assert any(problem in line for line in cubins.problems(path)), problem
    path.write_bytes(cubins.wheel(every) + b"x")
    assert cubins.problems(path) == ["the same files give other bytes"]


def test_nvrtc_gives_the_same_bytes_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / ".ci")
    real = importlib.reload(importlib.import_module("cubins"))
    text = 'extern "C" __global__ void hs_twice(int *x) { x[threadIdx.x] += 1; }'
    try:
        (major, first), second = real.compiled(text, 90, "x.cu"), real.compiled(text, 90, "x.cu")
    except Unavailable:
        missing("NVRTC is not installed (pip install nvidia-cuda-nvrtc)")
    assert (major, first) == second and major in (12, 13)
    assert first[:4] == compiler._MAGIC and int.from_bytes(first[18:20], "little") == real.CUDA


def test_calls_find_their_kernels_in_the_package(package: Path) -> None:
    codes: list[bytes] = []
    cubin = compiler.cubin

    def kept(text: str, arch: int, path: str) -> bytes:
        codes.append(cubin(text, arch, path))
        assert codes[-1] == _code(text, arch)
        return codes[-1]

    with pytest.MonkeyPatch.context() as patch, offline.devices([offline.gpu("sm_90")]) as numbers:
        for module, name in ((order, "_orders"), (order, "_runners"), (kernels, "_single")):
            patch.setattr(module, name, {})
        patch.setattr(kernels.compiler, "cubin", kept)
        for n in (77, 777):
            assert order.order(Shape(number=numbers[0], key="f32", rows=1, length=n)) is not None
    assert codes


def _entry(package: Path) -> tuple[str, Path]:
    """A text of the package for sm_90, and its file."""
    path = min((package / "sm90").iterdir())
    return path.read_bytes().decode().split(" ", 1)[1], path


def test_a_damaged_entry_is_not_used(package: Path) -> None:
    text, path = _entry(package)
    assert shipped.code(text, 90, compiler.options(90)) == path.read_bytes()
    assert shipped.code(text, 86, compiler.options(86)) is None
    assert shipped.code(text, 90, [*compiler.options(90), "-G"]) is None
    path.write_bytes(path.read_bytes() + b"x")
    assert shipped.code(text, 90, compiler.options(90)) is None
    path.unlink()
    assert shipped.code(text, 90, compiler.options(90)) is None


@pytest.mark.parametrize("index", ["", "{}", '{"driver": "x", "codes": {}}', '{"driver": 12, "codes": []}'])
def test_a_damaged_index_is_no_package(package: Path, index: str) -> None:
    text, _ = _entry(package)
    (package / shipped.INDEX).write_text(index, encoding="utf-8")
    assert shipped.code(text, 90, compiler.options(90)) is None and not shipped.used()


@pytest.mark.parametrize("major", [11, 12])
def test_an_older_driver_gets_no_code(package: Path, major: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "_driver", lambda: major)
    assert shipped.used() == (major == 12)


def test_code_that_the_driver_refuses_is_compiled(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, path = _entry(package)
    loaded: list[bytes] = []

    def load(device: Any, name: str, code: bytes) -> int:
        loaded.append(code)
        if code == path.read_bytes():
            raise Wrong("loading kernel x says CUDA_ERROR_NO_BINARY_FOR_GPU")
        return 7

    monkeypatch.setattr(compiler, "compiled", lambda *_: compiler._MAGIC + b"new")
    monkeypatch.setattr(kernels, "load", load)
    monkeypatch.setattr(kernels, "_single", {})
    monkeypatch.setenv("XDG_CACHE_HOME", str(package.parent / "cache"))
    with offline.devices([offline.gpu("sm_90")]) as numbers:
        assert kernels.single(driver.device(numbers[0]), "x", text, "x.cu") == 7
        assert loaded == [path.read_bytes(), compiler._MAGIC + b"new"]
        assert not shipped.used() and kernels.single(driver.device(numbers[0]), "x", text, "x.cu") == 7
