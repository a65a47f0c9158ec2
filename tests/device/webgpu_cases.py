"""Validate WebGPU on lavapipe in 10^5 cases and more at each subgroup width (`make webgpu-cases`).

python tests/device/webgpu_cases.py [WIDTH...] [--seed N]: WIDTH is 4, 8 or 16 lanes, or none for the target webgpu.  At
a width, sorts, merges, scans and digests are those of webgpu-subgroups in parts of that many lanes;
segmented sorts, which it refuses, and the same sorts again are those of webgpu-cpu.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DRIVERS = Path("/usr/share/vulkan/icd.d")
WIDTHS = ("4", "8", "16", "none")
LEAST = 100_000
KEYS = ("u32", "u64", "u16", "u8")
FEATURES = ("--order", "both", "--feature", "bit-range", "--feature", "device-count")
SCANS = ("scan-x1", "scan-x4ex")
Part = tuple[str, str, tuple[str, ...]]  # algorithm, value, more options


def parts(width: str) -> dict[str, list[Part]]:
    """The validations of a width, by target."""
    sorts: list[Part] = [("auto", value, FEATURES) for value in ("none", "v4", "index")]
    others: list[Part] = [(name, "v4", ()) for name in ("merge_path", "digest")]
    others += [(name, "none", ()) for name in SCANS]
    segments: list[Part] = [("segmented_sort", value, ()) for value in ("none", "v4")]
    if width == "none":
        return {"webgpu": [*sorts, *others, *segments]}
    return {"webgpu-subgroups": [*sorts, *others], "webgpu-cpu": [*sorts, *segments]}


def narrowed(width: int, folder: Path) -> str:
    """Write webgpu-subgroups in parts of `width` lanes, with few groups, since lavapipe is slow at barriers."""
    text = (ROOT / "targets/webgpu-subgroups.toml").read_text(encoding="utf-8")
    for old, new in (
        ('"webgpu-subgroups"', f'"webgpu-subgroups{width}"'),
        ("subgroups = [32]", f"subgroups = [{width}]"),
        ("subgroup = 32", f"subgroup = {width}"),
        ("work_group = 128\n", f"work_group = {4 * width}\n"),  # each subgroup has counters
        ("items = 16\n", "items = 4\n"),
        ("items = 8\n", "items = 4\n"),
        ("groups = 512", "groups = 8"),
        ("pair_bucket = { work_group = 256, items = 5", f"pair_bucket = {{ work_group = {width}, items = 4"),
        ("\nbucket = { work_group = 256", f"\nbucket = {{ work_group = {4 * width}"),
        ("above = 524288, work_group = 256", f"above = {20 * width}, work_group = {4 * width}"),
        ("above = 16384, work_group = 256", f"above = {20 * width}, work_group = {4 * width}"),
        ("items = 11", "items = 4"),
        ("bins = 1024", "bins = 256"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    file = folder / f"webgpu-subgroups{width}.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def rows(width: str, seed: int) -> list[dict[str, Any]]:
    """The results of all validations of a width."""
    found = []
    driver = min(map(str, DRIVERS.glob("lvp_icd*.json")))
    lanes = "256" if width == "none" else str(32 * int(width))
    environment = {**os.environ, "VK_DRIVER_FILES": driver, "LP_NATIVE_VECTOR_WIDTH": lanes}
    with tempfile.TemporaryDirectory() as place:
        for name, some in parts(width).items():
            file = narrowed(int(width), Path(place)) if name == "webgpu-subgroups" else name
            for algorithm, value, more in some:
                keys = KEYS[:2] if algorithm in SCANS else KEYS
                words = ["--algorithm", algorithm, *(("--value", value) if value != "none" else ()), *more]
                words += [word for key in keys for word in ("--key", key)]
                words += ["--max-n", "2^12", "--seed", str(seed), "--json"]
                found += validated(["--api", "webgpu", "-t", file, *words], environment)
    return found


def validated(options: list[str], environment: dict[str, str], device: str = "llvmpipe") -> list[dict[str, Any]]:
    """Run one validation; return its rows, each of which is printed."""
    begin = time.monotonic()
    command = [sys.executable, "-m", "hsgen", "validate", "--device", device, "--require", *options]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    try:
        found: list[dict[str, Any]] = json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{' '.join(options)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    for row in found:
        what = " ".join([row["target"], row["algorithm"], row["key"], row["value"] or ""])
        print(f"  {what}: {row['cases']} cases, {row['failures']} failures", *row["examples"], sep="\n    ")
    print(f"  in {time.monotonic() - begin:.0f} s", flush=True)
    return found


def main() -> int:
    """Run the validations of the widths that the command line names; return 1 where one is wrong or too small."""
    parser = argparse.ArgumentParser()
    parser.add_argument("widths", nargs="*", default=WIDTHS, metavar="WIDTH", help=", ".join(WIDTHS))
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    asked = parser.parse_args()
    if unknown := set(asked.widths) - set(WIDTHS):
        parser.error(f"{', '.join(sorted(unknown))}: widths are {', '.join(WIDTHS)}")
    good = True
    for width in asked.widths:
        print(f"width {width}, seed {asked.seed}", flush=True)
        found = rows(width, asked.seed)
        cases, failures = sum(r["cases"] for r in found), sum(r["failures"] for r in found)
        kinds: Counter[str] = Counter()
        for row in found:
            kinds[re.sub("-.*", "", row["algorithm"])] += row["cases"]
        print(f"width {width}: {cases} cases, {failures} failures;", ", ".join(f"{k} {n}" for k, n in kinds.items()))
        good = good and failures == 0 and cases >= LEAST
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
