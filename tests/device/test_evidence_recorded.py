"""`hsgen validate --record` writes what ran, and nothing else, to the target's file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from offline import TEXT

from hsgen.cli import engines, main, validate
from hsgen.core.errors import Usage, Wrong
from hsgen.engines.hosts import Host, evidence_device
from hsgen.system import processor
from hsgen.targets import target
from hsgen.tools.validate import validation


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(validation, "QUICK", 40)
    path = tmp_path / "small.toml"
    path.write_text(f"# mine\n{TEXT}", encoding="utf-8")
    return path


def run(file: Path, embedded: Host, *more: str) -> int:
    given = ["validate", "-t", str(file), "--api", "opencl", "--device", embedded.platform, "--algorithm", "bitonic"]
    return main([*given, *more])


@pytest.mark.usefixtures("optimized")  # as records have it, so that the kernels are compiled once
def test_what_ran_is_recorded(file: Path, embedded: Host) -> None:
    before = file.read_text(encoding="utf-8")
    assert run(file, embedded) == 0 and file.read_text(encoding="utf-8") == before
    assert run(file, embedded, "--record") == 0
    found = target.find(str(file))
    (row,) = found.evidence
    assert row["result"].startswith("validate, bitonic of u32: ") and row["result"].endswith(" at 8 lanes, 0 failures")
    assert (row["api"], row["level"], row["shapes"]) == ("opencl", "cpu", found.shapes)
    assert embedded.name in row["device"] and row["driver"] == embedded.driver
    assert file.read_text(encoding="utf-8").startswith(before)
    assert run(file, embedded, "--record") == 0 and target.find(str(file)).evidence == (row,)


def test_what_was_wrong_is_not(file: Path, embedded: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: Any, **__: Any) -> validation.Report:
        return validation.Report(cases=2, failures=["1 keys, random: is not sorted"], failed=1)

    monkeypatch.setattr(validation, "run", wrong)
    before = file.read_text(encoding="utf-8")
    assert run(file, embedded, "--record") == 1
    assert file.read_text(encoding="utf-8") == before


def test_a_failure_says_where_it_was_right(
    file: Path, embedded: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """If the target's evidence is of another device or driver, or missing; nothing if it is of this one."""
    here = f"{evidence_device(embedded)}, {embedded.driver}"
    assert run(file, embedded, "--record") == 0
    recorded, line = file.read_text(encoding="utf-8"), f"; this is {here}\n"
    capsys.readouterr()

    def failing(*_: Any, **__: Any) -> validation.Report:
        raise Wrong("the compiler crashed")

    monkeypatch.setattr(validation, "run", failing)
    for text, said in (
        (recorded, ""),
        (recorded.replace(embedded.driver, "1999.1"), f"is of {here.replace(embedded.driver, '1999.1')}{line}"),
        (recorded.split("[[evidence]]")[0], f"is of no device{line}"),
    ):
        file.write_text(text, encoding="utf-8")
        assert run(file, embedded) == 1
        whole = "hsgen: the compiler crashed\n" + (f"hsgen: target small: evidence in OpenCL {said}" if said else "")
        assert capsys.readouterr().err.endswith(whole)


def test_evidence_of_a_cpu_runtime_names_the_processor(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "model", lambda: "Z80")
    assert evidence_device(replace(embedded, name="llvmpipe", platform="Mesa")) == "llvmpipe on Z80 (Mesa)"
    assert evidence_device(replace(embedded, name="pthread-Z80", platform="PoCL")) == "pthread-Z80 (PoCL)"
    assert evidence_device(replace(embedded, name="GPU", platform="X", type="gpu"), ", as C") == "GPU (X, as C)"


def test_the_processor_has_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert processor.model()
    monkeypatch.setattr(processor, "_LINUX", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "pdp11")
    assert processor.model() == "pdp11"
    (tmp_path / "cpuinfo").write_text("processor : 0\nmodel name\t: Some CPU @ 1 MHz \n", encoding="utf-8")
    assert processor.model() == "Some CPU @ 1 MHz"


@pytest.mark.parametrize(
    ("match", "kind", "name", "level"),
    [
        ("", "gpu", "Some GPU", "device"),
        ('types = ["gpu"]', "gpu", "Some GPU", "device"),
        ('types = ["gpu"]', "cpu", "Some CPU", "cpu"),
        ('types = ["cpu"]', "cpu", "Some CPU", "device"),
        ('names = ["Other"]', "cpu", "Some CPU", "cpu"),
        ('names = ["Other"]', "gpu", "Some GPU", ""),
    ],
)
def test_the_level_is_that_of_the_device(
    file: Path, embedded: Host, match: str, kind: str, name: str, level: str
) -> None:
    if match:
        file.write_text(TEXT.replace("[isa]", f"[match]\n{match}\n\n[isa]"), encoding="utf-8")
    host = replace(embedded, type=kind, name=name)
    place = engines.Place(api="opencl", target=str(file), host=host, sorts=[], library={}, options="")
    if level:
        assert validate._level(place) == level
    else:
        with pytest.raises(Usage, match="is no device of target small; record on one that is, or on a CPU runtime"):
            validate._level(place)


@pytest.mark.parametrize("match", ["", '[match]\ntypes = ["gpu"]\n'])
def test_a_gpu_that_runs_kernels_in_another_language_shows_nothing(file: Path, embedded: Host, match: str) -> None:
    file.write_text(TEXT.replace("[isa]", f"{match}\n[isa]"), encoding="utf-8")
    host = replace(embedded, type="gpu", name="Some GPU")
    place = engines.Place(api="metal", target=str(file), host=host, sorts=[], library={}, options="", shimmed=True)
    with pytest.raises(Usage, match="is no device of target small"):
        validate._level(place)
