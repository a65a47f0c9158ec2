"""The proofs of the C runtime in proofs/cbmc: plans are within their bounds, and CBMC refuses faults."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly, nightly_except
from tools import need

ROOT = Path(__file__).resolve().parents[2]
PROOFS = ROOT / "proofs" / "cbmc"
BUNDLE = ROOT / "generated"
sys.path.insert(0, str(PROOFS))
cases: Any = importlib.import_module("cases")
verify: Any = importlib.import_module("verify")
FAST = ("offset", "pack_fits", "hs_pack_fits multiplies without a bound")


def test_every_proof_is_run_and_every_function_is_a_proof() -> None:
    written = {
        name
        for file in PROOFS.glob("*.c")
        for name in re.findall(r"^void prove_(\w+)\(void\)$", file.read_text("utf-8"), re.M)
    }
    assert written == {proof.function for proof in cases.PROOFS}
    assert len({proof.name for proof in cases.PROOFS}) == len(cases.PROOFS)
    kinds = re.search(r"typedef enum hs_kind \{(.*?)\}", (BUNDLE / "include/hs/hs.h").read_text("utf-8"), re.S)
    assert kinds is not None and kinds[1].count("=") == len(cases.KINDS)


@pytest.mark.parametrize("mutant", cases.MUTANTS, ids=lambda m: m.text)
def test_a_fault_changes_one_place_and_names_its_proof(mutant: Any) -> None:
    text = (BUNDLE / "src" / mutant.file).read_text("utf-8")
    assert mutant.old != mutant.new and text.count(mutant.old) == 1
    assert verify.by_name(mutant.proof).function


@pytest.mark.parametrize("function", sorted({function for function, _ in cases.WRAPS}))
def test_what_wraps_on_purpose_exists(function: str) -> None:
    assert f"{function}(" in (BUNDLE / "src/hs_plan.c").read_text("utf-8")


def checked(folder: Path, change: tuple[str, str] = ("", "")) -> subprocess.CompletedProcess[str]:
    """Compare the plans of generated/ with the bounds of the proofs; the first place of a text is changed before."""
    need("gcc")
    targets = []
    for number, target in enumerate(sorted((BUNDLE / "targets").iterdir())):
        file = folder / f"{target.name}.c"
        text = verify.tables(target.name)
        file.write_text(text.replace(*change, 1) if not number else text, encoding="utf-8")
        targets.append(str(file))
    includes = [f"-I{BUNDLE / 'include'}", f"-I{PROOFS}"]
    command = ["gcc", "-std=c99", *includes, str(PROOFS / "tables.c"), str(BUNDLE / "src/hs_targets.c"), *targets]
    subprocess.run([*command, "-Wl,--unresolved-symbols=ignore-all", "-o", str(folder / "tables")], check=True)
    return subprocess.run([str(folder / "tables")], capture_output=True, text=True, check=False)


def test_the_plans_are_within_the_bounds_of_the_proofs(tmp_path: Path) -> None:
    done = checked(tmp_path)
    assert done.returncode == 0 and re.fullmatch(r"\d+ sorts, \d+ steps\n", done.stdout), done.stdout


@pytest.mark.parametrize(
    "change", [("/* div */ ", "/* div */ 0u * "), nightly(("/* per_n */ ", "/* per_n */ 1000u + "))]
)
def test_a_plan_beyond_the_bounds_is_noticed(change: tuple[str, str], tmp_path: Path) -> None:
    done = checked(tmp_path, change)
    assert done.returncode == 1 and "is beyond proofs/cbmc/plans.h" in done.stdout


def ready() -> None:
    """Skip without CBMC, which Debian has since version 13."""
    if reason := verify.missing():
        pytest.skip(reason)


@pytest.mark.parametrize(
    "proof",
    nightly_except(cases.PROOFS, [p for p in cases.PROOFS if p.name in FAST]),
    ids=lambda p: p.name.replace(" ", "_"),
)
def test_a_proof_holds(proof: Any) -> None:
    ready()
    outcome = verify.verify(proof)
    assert outcome.proved, outcome.failures


@pytest.mark.parametrize(
    "mutant", nightly_except(cases.MUTANTS, [m for m in cases.MUTANTS if m.text in FAST]), ids=lambda m: m.text
)
def test_a_fault_is_refused(mutant: Any) -> None:
    ready()
    outcome = verify.verify(verify.by_name(mutant.proof), mutant)
    assert outcome.ended and not outcome.proved
