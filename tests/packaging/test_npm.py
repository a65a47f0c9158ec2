"""The package of npm: its tarball is installed into a fresh project, and is built and run there."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import missing
from nightly import nightly
from tools import tool

ROOT = Path(__file__).resolve().parents[2]
NPM = ROOT / ".ci/npm/node_modules"
SMALL: dict[str, tuple[str, ...]] = {
    "targets": ("webgpu-cpu",),
    "keys": ("u32", "f32"),
    "values": ("v4", "index"),
    "algorithms": ("auto",),
}


def script(name: str) -> ModuleType:
    """A module of the folder .ci."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f".ci/{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


package = script("npm_package")


def call(*command: str | Path, cwd: Path, limit: float = 300) -> subprocess.CompletedProcess[str]:
    """Run a command; its output is text."""
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=limit, check=False)


@pytest.fixture(scope="module")
def content() -> dict[str, bytes]:
    """The files of a small package."""
    files: dict[str, bytes] = package.files(package.chosen(**SMALL))
    return files


@pytest.fixture(scope="module")
def project(content: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the package unpacked where npm installs it."""
    folder = tmp_path_factory.mktemp("project")
    with tarfile.open(fileobj=io.BytesIO(package.tarball(content))) as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (folder / "node_modules").mkdir()
    (folder / "package").rename(folder / "node_modules" / package.NAME)
    (folder / "package.json").write_text('{"type": "module", "private": true}\n', encoding="utf-8")
    return folder


def guide_program() -> str:
    """The program of the package's page."""
    (text,) = re.findall(r"```ts\n(.*?)```", package.README.read_text(encoding="utf-8"), re.DOTALL)
    return str(text)


def test_the_tarball_depends_on_its_files_alone(content: dict[str, bytes]) -> None:
    data = package.tarball(content)
    assert data == package.tarball(dict(reversed(content.items())))
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = archive.getmembers()
    assert [m.name for m in members] == sorted(f"package/{path}" for path in content)
    assert {(m.mtime, m.mode, m.uid, m.uname) for m in members} == {(package.EPOCH, 0o644, 0, "")}
    assert {"LICENSE", "README.md", "package.json", "js/hs_webgpu_splats.d.ts"} <= set(content)
    assert not any(path.endswith((".c", ".h", ".wgsl")) for path in content)


def test_every_export_is_a_file_of_the_package(content: dict[str, bytes]) -> None:
    described = json.loads(content["package.json"])
    assert described["name"] == package.NAME and described["sideEffects"] is False
    names = [f"./{key}-{value}" for key in ("u32", "f32") for value in ("u32", "index")]
    assert set(names) == {name for name in described["exports"] if re.fullmatch(r"\./[fiu]\d\d-\w+", name)}
    for name, kinds in described["exports"].items():
        paths = kinds.values() if isinstance(kinds, dict) else [kinds]
        assert "*" in name or all(path.removeprefix("./") in content for path in paths), name
    assert not re.search(r"\]\((?!https?:|#)", content["README.md"].decode()), "a link leads out of the package"


def test_the_name_of_the_package_is_that_of_its_pages() -> None:
    for page in ("npm", "splats"):
        text = (ROOT / f"docs/guides/{page}.md").read_text(encoding="utf-8")
        assert set(re.findall(r"from \"(hs[\w-]*)", text)) == {package.NAME}


def test_node_resolves_every_module(project: Path, content: dict[str, bytes]) -> None:
    """Each module of a pair has the sorts of that pair, whose modules can be loaded."""
    exports = json.loads(content["package.json"])["exports"]
    names = [name.removeprefix(".") for name in exports if "*" not in name and not name.endswith(".json")]
    program = f"""const report = {{}};
for (const name of {json.dumps(names)}) {{
  const module = await import("{package.NAME}" + name);
  const sorts = [];
  for (const sort of module.sorts ?? []) sorts.push([sort.name, (await sort.load()).default.name]);
  report[name] = {{ names: Object.keys(module), sorts }};
}}
console.log(JSON.stringify(report));
"""
    (project / "resolve.mjs").write_text(program, encoding="utf-8")
    done = call(tool("node"), "resolve.mjs", cwd=project)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert set(report) == set(names)
    assert {"Sorter", "SplatSorter", "ColumnSorter"} <= set(report[""]["names"])
    for pair, sort in {"/f32-u32": "auto_u32_v4", "/u32-index": "auto_u32_index"}.items():
        assert report[pair] == {"names": ["createSorter", "sorts"], "sorts": [[f"webgpu-cpu/{sort}"] * 2]}


SETTINGS = {"strict": True, "target": "es2022", "module": "esnext", "moduleResolution": "bundler", "noEmit": True}


@pytest.mark.parametrize(("version", "name"), [("7", "typescript"), nightly("5", "typescript-5")])
def test_the_program_of_the_page_has_the_right_types(project: Path, version: str, name: str) -> None:
    compiler = NPM / name / "bin/tsc"
    if not compiler.exists():
        missing("no TypeScript (npm ci --ignore-scripts --prefix .ci/npm)")
    types = ["@webgpu/types"] if version == "5" else []
    if types and not (project / "node_modules/@webgpu").exists():
        (project / "node_modules/@webgpu").mkdir()
        (project / "node_modules/@webgpu/types").symlink_to(NPM / "@webgpu/types")
    folder = project / f"typescript{version}"
    folder.mkdir()
    (folder / "page.ts").write_text(guide_program() + SPLATS, encoding="utf-8")
    (folder / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": {**SETTINGS, "types": types}}), encoding="utf-8"
    )
    done = call(tool("node"), compiler, "-p", ".", cwd=folder)
    assert done.returncode == 0, done.stdout[-3000:]


SPLATS = """
import { SplatSorter, type SplatCall } from "hsgen-webgpu/splats";
import { sorts } from "hsgen-webgpu/u32-index";
declare const device: GPUDevice, encoder: GPUCommandEncoder, positions: GPUBuffer, indexOut: GPUBuffer;
const splats = await SplatSorter.create(device, { sorts, keyBits: 16 });
const countOut = { buffer: splats.count, offset: 4 };
const call: SplatCall = { positions, n: 3, view: new Float32Array(16), far: 9, indexOut, countOut };
splats.record(encoder, { ...call, order: "near-first" });
// @ts-expect-error
await SplatSorter.create(device, { keyBits: 24 });
// @ts-expect-error
await createSorter(device, { value: "u64" });
"""
PAGE = """
const depths = Float32Array.from({ length: 5000 }, (_, i) => Math.fround(Math.sin(i * 12.9898) * 43758.5453));
sorted(depths).then(
  (index) => {
    const model = Uint32Array.from(depths.keys()).sort((a, b) => depths[a]! - depths[b]! || a - b);
    document.title = index.every((x, i) => x === model[i]) ? "right" : "wrong";
  },
  (error: Error) => { document.title = error.message; },
);
"""


@pytest.mark.nightly
@pytest.mark.parametrize(("typescript", "more"), [("typescript@7", []), ("typescript@5", ["@webgpu/types"])])
def test_a_fresh_project_of_vite_builds_and_runs_it(
    content: dict[str, bytes], tmp_path: Path, typescript: str, more: list[str]
) -> None:
    """npm installs the tarball, TypeScript checks the page's program, vite builds it, and Chromium runs it."""
    sys.path.append(str(ROOT / "tests/device"))
    from chromium import Chromium
    from web_server import Server

    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not browser:
        missing("no browser (apt-get install chromium)")
    npm = tool("npm")
    app = tmp_path / "app"
    (app / "src").mkdir(parents=True)
    (tmp_path / "package.tgz").write_bytes(package.tarball(content))
    (app / "package.json").write_text('{"name": "app", "private": true, "type": "module"}\n', encoding="utf-8")
    command = [npm, "install", "--no-audit", "--no-fund", "--prefer-offline", "vite", typescript, *more]
    done = call(*command, tmp_path / "package.tgz", cwd=app)
    if done.returncode != 0 and re.search(
        r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED|network", done.stderr
    ):
        pytest.skip("npm cannot reach its registry for vite and TypeScript")
    assert done.returncode == 0, done.stderr[-3000:]
    settings = {**SETTINGS, "types": more, "noUncheckedIndexedAccess": True}
    (app / "tsconfig.json").write_text(json.dumps({"compilerOptions": settings, "include": ["src"]}), encoding="utf-8")
    (app / "src/main.ts").write_text(guide_program() + PAGE, encoding="utf-8")
    page = '<!doctype html><title>running</title><link rel="icon" href="data:,">\n'
    page += '<script type="module" src="/src/main.ts"></script>\n'
    (app / "index.html").write_text(page, encoding="utf-8")
    for words in (("node_modules/.bin/tsc", "-p", "."), ("node_modules/.bin/vite", "build")):
        done = call(app / words[0], *words[1:], cwd=app)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    scripts = "".join(path.read_text(encoding="utf-8") for path in (app / "dist").rglob("*.js"))
    assert set(re.findall(r"webgpu-cpu/(\w+)", scripts)) == {"auto_u32_v4"}, "sorts of other pairs are left out"
    with Server(app / "dist") as server, Chromium(browser, tmp_path / "profile") as view:
        view.open(f"{server.address}/index.html")
        view.wait("document.title !== 'running'")
        assert view.value("document.title") == "right" and view.console == []


@pytest.mark.nightly
def test_the_package_of_a_release_has_all_pairs(tmp_path: Path) -> None:
    path = package.write(tmp_path)
    with tarfile.open(path) as archive:
        names = set(archive.getnames())
        (described,) = (archive.extractfile("package/package.json") or io.BytesIO() for _ in range(1))
        exports = json.load(described)["exports"]
    pairs = {f"./{key}-{value}" for key in package.KEYS for value in package.ELEMENTS}
    assert pairs <= set(exports)
    assert {f"package/js/pairs/{pair.removeprefix('./')}.js" for pair in pairs} <= names
    assert path.stat().st_size < 2 << 20 and os.fspath(path).endswith(".tgz")
