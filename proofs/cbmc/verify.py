"""Runs CBMC on the C runtime of generated/, and on copies of it with a fault.

CBMC 6 is a package of Debian 13 and later; other systems skip these proofs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cases import MUTANTS, PROOFS, WRAPS, Mutant, Proof

HERE = Path(__file__).resolve().parent
BUNDLE = HERE.parents[1] / "generated"
SECONDS = 900
"""The limit of one proof."""
CHECKS = (
    "--bounds-check",
    "--pointer-check",
    "--div-by-zero-check",
    "--signed-overflow-check",
    "--unsigned-overflow-check",
    "--undefined-shift-check",
    "--conversion-check",
    "--unwinding-assertions",
    "--slice-formula",
)
FEW = ("--bounds-check", "--unwinding-assertions", "--slice-formula")
"""The checks of regions.c, whose functions calls.c proves for any plan."""
_TEXT = re.compile(
    r"(static const (?:char \*const|uint32_t) \w+_opencl(?:_starts)?\[\] = )\{.*?\};\n(?=static|const)", re.S
)
_FAILURE = re.compile(r"^\[(\w+)\.(\S+)\] line (\d+) (.*): FAILURE$", re.M)


@dataclass(frozen=True)
class Outcome:
    """What CBMC says: failures that are not in WRAPS, and seconds; `ended`: whether the proof is complete."""

    failures: tuple[str, ...]
    seconds: float
    ended: bool

    @property
    def proved(self) -> bool:
        return self.ended and not self.failures


def missing() -> str:
    """Return why CBMC cannot run here; empty: it can."""
    for tool, package in (("cbmc", "cbmc, of Debian 13 and later"), ("gcc", "gcc")):
        if shutil.which(tool) is None:
            return f"no {tool} (apt-get install {package})"
    said = subprocess.run(["cbmc", "--version"], capture_output=True, text=True, check=False).stdout
    return "" if re.match(r"[6-9]\.|\d\d", said) else f"cbmc {said.split(' ')[0].strip()} is older than 6"


def tables(target: str) -> str:
    """Return the tables of a target, without the text of its kernels."""
    return _TEXT.sub(r"\1{0};\n", (BUNDLE / "targets" / target / f"{target}.c").read_text(encoding="utf-8"))


def _table_of(sort: str) -> str:
    """Return the target whose file defines a sort."""
    names = sorted((p.name for p in (BUNDLE / "targets").iterdir()), key=len, reverse=True)
    return next(name for name in names if sort.removeprefix("hs_").startswith(name.replace("-", "_") + "_"))


def verify(proof: Proof, mutant: Mutant | None = None) -> Outcome:
    """Run CBMC on a proof, with one fault in the runtime if `mutant` is not None."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in (BUNDLE / "src").glob("hs*.[ch]"):
            text = file.read_text(encoding="utf-8")
            if mutant is not None and file.name == mutant.file:
                if text.count(mutant.old) != 1:
                    raise SystemExit(
                        f"{mutant.file} has {mutant.old!r} {text.count(mutant.old)} times: adapt the mutant"
                    )
                text = text.replace(mutant.old, mutant.new)
            (folder / file.name).write_text(text, encoding="utf-8")
        command = ["cbmc", str(HERE / proof.file), f"-I{folder}", f"-I{BUNDLE / 'include'}", f"-I{HERE}"]
        command += [f"-D{x}" for x in proof.definitions]
        if proof.file == "regions.c":
            sort = proof.definitions[0].partition("=")[2]
            (folder / "sort.c").write_text(tables(_table_of(sort)), encoding="utf-8")
            command += ['-DTABLES="sort.c"', str(folder / "hs.c"), str(folder / "hs_plan.c")]
        checks = CHECKS if proof.file == "calls.c" else FEW
        command += ["--function", f"prove_{proof.function}", "--unwind", str(proof.unwind), *checks]
        try:
            said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return Outcome((f"no end within {SECONDS} s",), time.monotonic() - begin, False)
    text = said.stdout + said.stderr
    ended = "VERIFICATION SUCCESSFUL" in text or "VERIFICATION FAILED" in text
    failures = [
        f"{function}, line {line}: {what}"
        for function, _, line, what in _FAILURE.findall(text)
        if not _intended(function, what)
    ]
    if not ended:
        failures.append(" ".join(text.split()[-12:]))
    return Outcome(tuple(failures), time.monotonic() - begin, ended)


def _intended(function: str, what: str) -> bool:
    """Whether an operation wraps on purpose."""
    return any(function == f and text in what for f, text in WRAPS)


def by_name(name: str) -> Proof:
    """Return the proof of a name."""
    return next(p for p in PROOFS if p.name == name)


def run(jobs: int) -> list[str]:
    """Verify all proofs and refuse all mutants, print a table, and return what is wrong."""
    wrong = []
    print(f"{'proof or mutant':95} {'s':>5}  result")
    with ThreadPoolExecutor(jobs) as pool:
        rows: list[tuple[Proof | Mutant, Future[Outcome]]] = [(p, pool.submit(verify, p)) for p in PROOFS]
        rows += [(m, pool.submit(verify, by_name(m.proof), m)) for m in MUTANTS]
        for case, future in rows:
            outcome = future.result()
            if isinstance(case, Proof):
                result, right = ("proved" if outcome.proved else f"FAILS: {outcome.failures[0]}"), outcome.proved
            else:
                right = outcome.ended and not outcome.proved
                result = f"refused: {outcome.failures[0]}" if right else "THE MUTANT SURVIVES"
            text = case.text if isinstance(case, Proof) else f"mutant: {case.text}"
            print(f"{text:95} {outcome.seconds:5.1f}  {result[:110]}", flush=True)
            if not right:
                wrong.append(f"{text}: {result}")
    return wrong
