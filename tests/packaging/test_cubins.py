"""The package of machine code: the same bytes each time, found by the texts of calls, and used only if it is intact."""

from __future__ import annotations

import importlib
import io
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hsgen.core.errors import Wrong
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
