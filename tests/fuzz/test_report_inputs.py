"""Mutated benchmark results, device records and journals: each is quickly shown, or refused in one line.

A failure names its number; ``HSGEN_FUZZ=NUMBER`` runs only that document.
"""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import CONTROLS, NUMBERS, TEXTS, called
from nightly import NIGHTLY

from hsgen.core.errors import Usage
from hsgen.system import resources
from hsgen.tools.bench.rows import SCHEMA
from hsgen.tools.report import measured, page
from hsgen.tools.suggest import query
from hsgen.tools.tune import journal

DOCUMENTS = 2000 if NIGHTLY else 200
DRAWN = 4 if NIGHTLY else 40
"""Of the valid documents, one in this many is rendered."""

ROW: dict[str, Any] = {
    **{"target": "cpu", "api": "opencl", "device": "a device", "key": "u32", "value": None, "order": "ascending"},
    **{
        "bits": [0, 32],
        "device_count": False,
        "kind": "random",
        "n": 1024,
        "algorithm": "auto",
        "baseline": None,
        "runs": 9,
    },
    **{"mkeys_per_s": 10.5, "min": 9, "q1": 10, "q3": 11, "max": 12.5, "roof_mkeys_per_s": 40, "roof_share": 0.25},
    **{"hsgen_ratio": None, "ratio_low": None, "ratio_high": None, "task": "sort", "segments": None, "layout": None},
    **{"run_boundaries": False, "epilogue": False, "seconds": 0.001, "baseline_version": None},
}
BASELINE = {**ROW, "algorithm": None, "baseline": "numpy", "hsgen_ratio": 2.0, "ratio_low": 1.9, "ratio_high": 2.1}
COPY = {**BASELINE, "baseline": "copy"}
BENCH = {"schema": SCHEMA, "hsgen": "0.4.0", "target": "cpu", "rows": [ROW, BASELINE, {**ROW, "n": 4096}, COPY]}
TABLE = {"height": 4}
HEAD = {"target": "cpu", "api": "opencl", "device": "d", "driver": "1", "seed": 1, "facts": {}, "autos": {}}
CANDIDATE = {"table": TABLE, "rung": 1, "score": 0.25, "seconds": {"1024": 0.1}}
JOURNAL = [
    journal.header(**HEAD, sizes={"bitonic u32": [1024]}, start={"bitonic u32": TABLE}),
    {
        "what": "race",
        "label": "bitonic",
        "key": "u32",
        "number": 0,
        "best": None,
        "candidates": [CANDIDATE],
        "took": 2,
    },
    {"what": "failed", "label": "bitonic", "key": "u32", "number": 0, "table": TABLE, "kind": "build", "why": "no"},
    {
        **{"what": "final", "key": "u32", "value": "none", "entries": {"bitonic": "x"}, "sizes": [256]},
        **{"seconds": {"bitonic": {"256": [0.1, 0.2]}}, "took": 1.5},
    },
    {"what": "checked", "key": "u32", "label": "bitonic", "table": TABLE, "cases": 7000, "took": 3.5},
]


def value(rng: random.Random) -> Any:
    """A random JSON value, or one that only Python's reader accepts."""
    deep: Any = []
    for _ in range(200):
        deep = [deep]
    every = (
        rng.choice(NUMBERS),
        rng.choice((float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, -0.5, 0.0, 10**400)),
        rng.choice(TEXTS),
        "".join(rng.choices((*TEXTS[:5], *CONTROLS), k=3)),
        rng.choice((None, True, False, [], {}, [[]], [1, 2], {"a": 1}, [None] * 3)),
        deep,
    )
    return rng.choice(every)


def places(data: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) pair in a document."""
    found: list[tuple[Any, Any]] = []
    if isinstance(data, dict | list):
        for key in data if isinstance(data, dict) else range(len(data)):
            found += [(data, key), *places(data[key])]
    return found


def mutated(rng: random.Random, data: Any) -> bytes:
    """A mutated, usually invalid document."""
    data = copy.deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 3))):
        inside, key = rng.choice(places(data))
        if isinstance(inside, dict) and rng.random() < 0.2:
            del inside[key]
        else:
            inside[key] = value(rng)
    text = bytearray(json.dumps(data).encode())
    if rng.random() < 0.15:
        for _ in range(rng.choice((1, 3, 30))):
            text[rng.randrange(len(text))] = rng.randrange(256)
        text = text[: rng.choice((len(text), rng.randrange(len(text))))]
    return rng.choice((b"", b"", b"", b"\xef\xbb\xbf", b"[" * 100000)) * (rng.random() < 0.05) + bytes(text)


def numbers() -> list[int]:
    """The numbers of the documents to try."""
    return [int(os.environ["HSGEN_FUZZ"])] if "HSGEN_FUZZ" in os.environ else list(range(DOCUMENTS))


def each(name: str, data: Any, folder: Path, read: Callable[[Path, int], None]) -> None:
    """Read mutants of a document; `read` may only raise `Usage` with one printable line."""
    right = 0
    for number in numbers():
        rng = random.Random(f"{name} {number}")
        file = folder / f"{name}.json"
        file.write_bytes(mutated(rng, data))
        try:
            read(file, number)
            right += 1
        except Usage as e:
            assert e.lines, number
        except BaseException as e:
            e.add_note(f"document {number}: HSGEN_FUZZ={number} repeats it")
            raise
    assert 0 < right < DOCUMENTS or len(numbers()) == 1


def test_benchmarks(tmp_path: Path) -> None:
    """Each is read or refused; a sample of the valid ones is rendered with its charts."""

    def read(file: Path, number: int) -> None:
        rows = measured.read(file)
        measured.of_targets(file, rows, [r["target"] for r in rows])
        if number % DRAWN == 0:
            shown = measured.runs(rows)
            assert all(run.title.isprintable() and run.title.encode() for run in shown)
            template = page._environment().from_string("{% for r in rows %}{{ r.title }}{{ r.rows }}{% endfor %}")
            template.render(rows=shown).encode()

    each("bench", BENCH, tmp_path, read)


def test_reports_of_benchmarks(tmp_path: Path) -> None:
    """The command prints one error line or writes a page."""
    target = tmp_path / "cpu.toml"
    assert resources.targets().is_dir() and not target.exists()
    for number in range(10 if NIGHTLY else 3):
        rng = random.Random(f"report {number}")
        file, out = tmp_path / "bench.json", tmp_path / f"{number}.html"
        file.write_bytes(mutated(rng, BENCH))
        code, _ = called(["report", "-t", "cpu", "--no-compile", "--bench", str(file), "-o", str(out)], codes=(0, 2))
        assert out.exists() == (code == 0)


def test_records_of_devices(tmp_path: Path) -> None:
    files = sorted((Path(__file__).parents[1] / "unit/queries").glob("*.json"))
    assert files
    for data in files[:3]:

        def read(file: Path, number: int) -> None:
            query.facts(query.read(file))

        each("query", json.loads(data.read_text()), tmp_path, read)


def test_journals(tmp_path: Path) -> None:
    """A damaged journal is refused in one line and never modified."""
    right = 0
    for number in numbers():
        rng = random.Random(f"journal {number}")
        file = tmp_path / "journal.jsonl"
        lines = [json.dumps(x).encode() if rng.random() < 0.6 else mutated(rng, x) for x in JOURNAL]
        data = b"\n".join(lines) + rng.choice((b"\n", b""))
        file.write_bytes(data)
        try:
            head, records, _ = journal.read(file)
            journal.merged([file, file], tmp_path / f"merged-{number}")
            assert journal.Journal(None, head, records).spent >= 0
            right += 1
        except Usage as e:
            assert len(e.lines) == 1 and file.read_bytes() == data
        except BaseException as e:
            e.add_note(f"document {number}: HSGEN_FUZZ={number} repeats it")
            raise
    assert 0 < right < DOCUMENTS or len(numbers()) == 1
