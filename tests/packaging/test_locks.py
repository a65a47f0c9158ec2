"""Lock files: every package has one version for an environment and hashes, and no index is named; bounds hold."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted([ROOT / "requirements-dev.lock", *(ROOT / ".ci").glob("*.lock")])


@pytest.mark.parametrize("path", LOCKS, ids=lambda p: p.name)
def test_locks_hold_hashes_and_no_place(path: Path) -> None:
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    assert head.startswith("# Written by `make lock`")
    entries = "\n".join(lines).replace(" \\\n", " ").splitlines()
    signature = r"[a-z0-9-]+==[\w.]+( ; [^/@]+?)?( +--hash=sha256:[0-9a-f]{64})+"
    assert entries and not [e for e in entries if not re.fullmatch(signature, e)]
    assert not re.search(r"://|--index|--find-links|@", "\n".join(lines))
    both = [e.split("  ")[0] for e in entries]
    assert len(both) == len(set(both))


def test_everything_that_is_needed_is_locked_and_bounded() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    assert all(",<" in need for need in [*project["dependencies"], *optional["plot"], *optional["tune"]])
    needs = [*project["dependencies"], *(n for e in ("cpu-device", "isa", "plot", "dev") for n in optional[e])]
    for lock, some in (("requirements-dev.lock", needs), (".ci/release.lock", optional["release"])):
        locked = (ROOT / lock).read_text(encoding="utf-8")
        for need in some:
            name = re.match(r"[\w-]+", need)
            assert name and re.search(rf"^{name[0].lower()}==", locked, re.MULTILINE)


def test_the_tools_of_a_release_agree_with_the_others() -> None:
    """Both locks can be installed into one environment."""
    found: list[dict[str, set[str]]] = []
    for lock in ("requirements-dev.lock", ".ci/release.lock"):
        versions: dict[str, set[str]] = {}
        for name, version in re.findall(r"^([a-z0-9-]+)==([\w.]+)", (ROOT / lock).read_text(encoding="utf-8"), re.M):
            versions.setdefault(name, set()).add(version)
        found.append(versions)
    shared = found[0].keys() & found[1].keys()
    assert "jsonschema" in shared and not {name for name in shared if found[0][name] != found[1][name]}


def test_only_locked_packages_are_installed() -> None:
    """By `make setup` and in CI, except this package and the tool that writes locks."""
    for path in (ROOT / "Makefile", ROOT / ".ci/run"):
        installs = [x for x in path.read_text(encoding="utf-8").splitlines() if re.search(r"(pip|PIP\)).* install ", x)]
        own = ("--no-deps --no-build-isolation -e .", "install uv")
        assert installs and all("--require-hashes -r" in x or x.endswith(own) for x in installs)
