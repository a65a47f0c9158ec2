"""Validate selections in 10^5 cases on a CPU runtime of OpenCL, and in fewer on lavapipe (`make selection-cases`).

python tests/device/selection_cases.py [PLACE...] [--seed N] [--record FILE] [--pieces N]

PLACE is opencl, or the lanes of subgroups on lavapipe: 4, 8 or 16.  Rows are equal, have lengths, or have lengths and
starts; every type of keys, both orders, with ties.  With --record, a file has the seed and a line for each validation,
and a later run with this file goes on.  --pieces ends the run after so many validations, with exit code 3 if more are
left.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from webgpu_cases import DRIVERS, ROOT, validated

LEAST = {"opencl": 100_000, "4": 20_000, "8": 20_000, "16": 20_000}
"""The places, each with its least number of cases."""
KEYS = ("u32", "u64", "u16", "u8")
ROWS = ("", "row-lengths", "row-starts")
SOME = (
    ("u32", "index", "row-starts"),
    ("u64", "v4", ""),
    ("u16", "none", "row-lengths"),
    ("u32", "v16", ""),
    ("u8", "index64", "row-starts"),
)
"""Keys, values and rows on lavapipe, where a validation takes a minute."""


def narrowed(width: int, folder: Path) -> str:
    """Write the target lavapipe with subgroups of `width` lanes; return the file's path."""
    text = (ROOT / "targets/lavapipe.toml").read_text(encoding="utf-8")
    for old, new in (
        ('"lavapipe"', f'"lavapipe{width}"'),
        ("subgroups = [4, 8, 16]", f"subgroups = [{width}]"),
        ("subgroup = 8", f"subgroup = {width}"),
        ("slabs = 16", "slabs = 8"),  # for local memory
        ("slabs = 32", "slabs = 16"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    file = folder / f"lavapipe{width}.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def selections(place: str) -> list[tuple[str, str, str]]:
    """Return the keys, values and rows of the validations of a place."""
    return list(SOME) if place != "opencl" else list(product(KEYS, ("none", "v4", "index"), ROWS))


class Record:
    """The results of validations by place and number, in a file from which a later run goes on.

    file: the path of the file, or None for no file.  pieces: the validations of this run, at most.
    """

    def __init__(self, file: str | None, seed: int, pieces: int) -> None:
        self.seed, self.left, self._file = seed, pieces, Path(file) if file else None
        self.results: dict[str, list[dict[str, Any]]] = {}
        if self._file and self._file.exists() and (lines := self._file.read_text(encoding="utf-8").splitlines()):
            self.seed = json.loads(lines[0])["seed"]
            self.results = {x["key"]: x["results"] for x in map(json.loads, lines[1:])}
        elif self._file:
            self._add({"seed": seed})

    def _add(self, line: dict[str, Any]) -> None:
        if self._file:
            with self._file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")

    def of(self, key: str, validate: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]] | None:
        """Return the results of a validation, which runs unless an earlier run did; None: no piece is left."""
        if key not in self.results:
            if self.left == 0:
                return None
            self.left -= 1
            self.results[key] = validate()
            self._add({"key": key, "results": self.results[key]})
            cases, failures = (sum(r[name] for r in self.results[key]) for name in ("cases", "failures"))
            print(f"{key}: {cases} cases, {failures} failures", flush=True)
        return self.results[key]


def rows(place: str, record: Record) -> list[dict[str, Any]] | None:
    """Return the results of all validations of a place; None if the run ended before."""
    lanes = {} if place == "opencl" else {"LP_NATIVE_VECTOR_WIDTH": str(32 * int(place))}
    if lanes:
        lanes["VK_DRIVER_FILES"] = min(map(str, DRIVERS.glob("lvp_icd*.json")))
    device = "Intel(R) OpenCL" if place == "opencl" else "llvmpipe"
    results = []
    with tempfile.TemporaryDirectory() as folder:
        target = (
            ["cpu", "--api", "opencl"] if place == "opencl" else [narrowed(int(place), Path(folder)), "--api", "vulkan"]
        )
        for number, (key, value, feature) in enumerate(selections(place)):
            words = ["--key", key, "--value", value, *(["--feature", feature] if feature else [])]
            words += ["--max-n", "2^12", "--seed", str(record.seed + number), "--json"]
            options = ["-t", *target, "--algorithm", "radix_select", *words]
            name = " ".join(filter(None, (place, key, value, feature)))
            done = record.of(name, partial(validated, options, {**os.environ, **lanes}, device))
            if done is None:
                return None
            results += done
    return results


def main() -> int:
    """Run the validations of the places that the command line names.

    Return 1 where one is wrong or too small, 3 where the run ended before.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("places", nargs="*", default=list(LEAST), metavar="PLACE", help=", ".join(LEAST))
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    parser.add_argument("--record", metavar="FILE", help="the file of results, from which a later run goes on")
    parser.add_argument("--pieces", type=int, default=-1, help="the validations of this run, at most")
    chosen = parser.parse_args()
    if unknown := set(chosen.places) - set(LEAST):
        parser.error(f"{', '.join(sorted(unknown))}: places are {', '.join(LEAST)}")
    record = Record(chosen.record, chosen.seed, chosen.pieces)
    good = True
    for place in chosen.places:
        print(f"{place}, seed {record.seed}", flush=True)
        results = rows(place, record)
        if results is None:
            print(f"{place}: more validations are left; run the command again", flush=True)
            return 3
        cases, failures = sum(r["cases"] for r in results), sum(r["failures"] for r in results)
        ragged = sum(r["cases"] for r in results if r["features"])
        print(f"{place}: {cases} cases, {ragged} of them with ragged rows, {failures} failures", flush=True)
        good = good and failures == 0 and cases >= LEAST[place]
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
