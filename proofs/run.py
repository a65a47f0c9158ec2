"""Run all proofs: models by SPIN, merge paths by z3, the C runtime by CBMC; mutants of each must be refused.

A proof whose tool is not installed is left out, with the reason.

Exit codes: 0 all as expected; 1 a proof fails, a mutant survives, or the text that a model abstracts has changed;
2 a wrong command line; 3 no tool for a named proof, or for none of all (1 with --require, for each missing tool).

The comment at the start of a model has lines of four kinds:

    run: TEXT: DEFINITIONS                  a bound for which the model is verified
    mutant: NAME: TEXT [(DEFINITIONS)]      a fault that SPIN must find, with these definitions or the first bound
    macro: FILE NAME HASH                   a macro of a template that the model abstracts
    word: FILE NAME HASH                    all definitions of a word of a dialect that the model abstracts

A hash is that of the text without indentation. `--record MODEL` writes the hashes of today's text.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).resolve().parent
MODELS = FOLDER / "spin"
MEMORY = MODELS / "memory.pml"
SECONDS = 300
"""The limit of one verification; the table has the seconds of a processor, compilation included."""
COMPILE = ("gcc", "-w", "-O1", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=3000", "-o", "pan", "pan.c")
VERIFY = ("./pan", "-m100000", "-w22")


@dataclass(frozen=True)
class Case:
    """A model with definitions: a bound, or a mutant."""

    model: str
    text: str
    definitions: tuple[str, ...]
    mutant: str = ""

    @property
    def name(self) -> str:
        return f"{self.model} {self.mutant or self.text}"


@dataclass(frozen=True)
class Source:
    """A piece of a template that a model abstracts."""

    kind: str
    file: str
    name: str
    recorded: str


@dataclass(frozen=True)
class Outcome:
    """What SPIN says of a case."""

    errors: int
    states: int
    seconds: float
    why: str
    complete: bool

    def expected(self, case: Case) -> bool:
        return self.errors > 0 if case.mutant else self.errors == 0 and self.complete


def models() -> list[Path]:
    """Return all models."""
    return sorted(path for path in MODELS.glob("*.pml") if path != MEMORY)


def head(model: Path) -> str:
    """Return the comment at the start of a model."""
    return model.read_text(encoding="utf-8").split("*/")[0]


def cases(model: Path) -> list[Case]:
    """Return the bounds and the mutants of a model."""
    bounds, mutants = [], []
    for text, words in re.findall(r"^ +run: (.+): ([A-Z0-9_= ]+)$", head(model), re.M):
        bounds.append(Case(model.stem, text, tuple(words.split())))
    for name, text, words in re.findall(r"^ +mutant: (\w+): (.+?)(?: \(([A-Z0-9_= ]+)\))?$", head(model), re.M):
        mutants.append(Case(model.stem, text, (name, *(words.split() or bounds[0].definitions)), name))
    return bounds + mutants


def sources(model: Path) -> list[Source]:
    """Return the pieces of templates that a model abstracts."""
    found = re.findall(r"^ +(macro|word): (\S+) (\w+)(?: ([0-9a-f]{12}))?(?= *\*/|$)", model.read_text("utf-8"), re.M)
    return [Source(*fields) for fields in found]


def text_of(source: Source) -> str:
    """Return the lines of a macro, or of all definitions of a word, without indentation; empty if missing."""
    lines = [line.strip() for line in (ROOT / source.file).read_text(encoding="utf-8").splitlines()]
    if source.kind == "word":
        return "\n".join(line for line in lines if re.match(rf"#\s*define {source.name}\(", line))
    chosen: list[str] = []
    depth = 0
    for line in lines:
        if depth or re.match(rf"{{%-? macro {source.name}\(", line):
            chosen.append(line)
            depth += len(re.findall(r"{%-? macro ", line)) - len(re.findall(r"{%-? endmacro ", line))
            if not depth:
                break
    return "\n".join(line for line in chosen if line)


def digest(source: Source) -> str:
    """Return the hash of today's text."""
    return hashlib.sha256(text_of(source).encode()).hexdigest()[:12]


def changed(model: Path) -> list[str]:
    """Return a message for each piece of a template that is missing, or that has changed since it was recorded."""
    messages = []
    for source in sources(model):
        place = f"{source.kind} {source.name} of {source.file}"
        if not (ROOT / source.file).is_file() or not text_of(source):
            messages.append(f"proofs/spin/{model.name}: {place} is missing; adapt the model, then the name there")
        elif digest(source) != source.recorded:
            messages.append(
                f"proofs/spin/{model.name}: {place} has changed; adapt the model to it, verify the model "
                f"(python proofs/run.py {model.stem}), then record the text "
                f"(python proofs/run.py --record {model.stem})"
            )
    return messages


def record(model: Path) -> None:
    """Write the hashes of today's text into a model."""
    text = model.read_text(encoding="utf-8")
    for source in sources(model):
        line = f"{source.kind}: {source.file} {source.name}"
        text = re.sub(rf"{re.escape(line)}\b(?: [0-9a-f]{{12}})?", f"{line} {digest(source)}", text)
    model.write_text(text, encoding="utf-8")


def verify(case: Case) -> Outcome:
    """Run SPIN on a case."""
    begin = _seconds()
    with tempfile.TemporaryDirectory() as folder:
        for name in (MEMORY.name, f"{case.model}.pml"):
            shutil.copy(MODELS / name, folder)
        options = [f"-D{x}" for x in case.definitions]
        for command in (("spin", "-a", *options, f"{case.model}.pml"), COMPILE):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode or not (Path(folder) / "pan.c").is_file():
                raise SystemExit(f"{case.name}: {' '.join(command)} fails:\n{done.stdout}{done.stderr}")
        try:
            said = subprocess.run(VERIFY, cwd=folder, capture_output=True, text=True, timeout=SECONDS).stdout
        except subprocess.TimeoutExpired:
            return Outcome(0, 0, _seconds() - begin, f"no end within {SECONDS} s", False)
    errors, states = re.search(r"errors: (\d+)", said), re.search(r"(\d+) states, stored", said)
    why = re.search(r"^pan:1: (.*)$", said, re.M)
    complete = errors is not None and "Search not completed" not in said and "max search depth" not in said
    return Outcome(
        int(errors[1]) if errors else 0,
        int(states[1]) if states else 0,
        _seconds() - begin,
        why[1][:60] if why else "" if complete else "the search is not complete",
        complete,
    )


def _seconds() -> float:
    """Return the processor time of all programs that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def result(case: Case, outcome: Outcome) -> str:
    """Return the result of a case, in words."""
    if case.mutant:
        return f"refused: {outcome.why}" if outcome.expected(case) else "THE MUTANT SURVIVES"
    return "verified" if outcome.expected(case) else f"FAILS: {outcome.why}"


def run_models(chosen: list[Path]) -> list[str]:
    """Verify models, print a table, and return what is wrong."""
    failures = [message for model in chosen for message in changed(model)]
    print(f"{'model':14} {'bound or mutant':87} {'states':>8} {'s':>5}  result")
    for case in (case for model in chosen for case in cases(model)):
        outcome = verify(case)
        if not outcome.expected(case):
            failures.append(f"{case.name}: {result(case, outcome)}")
        text = f"{case.mutant}: {case.text}" if case.mutant else case.text
        print(
            f"{case.model:14} {text:87} {outcome.states:8} {outcome.seconds:5.1f}  {result(case, outcome)}", flush=True
        )
    return failures


def run_merge_path() -> list[str]:
    """Prove the searches of merge paths, and return what is wrong."""
    done = subprocess.run([sys.executable, str(FOLDER / "smt" / "merge_path.py")], check=False)
    return ["merge_path: a lemma is not proved, or a mutant is not refuted"] if done.returncode else []


def run_calls() -> list[str]:
    """Prove the C runtime, and return what is wrong."""
    sys.path.insert(0, str(FOLDER / "cbmc"))
    from verify import run  # type: ignore[import-not-found]

    return run(os.cpu_count() or 1)


def missing(name: str) -> str:
    """Return why a proof cannot run here; empty: it can."""
    if name == "calls":
        sys.path.insert(0, str(FOLDER / "cbmc"))
        from verify import missing as without  # type: ignore[import-not-found]

        return without()
    if name == "merge_path":
        return "" if importlib.util.find_spec("z3") else "z3 is not installed (pip install z3-solver)"
    tools = [tool for tool in ("spin", "gcc") if shutil.which(tool) is None]
    return f"no {tools[0]} (apt-get install {tools[0]})" if tools else ""


def main(arguments: list[str] | None = None) -> int:
    """Run all proofs, or those named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("proofs", metavar="PROOF", nargs="*", help="only these: a model, merge_path or calls")
    parser.add_argument("--require", action="store_true", help="fail (exit code 1) where a tool is not installed")
    parser.add_argument("--record", action="store_true", help="write the hashes of the templates into the models")
    options = parser.parse_args(arguments)
    known = {path.stem: path for path in models()}
    every = [*known, "merge_path", "calls"]
    for name in options.proofs:
        if name not in every:
            parser.error(f"no proof {name}; there are {', '.join(every)}")
    names = options.proofs or every
    chosen = [known[name] for name in names if name in known]
    if options.record:
        for model in chosen:
            record(model)
        return 0
    begin, failures, ran = time.monotonic(), list[str](), 0
    parts = {"spin": partial(run_models, chosen)} if chosen else {}
    parts |= {name: run for name, run in {"merge_path": run_merge_path, "calls": run_calls}.items() if name in names}
    for name, run in parts.items():
        reason = missing(name)
        if reason:
            print(f"{name}: left out: {reason}", file=sys.stderr)
            failures += [f"{name}: {reason}"] * options.require
            continue
        ran += 1
        failures += run()
    if ran:
        print(f"{_seconds():.0f} s of a processor, {time.monotonic() - begin:.0f} s in all")
    for failure in failures:
        print(failure, file=sys.stderr)
    if failures:
        return 1
    return 0 if ran == len(parts) or (ran and not options.proofs) else 3


if __name__ == "__main__":
    sys.exit(main())
