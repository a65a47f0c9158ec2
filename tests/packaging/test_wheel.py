"""A wheel built from the tree, and an editable install, work from another folder without the checkout."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from nightly import NIGHTLY
from packaging.requirements import Requirement

from hsgen.apis import APIS
from hsgen.engines.hosts import Host

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("hsgen", "templates", "targets", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md")
DEPENDENCIES = {"jinja2", "click", "rich", "rich-click", "numpy", "pyopencl"}


def call(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command without this process's Python settings in its environment."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return subprocess.run([str(c) for c in command], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def good(*command: str | Path, cwd: Path) -> str:
    """Run a command that must succeed; return its output."""
    done = call(*command, cwd=cwd)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, so that building leaves nothing in the checkout."""
    for module in ("build", "hatchling", "editables"):
        if importlib.util.find_spec(module) is None:
            reason = f"{module} is not installed (pip install {module})"
            (pytest.fail if os.environ.get("HSGEN_REQUIRE") == "1" else pytest.skip)(reason)
    folder = tmp_path_factory.mktemp("tree")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, folder / part)
    return folder


@pytest.fixture(scope="module")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel."""
    out = tmp_path_factory.mktemp("dist")
    good(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, tree, cwd=out)
    (found,) = out.iterdir()
    return found


def packages(folder: Path) -> Path:
    """Return the folder of the packages of a virtual environment."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))


def environment(folder: Path) -> Path:
    """Make a virtual environment that sees the packages of this one, except its editable installs."""
    venv.create(folder, with_pip=False)
    purelib = packages(folder)
    (purelib / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin" / "python"


def pip(python: Path, *arguments: str | Path) -> None:
    """Install without the network."""
    good(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", *arguments, cwd=ROOT)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program `hsgen` of an environment into which the wheel was installed."""
    python = environment(tmp_path_factory.mktemp("venv"))
    pip(python, wheel)
    return python.with_name("hsgen")


def where(hsgen: Path, cwd: Path) -> Path:
    """The folder of the package that an installed program uses."""
    code = "import hsgen; print(hsgen.__file__)"
    return Path(good(hsgen.with_name("python"), "-c", code, cwd=cwd).strip()).parent


def test_wheel_holds_what_it_should(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        meta = archive.read(next(n for n in names if n.endswith("/METADATA"))).decode()
    data = {p.relative_to(ROOT).as_posix() for part in ("templates", "targets") for p in (ROOT / part).rglob("*.*")}
    assert {f"hsgen/data/{p}" for p in data} <= names
    assert {n.split("/")[0].split("-")[0] for n in names} == {"hsgen"}, "files outside the package"
    needed = {
        line.split()[1] for line in meta.splitlines() if line.startswith("Requires-Dist:") and "extra" not in line
    }
    assert {re.split("[<>]", n)[0].lower() for n in needed} == DEPENDENCIES
    assert any(n.endswith("LICENSE") for n in names) and "hsgen/py.typed" in names


def test_wheel_generates_what_is_committed(installed: Path, tmp_path: Path) -> None:
    assert not where(installed, tmp_path).is_relative_to(ROOT)
    names = [t["name"] for t in json.loads(good(installed, "targets", "--json", cwd=tmp_path))]
    assert names == sorted(p.stem for p in (ROOT / "targets").glob("*.toml"))
    (tmp_path / "generated").mkdir()
    shutil.copy(ROOT / "generated/manifest.json", tmp_path / "generated")  # the targets and their selections
    good(installed, "generate", cwd=tmp_path)
    if NIGHTLY:  # generates everything again; the fast run checks a smaller bundle with an editable install
        good(installed, "check", cwd=tmp_path)
    good(installed, "verify", "generated", cwd=tmp_path)
    for path in (p for p in (ROOT / "generated").rglob("*") if p.is_file()):
        assert (tmp_path / path.relative_to(ROOT)).read_bytes() == path.read_bytes(), path.name


def test_wheel_validates(installed: Path, embedded: Host, tmp_path: Path) -> None:
    """With a signature that uses more templates than plain keys, which the nightly run sorts, too."""
    if NIGHTLY:
        out = good(installed, "validate", "-t", "cpu", "--key", "u16", "--require", "--json", cwd=tmp_path)
        (row,) = json.loads(out)
        assert row["failures"] == 0 and row["cases"] > 0
    asked = ("--key", "i16", "--value", "v4", "--feature", "bit-range")
    (row,) = json.loads(good(installed, "validate", "-t", "cpu", *asked, "--require", "--json", cwd=tmp_path))
    assert row["failures"] == 0 and row["cases"] > 0
    assert (row["key"], row["value"], row["key_transform"], row["features"]) == ("u16", "v4", True, ["bit-range"])


def test_wheel_sorts_from_python(installed: Path, embedded: Host, tmp_path: Path) -> None:
    text = (ROOT / "docs/guides/python.md").read_text(encoding="utf-8").split("```python\n")[3].split("```")[0]
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    assert "sorted 100000 keys" in good(installed.with_name("python"), "program.py", cwd=tmp_path)


def closure(names: list[str]) -> set[Path]:
    """Return the folders and files in site-packages of distributions and all that they need, without extras."""
    tops: set[Path] = set()
    seen: set[str] = set()
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        one = metadata.distribution(name)
        for line in one.requires or ():
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                names.append(need.name)
        parts = {Path(str(f)).parts[0] for f in one.files or ()}
        tops |= {Path(str(one.locate_file(part))) for part in parts if part not in ("..", "__pycache__")}
    return tops


@pytest.fixture(scope="module")
def alone(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program `hsgen` of an environment with the files that pip installed, the packages that these need, and
    nothing else."""
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder, with_pip=False)
    files = list(packages(installed.parents[1]).glob("hsgen*"))
    assert len(files) == 2, "the package, and what is known of the distribution"
    for top in (*closure(sorted(DEPENDENCIES)), *files):
        (packages(folder) / top.name).symlink_to(top)
    program = folder / "bin" / "hsgen"
    program.write_text(installed.read_text().replace(str(installed.parents[1]), str(folder)), encoding="utf-8")
    program.chmod(0o755)
    return program


def test_the_wheel_alone_generates_for_every_api(alone: Path, tmp_path: Path) -> None:
    targets = ["-t", "generic", "-t", "apple-m1", "-t", "webgpu"]
    good(alone, "generate", *targets, "--key", "u32", "--glsl-only", "-o", "sorts", cwd=tmp_path)
    good(alone, "verify", "sorts", cwd=tmp_path)
    languages = {path.name for path in tmp_path.glob("sorts/targets/*/kernels/*")}
    assert languages == {api.dialect for api in APIS.values()}


def test_the_wheel_alone_names_what_a_device_needs(
    alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none").mkdir()
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "none"))
    code = "import hsgen, numpy; hsgen.sort(numpy.arange(9))"
    done = call(alone.with_name("python"), "-c", code, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == (
        "hsgen.core.errors.Unavailable: no GPU and no OpenCL device; for NVIDIA GPUs: pip install 'hsgen[cuda]'; "
        "for this CPU: pip install 'hsgen[cpu-device]'; `hsgen doctor` says more"
    )
    tuning = call(alone, "tune", "-t", "generic", cwd=tmp_path)
    assert tuning.returncode == 3 and len(tuning.stderr.splitlines()) == 1, tuning.stderr


@pytest.mark.nightly
def test_editable_install_follows_the_tree(tree: Path, tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    pip(python, "--no-build-isolation", "--editable", tree)
    hsgen, folder = python.with_name("hsgen"), tmp_path / "elsewhere"
    folder.mkdir()
    assert where(hsgen, folder) == (tree / "hsgen").resolve()
    good(hsgen, "generate", "-t", "generic", "-o", "out", cwd=folder)
    good(hsgen, "check", "-o", "out", cwd=folder)
    template = tree / "templates/bitonic/clean.j2"
    before = template.read_text(encoding="utf-8")
    try:
        changed = before.replace("// the chunk ", "// the changed chunk ")
        assert changed != before
        template.write_text(changed, encoding="utf-8")
        done = call(hsgen, "check", "-o", "out", cwd=folder)
    finally:
        template.write_text(before, encoding="utf-8")
    assert done.returncode == 1 and "stale targets/generic/kernels/opencl/auto_u32.cl" in done.stderr
