"""The objects of a bundle have names of their own, so that a flat folder holds them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from building import SMALL, bundle, folder, need, opencl, run, vulkan

import hsgen
from hsgen.cli import main

GENERATED = Path(hsgen.__file__).parent.parent / "generated"


def listed(place: Path) -> list[Path]:
    """The files that the lists of all APIs name."""
    lists = sorted(place.glob("sources/*.txt"))
    return [place / p for p in sorted({p for f in lists for p in f.read_text(encoding="utf-8").splitlines()})]


def test_one_command_compiles_the_committed_bundle_into_one_folder() -> None:
    """As many objects as C files: none overwrites another."""
    need("gcc")
    opencl()
    vulkan()
    files = [p for p in listed(GENERATED) if p.suffix == ".c"]
    assert len(files) > 30 and {p for p in GENERATED.glob("**/*.c") if p.parent.name != "examples"} == set(files)
    out = folder("flat")
    run("gcc", "-std=c99", f"-I{GENERATED / 'include'}", "-c", *files, cwd=out)
    assert len(list(out.glob("*.o"))) == len(files)


@pytest.mark.parametrize("committed", [True, False])
def test_files_of_all_compilers_have_names_of_their_own(committed: bool) -> None:
    """Files for nvcc and for Objective-C, too, and examples."""
    place = GENERATED if committed else bundle("generic", "nvidia-sm90", "apple-m1", apis=())
    files = [*listed(place), *place.glob("examples/*")]
    assert {p.suffix for p in files} >= {".c", ".cu"}
    assert len({p.stem.lower() for p in files}) == len(files)


def test_a_target_with_the_name_of_the_prefix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both would have a file acme.c."""
    file = tmp_path / "acme.toml"
    file.write_text(Path(SMALL).read_text(encoding="utf-8").replace('name = "small"', 'name = "acme"'))
    assert main(["generate", "-t", str(file), "--api", "opencl", "--prefix", "acme", "-o", str(tmp_path / "out")]) == 2
    said = "src/acme.c and targets/acme/acme.c: have the same name; rename the target or choose another prefix\n"
    assert capsys.readouterr().err == f"hsgen: {said}" and not (tmp_path / "out").exists()
