"""What a release holds: a source archive without generated files, bundles by API, bills of materials, licences."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pytest
from conftest import missing
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

import hsgen
from hsgen.apis import APIS
from hsgen.bundle.manifest import MANIFEST
from hsgen.bundle.store import verify
from hsgen.cli import main

ROOT = Path(__file__).resolve().parents[2]


def script(name: str) -> ModuleType:
    """A module of the folder .ci."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f".ci/{name}.py")
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


bundles, sbom = script("bundles"), script("sbom")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the source archive; the wheel is built from the latter."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,), (source,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, source


def test_the_source_archive_has_sources_and_tests_and_nothing_generated(packages: tuple[Path, Path]) -> None:
    with tarfile.open(packages[1]) as archive:
        names = {n.partition("/")[2] for n in archive.getnames()}
    tops = {n.split("/")[0] for n in names}
    assert {"hsgen", "templates", "targets", "tests", "docs", "LICENSES", "REUSE.toml", "README.md"} <= tops
    assert not tops & {"generated", "dist", ".venv", ".cache"}
    assert {p.relative_to(ROOT).as_posix() for p in (ROOT / "tests").rglob("*.py")} <= names
    assert packages[1].stat().st_size < 4 << 20


def test_the_metadata(packages: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(packages[0]) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        meta = Parser().parsestr(archive.read(name).decode())
    assert (meta["Version"], meta["License-Expression"]) == (hsgen.__version__, "MIT")
    assert len(meta.get_all("Classifier", [])) > 8 and "radix-sort" in meta["Keywords"]
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'"{hsgen.__version__}"' not in text, "the version is in hsgen/__init__.py alone"


@pytest.mark.parametrize("address", ["https://example.org/hsgen", "https://example.org/hsgen/", ""])
def test_links_of_the_long_description_are_absolute_where_there_is_an_address(address: str) -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    config["tool"]["hatch"]["metadata"]["hooks"]["custom"]["address"] = address
    meta = ProjectMetadata(str(ROOT), PluginManager(), config).core
    links = re.findall(r"\]\(([^)]+)\)", meta.readme)
    own = [x for x in re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8")) if ":" not in x]
    assert len(own) > 10
    if not address:
        assert set(own) <= set(links) and not meta.urls
        return
    at = f"https://example.org/hsgen/%s/v{hsgen.__version__}/"
    assert {at % "blob" + "LICENSE", at % "raw" + "docs/results/h200-u32.svg"} <= set(links)
    assert all(x.startswith("https://") for x in links) and len(links) >= len(own)
    assert meta.urls["Source"] == "https://example.org/hsgen" and meta.urls["Changelog"] == at % "blob" + "CHANGELOG.md"


def test_the_bill_of_the_wheel(packages: tuple[Path, Path]) -> None:
    found = sbom.of_wheel(packages[0])
    assert (
        found["metadata"]["component"]["hashes"][0]["content"] == hashlib.sha256(packages[0].read_bytes()).hexdigest()
    )
    assert [c["name"] for c in found["components"]] == ["click", "jinja2", "numpy", "pyopencl", "rich-click", "rich"]
    assert all(c["properties"][0]["value"][0] in "<>=" for c in found["components"])
    valid(found)


def valid(document: dict[str, object]) -> None:
    """CycloneDX's own schema accepts the text, and refuses it with an unknown member."""
    try:
        from cyclonedx.schema import SchemaVersion
        from cyclonedx.validation.json import JsonStrictValidator
    except ImportError:
        missing("cyclonedx-python-lib is not installed (pip install --require-hashes -r .ci/release.lock)")
    checker = JsonStrictValidator(SchemaVersion.V1_6)
    assert checker.validate_str(sbom.text_of(document)) is None
    assert checker.validate_str(json.dumps({**document, "other": 1})) is not None


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with a target for one API and one for several, without SPIR-V."""
    folder = tmp_path_factory.mktemp("bundle") / "b"
    for name, apis in (("cpu", ["opencl"]), ("nvidia-sm35", ["opencl", "cuda"])):
        options = [x for api in apis for x in ("--api", api)]
        assert main(["generate", "-t", name, *options, "--key", "u32", "--prefix", "my", "-o", str(folder)]) == 0
    return folder


def test_each_api_has_a_complete_bundle(small: Path, tmp_path: Path) -> None:
    made = bundles.every(small)
    assert list(made) == [api for api in APIS if api in ("opencl", "cuda")]
    for api, files in made.items():
        data = bundles.archive(f"hsgen-{api}", files)
        assert data == bundles.archive(f"hsgen-{api}", dict(reversed(files.items()))), "the order of files matters"
        with zipfile.ZipFile(BytesIO(data)) as archive:
            assert archive.namelist() == sorted(archive.namelist())
            assert {i.date_time for i in archive.infolist()} == {bundles.TIME}
            archive.extractall(tmp_path)
        manifest, found = verify(tmp_path / f"hsgen-{api}")
        assert not found and manifest.prefix == "my"
        assert all(entry.choice.apis == (api,) for entry in manifest.targets.values())
        assert set(manifest.targets) == ({"cpu", "nvidia-sm35"} if api == "opencl" else {"nvidia-sm35"})
        document = sbom.of_bundle(f"hsgen-{api}", "1", data, files)
        assert {c["name"] for c in document["components"]} == set(files) and MANIFEST in files
        valid(document)


def test_licences_are_stated_as_reuse_defines_it() -> None:
    if importlib.util.find_spec("reuse") is None:
        missing("reuse is not installed (pip install --require-hashes -r .ci/release.lock)")
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    command = [sys.executable, "-m", "reuse", "--root", str(ROOT), "lint"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.startswith((ROOT / "LICENSES/MIT.txt").read_text(encoding="utf-8"))
    assert (ROOT / "LICENSES/MIT-0.txt").read_bytes() == (ROOT / "generated/LICENSE").read_bytes()


def test_the_bill_of_the_wheel_of_machine_code(tmp_path: Path) -> None:
    path = tmp_path / "hsgen_cubins.whl"
    path.write_bytes(script("cubins").wheel({}))
    document = sbom.of_wheel(path)
    assert document["metadata"]["component"]["name"] == "hsgen-cubins"
    assert [(c["name"], c["properties"][0]["value"]) for c in document["components"]] == [
        ("hsgen", f"=={hsgen.__version__}")
    ]
    valid(document)
