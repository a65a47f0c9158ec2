"""PyTorch's own tests of sorting with `hsgen.torch.enable`, on a machine with an NVIDIA GPU.

Run as a program: python tests/device/torch_tests.py FOLDER [MODE...].  FOLDER holds PyTorch's test_sort_and_select.py.
Modes: own (without hsgen), rules (as `enable` does), all (hsgen also where PyTorch is faster).  The program prints the
number of tests for each outcome, and the tests that fail.  Its exit code is 1 if a test fails only with hsgen.
The package expecttest must be installed.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
MODULE = "test_sort_and_select"
MODES = ("own", "rules", "all")


class Outcomes(unittest.TestResult):
    """The outcome of each test, and the last line of its error."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: dict[str, tuple[str, str]] = {}

    def _note(self, test: unittest.TestCase, outcome: str, text: str = "") -> None:
        lines = [line for line in text.splitlines() if "Error" in line]
        self.outcomes[test.id().rpartition(".")[2]] = outcome, lines[-1].strip() if lines else text[:200]

    def addSuccess(self, test: unittest.TestCase) -> None:
        """See `unittest.TestResult`."""
        self._note(test, "passed")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        """See `unittest.TestResult`."""
        self._note(test, "skipped", reason)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        """See `unittest.TestResult`."""
        self._note(test, "failed", self._exc_info_to_string(err, test))  # type: ignore[attr-defined]

    addError = addFailure

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        """See `unittest.TestResult`."""
        if err is not None:
            self.addFailure(test, err)


def always() -> None:
    """Let hsgen select and group also where PyTorch is faster, from the first call on."""
    from hsgen.torch import grouping, repeats, selecting

    repeats.BEFORE = 0
    selecting.selects = grouping.groups = grouping.groups_rows = lambda *_, **__: True


def child(folder: Path, mode: str, to: Path) -> None:
    """Run the tests in this process, and store their outcomes."""
    sys.argv = [MODULE]
    sys.path.insert(0, str(folder))
    os.environ.setdefault("PYTORCH_TESTING_DEVICE_ONLY_FOR", "cuda")
    module = importlib.import_module(MODULE)
    if mode != "own":
        import hsgen.torch

        if mode == "all":
            always()
        hsgen.torch.enable()
    outcomes = Outcomes()
    unittest.TestLoader().loadTestsFromModule(module).run(outcomes)
    to.write_text(json.dumps(outcomes.outcomes), encoding="utf-8")


def run(folder: Path, modes: list[str]) -> dict[str, dict[str, tuple[str, str]]]:
    """Run the tests in each mode at once, a process for each; return the outcomes by mode and test."""
    with tempfile.TemporaryDirectory() as name:
        places = {mode: Path(name) / mode for mode in modes}
        command = [sys.executable, __file__, str(folder), "--child"]
        children = {mode: subprocess.Popen([*command, mode, str(to)]) for mode, to in places.items()}
        for mode, process in children.items():
            if process.wait() != 0:
                sys.exit(f"{mode}: the tests ended with exit code {process.returncode}")
        return {mode: json.loads(to.read_text(encoding="utf-8")) for mode, to in places.items()}


def main(words: list[str]) -> int:
    """Run the tests, or those of one mode as a child."""
    os.environ["HSGEN_BACKGROUND"] = "0"  # PyTorch must not serve calls of hsgen
    if not words or not (Path(words[0]) / f"{MODULE}.py").is_file():
        print(f"usage: torch_tests.py FOLDER [{'|'.join(MODES)}]...; FOLDER holds {MODULE}.py", file=sys.stderr)
        return 2
    folder = Path(words[0]).resolve()
    if words[1:2] == ["--child"]:
        child(folder, words[2], Path(words[3]))
        return 0
    if unknown := [w for w in words[1:] if w not in MODES]:
        print(f"{unknown[0]}: unknown mode; give {', '.join(MODES)}", file=sys.stderr)
        return 2
    results = run(folder, words[1:] or list(MODES))
    before, worse = results.get("own", {}), 0
    for mode, outcomes in results.items():
        kinds = [outcome for outcome, _ in outcomes.values()]
        print(f"{mode}: " + ", ".join(f"{kinds.count(k)} {k}" for k in ("passed", "failed", "skipped")))
        for test, (outcome, text) in outcomes.items():
            if outcome == "failed":
                new = mode != "own" and before.get(test, ("passed",))[0] != "failed"
                worse += new
                print(f"  {'NEW ' if new else ''}{test}: {text}")
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
