"""``generate``, ``check`` and ``verify`` on real folders."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from hsgen_process import run
from nightly import nightly
from tools import GLSL, missing, need

import hsgen
from hsgen.cli import main
from hsgen.system import resources

ROOT = Path(hsgen.__file__).parent.parent


def snapshot(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of two targets without SPIR-V, for which see test_bundle_spirv.py; tests must not change it."""
    folder = tmp_path_factory.mktemp("made") / "bundle"
    assert main(["generate", "-t", "intel-gen8", "-t", "generic", "--glsl-only", "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def bundle(made: Path, tmp_path: Path) -> Path:
    """A copy of that bundle."""
    shutil.copytree(made, tmp_path / "bundle")
    return tmp_path / "bundle"


def test_the_committed_bundle_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = main(["check", "-o", str(ROOT / "generated")]), capsys.readouterr().err
    if code == 3:  # everything else is up to date
        missing(said.splitlines()[0])
    assert code == 0, said


def test_the_committed_bundle_is_small() -> None:
    assert sum(p.stat().st_size for p in (ROOT / "generated").rglob("*") if p.is_file()) <= 20_000_000


@pytest.mark.parametrize("keys", [("--key", "u32"), nightly((), id="every key")])
def test_output_does_not_depend_on_the_machine(keys: tuple[str, ...], tmp_path: Path) -> None:
    need(GLSL)
    seen = []
    for number, (seed, locale) in enumerate([("0", "C"), ("1", "C.UTF-8"), ("12345", "POSIX")]):
        folder = tmp_path / f"number {number}" / ("deep" * (number + 1))
        folder.parent.mkdir(parents=True, exist_ok=True)
        done = run(
            "generate",
            "-t",
            "cpu",
            "-t",
            "generic",
            *keys,
            "-o",
            folder,
            cwd=tmp_path,
            env={"PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": "Asia/Tokyo", "HOSTNAME": f"h{number}"},
        )
        assert done.returncode == 0, done.stderr
        seen.append(snapshot(folder))
    assert seen[0] == seen[1] == seen[2]


def test_order_of_targets_does_not_matter(tmp_path: Path) -> None:
    need(GLSL)
    assert main(["generate", "-t", "cpu", "-t", "generic", "--key", "u32", "-o", str(tmp_path / "a")]) == 0
    for name in ("generic", "cpu"):
        assert main(["generate", "-t", name, "--key", "u32", "-o", str(tmp_path / "b")]) == 0
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")


def test_headers_state_the_command_and_nothing_of_the_machine(bundle: Path) -> None:
    text = (bundle / "targets/intel-gen8/kernels/opencl/auto_u32.cl").read_text()
    assert "SPDX-License-Identifier: MIT-0" in text.splitlines()[0]
    assert "hsgen generate --target intel-gen8 --key u32 --api opencl --algorithm auto" in text
    words = ["dialect", "kernel", "words"]
    own = " ".join(f"dialects/opencl/{name}.j2" for name in words)
    assert "templates: bitonic/block_sort.j2" in text and f" {own} keys.j2 " in text
    for word in (str(ROOT), str(bundle), "2026", os.uname().nodename):
        assert word not in text


def test_only_changed_files_are_written(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = {p: p.stat().st_mtime_ns for p in bundle.rglob("*") if p.is_file()}
    (bundle / "LICENSE").write_text("else")
    capsys.readouterr()
    assert main(["generate", "-t", "generic", "--glsl-only", "-o", str(bundle)]) == 0
    assert capsys.readouterr().out.splitlines()[:-1] == [f"wrote {bundle / 'LICENSE'}"]
    assert [p.name for p, t in times.items() if p.stat().st_mtime_ns != t] == ["LICENSE"]


def test_a_target_touches_no_other(bundle: Path) -> None:
    other = bundle / "targets/generic/kernels/opencl/auto_u32.cl"
    other.write_text("mine")
    assert main(["generate", "-t", "intel-gen8", "--key", "u64", "--glsl-only", "-o", str(bundle)]) == 0
    assert other.read_text() == "mine"


def test_a_narrower_choice_adds_and_removes_nothing(tmp_path: Path) -> None:
    need(GLSL)
    folder = tmp_path / "bundle"
    kernels = folder / "targets/intel-gen8/kernels/opencl"
    assert main(["generate", "-t", "intel-gen8", "--key", "u64", "-o", str(folder)]) == 0
    assert sorted(p.name for p in kernels.iterdir()) == ["auto_u64.cl", "digest_u64.cl"]
    assert main(["generate", "-t", "intel-gen8", "--key", "u32", "-o", str(folder)]) == 0
    both = [f"{a}_{k}.cl" for a in ("auto", "digest") for k in ("u32", "u64")]
    assert sorted(p.name for p in kernels.iterdir()) == both
    assert main(["generate", "--remove", "intel-gen8", "-t", "intel-gen8", "--key", "u32", "-o", str(folder)]) == 0
    assert sorted(p.name for p in kernels.iterdir()) == ["auto_u32.cl", "digest_u32.cl"]
    assert main(["check", "-o", str(folder)]) == 0


def test_a_removed_target_leaves_nothing(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {}
    for more in (["--dry-run"], []):
        capsys.readouterr()
        assert main(["generate", "--remove", "intel-gen8", "-o", str(bundle), "--json", *more]) == 0
        said[bool(more)] = [(r["path"], r["state"]) for r in json.loads(capsys.readouterr().out)]
    assert said[True] == said[False]
    assert ("targets/intel-gen8/kernels/opencl/auto_u32.cl", "removed") in said[True]
    assert ("manifest.json", "written") in said[True]
    assert not (bundle / "targets/intel-gen8").exists()
    assert list(json.loads((bundle / "manifest.json").read_text())["targets"]) == ["generic"]
    assert main(["check", "-o", str(bundle)]) == 0
    assert main(["generate", "--remove", "intel-gen8", "-o", str(bundle)]) == 2


def test_without_targets_a_bundle_is_refreshed_with_its_own_choices(bundle: Path) -> None:
    assert main(["generate", "-t", "intel-gen8", "--key", "u64", "-o", str(bundle)]) == 0
    before = snapshot(bundle)
    shutil.rmtree(bundle / "targets")
    assert main(["generate", "-o", str(bundle)]) == 0
    assert snapshot(bundle) == before


def test_dry_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "-t", "cpu", "-o", str(tmp_path / "new"), "--dry-run"]) == 0
    assert "would write" in capsys.readouterr().out
    assert not (tmp_path / "new").exists()


def test_check_names_stale_missing_and_unexpected_files(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = bundle / "targets/generic/kernels/opencl"
    (folder / "auto_u32.cl").write_text("changed")
    (folder / "auto_u64.cl").unlink()
    (folder / "extra.cl").write_text("")
    capsys.readouterr()
    assert main(["check", "-o", str(bundle), "--diff"]) == 1
    out, err = capsys.readouterr()
    for line in (
        "stale targets/generic/kernels/opencl/auto_u32.cl",
        "missing targets/generic/kernels/opencl/auto_u64.cl",
        "unexpected targets/generic/kernels/opencl/extra.cl",
        f"hsgen generate -o {bundle}",
    ):
        assert line in err
    assert "-changed" in out and "+typedef ulong hs_key;" in out
    assert main(["verify", str(bundle)]) == 1
    assert "auto_u32.cl" in capsys.readouterr().err
    assert main(["check", "-o", str(bundle), "--json"]) == 1
    states = {r["path"].rsplit("/", 1)[1]: r["state"] for r in json.loads(capsys.readouterr().out)}
    assert states == {"auto_u32.cl": "stale", "auto_u64.cl": "missing", "extra.cl": "unexpected"}


def test_check_fails_after_one_character_of_a_template_changed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for name in ("hsgen", "templates", "targets"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    path = tree / "templates/bitonic/clean.j2"
    env = {"PYTHONPATH": str(tree)}
    chosen = ("-t", "intel-gen8", "-t", "generic", "--api", "opencl", "--key", "u32")
    assert run("generate", *chosen, env=env, cwd=tree).returncode == 0
    assert run("check", env=env, cwd=tree).returncode == 0
    path.write_text(path.read_text().replace("a run without a partner", "A run without a partner", 1))
    done = run("check", env=env, cwd=tree)
    assert done.returncode == 1
    stale = {
        f"hsgen: generated: stale targets/{t}/{path}"
        for t in ("intel-gen8", "generic")
        for path in (f"{t}.c", "kernels/opencl/auto_u32.cl")
    }
    assert {line for line in done.stderr.splitlines() if "stale targets" in line} == stale
    assert "run: hsgen generate -o generated" in done.stderr
    assert run("generate", env=env, cwd=tree).returncode == 0
    assert run("check", env=env, cwd=tree).returncode == 0


def test_verify_needs_no_templates(bundle: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "root", lambda: tmp_path / "nowhere")
    assert main(["verify", str(bundle)]) == 0


def test_targets_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need(GLSL)
    mine = tmp_path / "mine.toml"
    mine.write_text((resources.targets() / "generic.toml").read_text().replace('name = "generic"', 'name = "mine"'))
    folder = tmp_path / "out"
    assert main(["generate", "-t", str(mine), "-o", str(folder)]) == 0
    assert (folder / "targets/mine/kernels/opencl/auto_u32.cl").is_file()
    capsys.readouterr()
    assert main(["check", "-o", str(folder)]) == 2
    assert "target mine does not come with hsgen; give its file with -t" in capsys.readouterr().err
    assert main(["check", "-o", str(folder), "-t", str(mine)]) == 0
