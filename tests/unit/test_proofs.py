"""The models of proofs/spin: they abstract today's templates, SPIN verifies them, and it refuses every mutant."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from nightly import nightly_except
from tools import need

ROOT = Path(__file__).parents[2]


def _driver() -> ModuleType:
    spec = importlib.util.spec_from_file_location("proofs_run", ROOT / "proofs" / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


run = _driver()
MODELS = {path.stem: path for path in run.models()}
FAST = {"grid_barrier": ("two groups, three passes", "NO_RELEASE")}
"""The cases of the fast run, which take a second or two of a processor each."""
CASES = [case for path in MODELS.values() for case in run.cases(path)]


@pytest.mark.parametrize("model", MODELS)
def test_a_model_abstracts_the_templates_of_today(model: str) -> None:
    messages = run.changed(MODELS[model])
    assert not messages, "\n".join(messages)


@pytest.mark.parametrize("model", MODELS)
def test_a_model_names_templates_bounds_and_mutants(model: str) -> None:
    cases = run.cases(MODELS[model])
    assert run.sources(MODELS[model]) and any(not case.mutant for case in cases)
    mutants = {case.mutant for case in cases} - {""}
    assert len(mutants) >= 2
    text = MODELS[model].read_text(encoding="utf-8").split("*/", 1)[1]
    assert all(name in text for name in mutants), "a mutant that changes nothing"
    assert run.head(MODELS[model]).count(" mutant: ") == len(mutants), "a line of a mutant that run.py cannot read"
    bounds = [case for case in cases if not case.mutant]
    assert run.head(MODELS[model]).count(" run: ") == len(bounds), "a line of a bound that run.py cannot read"


def test_a_changed_macro_is_found(tmp_path: Path) -> None:
    """In the hash that a model records, and in the name of a macro."""
    text = MODELS["look_back"].read_text(encoding="utf-8")
    source = run.sources(MODELS["look_back"])[0]
    model = tmp_path / "look_back.pml"
    model.write_text(text.replace(source.recorded, "0" * 12), encoding="utf-8")
    (message,) = run.changed(model)
    assert "onesweep.j2 has changed" in message and "--record look_back" in message
    model.write_text(text.replace(f" {source.name} {source.recorded}", f" gone {source.recorded}"), encoding="utf-8")
    (message,) = run.changed(model)
    assert "is missing" in message


def test_recording_changes_hashes_alone(tmp_path: Path) -> None:
    text = MODELS["handover"].read_text(encoding="utf-8")
    model = tmp_path / "handover.pml"
    model.write_text(text.replace(run.sources(MODELS["handover"])[-1].recorded, "0" * 12), encoding="utf-8")
    run.record(model)
    assert model.read_text(encoding="utf-8") == text


def test_a_proof_without_its_tool_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3, and 1 with --require; an unknown name is a usage error."""
    monkeypatch.setenv("PATH", "/nowhere")
    for name, tool in (("look_back", "no spin"), ("calls", "no cbmc")):
        assert run.main([name]) == 3 and tool in capsys.readouterr().err
        assert run.main(["--require", name]) == 1 and tool in capsys.readouterr().err
    with pytest.raises(SystemExit) as stopped:
        run.main(["look_ahead"])
    assert stopped.value.code == 2 and "there are dealt_pairs" in capsys.readouterr().err


@pytest.mark.parametrize(
    "case",
    nightly_except(CASES, [x for x in CASES if (x.mutant or x.text) in FAST.get(x.model, ())]),
    ids=lambda case: case.name.replace(" ", "_"),
)
def test_spin_verifies_each_bound_and_refuses_each_mutant(case: object) -> None:
    need("spin", "gcc")
    outcome = run.verify(case)
    assert outcome.expected(case), run.result(case, outcome)  # type: ignore[attr-defined]
