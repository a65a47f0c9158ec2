"""The proofs in proofs/smt: their lines stand in the templates, lemmas are proved and mutants refuted."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nightly import thinned

ROOT = Path(__file__).resolve().parents[2]
PROOFS = ROOT / "proofs" / "smt"
sys.path.insert(0, str(PROOFS))
lines = importlib.import_module("merge_path_lines")


@pytest.fixture
def proofs() -> Any:
    """The module of proofs, which needs z3."""
    pytest.importorskip("z3", reason="z3 is not installed (pip install z3-solver)")
    return importlib.import_module("merge_path")


def occurs(text: str, file: str) -> bool:
    """Whether the lines of a text stand one after another in a file; leading spaces do not count."""
    needed = [line.strip() for line in text.strip().splitlines()]
    there = [line.strip() for line in file.splitlines()]
    if len(needed) == 1:
        return any(needed[0] in line for line in there)
    return any(there[i : i + len(needed)] == needed for i in range(len(there)))


@pytest.mark.parametrize("name", lines.LINES)
def test_the_lines_stand_in_the_templates(name: str) -> None:
    """A changed line needs a changed proof."""
    source = lines.LINES[name]
    assert occurs(source.text, (ROOT / source.file).read_text(encoding="utf-8")), (
        f"{source.file} has other lines now: change {name!r} in proofs/smt/merge_path_lines.py, and prove them again"
    )


@pytest.mark.parametrize("name", lines.LINES)
def test_a_changed_line_is_noticed(name: str) -> None:
    source = lines.LINES[name]
    text = (ROOT / source.file).read_text(encoding="utf-8")
    line = source.text.strip().splitlines()[-1].strip()
    if line == "}":
        line = source.text.strip().splitlines()[-2].strip()
    assert not occurs(source.text, text.replace(line, f"~{line[1:]}"))


def test_every_search_of_the_templates_has_a_proof() -> None:
    """A loop that halves or divides an interval stands in one of the proved files, as often as in the proofs."""
    files = [*(ROOT / "templates/merge_path").glob("*.j2"), ROOT / "templates/boundary.j2"]
    searches = sum(p.read_text(encoding="utf-8").count("int middle = ") for p in files)
    assert searches == sum(source.text.count("int middle = ") for source in lines.LINES.values())


def test_the_lemmas_are_proved(proofs: Any) -> None:
    answers = {lemma.name: proofs.answered(lemma, lines.texts()) for lemma in proofs.LEMMAS}
    assert {name: answer for name, answer in answers.items() if answer != proofs.Answer()} == {}


@pytest.mark.nightly
def test_what_lemmas_assume_can_hold(proofs: Any) -> None:
    """No lemma holds only because its assumptions contradict each other; "unique" is a proof by contradiction."""
    for lemma in proofs.LEMMAS:
        for question in lemma.questions(lines.texts()) if not lemma.name.startswith("unique") else ():
            solver = proofs.z3.Solver()
            solver.add(*question.given)
            assert solver.check() == proofs.z3.sat, f"{lemma.name}: {question.what}"


@pytest.mark.parametrize("mutant", thinned(lines.MUTANTS, 16), ids=lambda m: m.what)
def test_a_mutant_is_refuted_with_a_counterexample(proofs: Any, mutant: Any) -> None:
    refuted = proofs.refutation(lines.mutated(mutant))
    assert refuted is not None and "refuted" in refuted.problem and refuted.example


def test_a_missing_solver_is_named(tmp_path: Path) -> None:
    """Exit code 3, and 1 with --require."""
    (tmp_path / "z3.py").write_text("raise ModuleNotFoundError('no z3', name='z3')\n", encoding="utf-8")
    for option, code in (([], 3), (["--require"], 1)):
        command = [sys.executable, str(PROOFS / "merge_path.py"), *option]
        done = subprocess.run(
            command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == code and done.stderr == "z3 is not installed (pip install z3-solver)\n"
