"""Build and check what a release holds, in dist/: wheel, source archive, a wheel of machine code, a bundle for each
API, a package of npm, bills of materials.

    make release    runs it; nothing is uploaded and no tag is made

Checked are metadata (twine), the contents of the wheel (check-wheel-contents), licences (reuse), the wheel in a new
environment without network, the wheel of machine code by its hashes and in the same environment (first calls need no
NVRTC), every archive of a bundle after unpacking (hsgen verify, with the hash that it must have), and bills of
materials (CycloneDX's own schema).
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

import bundles
import cubins
import npm_package
import sbom
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from hsgen import __version__
from hsgen.bundle.manifest import MANIFEST

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"


def call(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command that must succeed, without this process's Python settings."""
    print("+", " ".join(str(c) for c in command), flush=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    if (code := subprocess.run([str(c) for c in command], cwd=cwd, env=env, check=False).returncode) != 0:
        sys.exit(f"release: this failed with exit code {code}: {' '.join(map(str, command))}")


def packages() -> Path:
    """Build and check the wheel and the source archive; return the wheel."""
    call(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT)
    made = sorted(DIST.iterdir())
    call(sys.executable, "-m", "twine", "check", "--strict", *made)
    (wheel,) = DIST.glob("*.whl")
    call(Path(sys.executable).with_name("check-wheel-contents"), wheel)
    call(sys.executable, "-m", "reuse", "lint", "--quiet")
    return wheel


def sorts(wheel: Path, folder: Path) -> None:
    """Install the wheel into a new environment, which sees the dependencies of this one, and sort on the CPU."""
    venv.create(folder, with_pip=False)
    purelib = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
    (purelib / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    python = folder / "bin/python"
    options = ["--disable-pip-version-check", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    call(sys.executable, "-m", "pip", *options, wheel)
    where = ["-c", "import hsgen, sys; sys.exit(not hsgen.__file__.startswith(sys.prefix))"]
    call(python, *where, cwd=folder)
    hsgen = folder / "bin/hsgen"
    call(hsgen, "generate", "-t", "cpu", "--key", "u32", "-o", "sorts", cwd=folder)
    call(hsgen, "validate", "-t", "cpu", "--key", "u16", "--device", "Intel(R) OpenCL", "--require", cwd=folder)


def machine_code(environment: Path) -> Path:
    """Build the wheel of machine code, and install it where hsgen's wheel is; first calls there must need no NVRTC."""
    archs, keys = cubins.RELEASED
    options = [*(f"--arch={arch}" for arch in archs), *(f"--key={key}" for key in keys)]
    call(sys.executable, ROOT / ".ci/cubins.py", DIST, *options)
    (path,) = DIST.glob("hsgen_cubins-*.whl")
    if wrong := cubins.problems(path):
        sys.exit("\n".join(f"release: {path.name}: {problem}" for problem in wrong))
    call(sys.executable, "-m", "twine", "check", "--strict", path)
    python = environment / "bin/python"
    pip = ["--disable-pip-version-check", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    call(sys.executable, "-m", "pip", *pip, path)
    call(python, ROOT / ".ci/served.py", *options, cwd=environment)
    return path


def archives(folder: Path) -> list[str]:
    """Write the archive of each API's bundle with its bill of materials; return lines about their hashes."""
    lines = []
    for api, files in bundles.every(ROOT / "generated").items():
        top = f"hsgen-{api}-{__version__}"
        data = bundles.archive(top, files)
        (DIST / f"{top}.zip").write_bytes(data)
        write_sbom(f"{top}.cdx.json", sbom.of_bundle(f"hsgen-{api}", __version__, data, files))
        with zipfile.ZipFile(DIST / f"{top}.zip") as archive:
            archive.extractall(folder)
        digest = hashlib.sha256(files[MANIFEST]).hexdigest()
        call(sys.executable, "-m", "hsgen", "verify", folder / top, "--expect", digest)
        lines.append(f"    hsgen verify {top} --expect {digest}")
    return lines


def write_sbom(name: str, document: sbom.Document) -> None:
    """Write a bill of materials that CycloneDX's schema accepts."""
    text = sbom.text_of(document)
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"release: {name} is no CycloneDX document: {error}")
    (DIST / name).write_text(text, encoding="utf-8")


def main() -> None:
    """Make dist/ again from nothing."""
    shutil.rmtree(DIST, ignore_errors=True)
    os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800")  # 1980, as in the archives
    wheel = packages()
    write_sbom(f"{wheel.stem}.cdx.json", sbom.of_wheel(wheel))
    with tempfile.TemporaryDirectory(prefix="hsgen-release-") as name:
        sorts(wheel, Path(name) / "venv")
        codes = machine_code(Path(name) / "venv")
        write_sbom(f"{codes.stem}.cdx.json", sbom.of_wheel(codes))
        lines = archives(Path(name))
    npm_package.write(DIST)
    sums = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in sorted(DIST.iterdir())]
    (DIST / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    print("".join(sums), "", "for the notes of the release, how to verify the bundles:", *lines, "", sep="\n")
    first = next(x for x in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if x.startswith("## "))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if not project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["address"]:
        print("not yet: pyproject.toml has no address of the repository; links of the long description are relative")
    if "Unreleased" in first:
        print(f"not yet: CHANGELOG.md begins with '{first[3:]}'; write the version and the date there, then tag:")
    print(f"git tag -s v{__version__} -m 'hsgen {__version__}'")


if __name__ == "__main__":
    main()
