"""The tables of documents that follow from target files, plans and decision records.

    python tests/doc_pages.py    writes them (`make pages`)

A table stands between two comments, `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hsgen import operations
from hsgen.apis import APIS
from hsgen.cli import main

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
Record = dict[str, Any]

API_TITLES = {
    "opencl": "OpenCL",
    "vulkan": "Vulkan",
    "cuda": "CUDA",
    "hip": "HIP",
    "metal": "Metal",
    "hlsl": "HLSL",
    "webgpu": "WebGPU",
}
LEVELS = ("compiled", "cpu", "device")
OLDER = "older shapes"

KEYS_SORTED = 2**26
"""The count of the estimates: its keys exceed the caches of all GPUs in the table."""
COPY_SHARE = 4.2 / 4.8
"""Rate of a copy on an H200 divided by the published bandwidth: docs/results/h200.md."""
ROOF_SHARES = {"u32": (0.25, 0.6), "u64": (0.4, 0.75)}
"""Rates of sorts on an H200 divided by those that their bytes allow at a copy's rate: docs/results/h200.md."""
SIGNATURES = (("u32", None), ("u32", "v4"), ("u64", None))


class Gpu(NamedTuple):
    """A GPU with its published bandwidth."""

    name: str
    target: str
    api: str
    gigabytes_per_second: float
    source: str


GPUS = (
    Gpu("NVIDIA A100 80GB SXM", "nvidia-sm90", "CUDA", 2039, "NVIDIA A100 data sheet"),
    Gpu("NVIDIA B200", "nvidia-blackwell", "CUDA", 7670, "bus and clock that its driver reports, pytorch/ao#4002"),
    Gpu("NVIDIA GeForce RTX 4090", "nvidia-ada", "CUDA", 1008, "NVIDIA Ada GPU architecture white paper"),
    Gpu("NVIDIA GeForce RTX 4090", "nvidia-vulkan", "Vulkan", 1008, "the same"),
    Gpu(
        "NVIDIA GeForce RTX 5090",
        "nvidia-blackwell-rtx",
        "CUDA",
        1792,
        "NVIDIA RTX Blackwell GPU architecture white paper",
    ),
    Gpu("AMD Instinct MI300X", "amd-cdna", "HIP", 5300, "AMD Instinct MI300X data sheet"),
    Gpu("AMD Instinct MI355X", "amd-cdna4", "HIP", 8000, "AMD Instinct MI355X data sheet"),
    Gpu("AMD Radeon RX 7900 XTX", "amd-rdna", "Vulkan", 960, "AMD's product page"),
    Gpu("Intel Arc A770 16GB", "intel-dg2", "OpenCL", 560, "Intel's product specifications"),
    Gpu("Intel Arc B580", "intel-xe2", "OpenCL", 456, "Intel's product specifications"),
    Gpu("Apple M4 Max, 40-core GPU", "apple-m1", "Metal", 546, "Apple's announcement of the M4 Max"),
)
MEASURED = (
    Gpu("NVIDIA H200", "nvidia-hopper", "CUDA", 4800, "NVIDIA H200 data sheet"),
    Gpu("NVIDIA H200", "nvidia-vulkan", "Vulkan", 4800, "the same"),
)


@functools.cache
def answer(*command: str) -> list[Record]:
    """What `hsgen COMMAND --json` prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        code = main([*command, "--json"])
    if code != 0:
        raise SystemExit(f"hsgen {' '.join(command)}: exit code {code}")
    return list(json.loads(text.getvalue()))


def table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def evidence_rows(target: Record, level: str) -> list[Record]:
    """The evidence of one level: for each API and device the newest row, of the present shapes where one exists."""
    rows = [row for row in target["evidence"] if row["level"] == level]
    rows.sort(key=lambda row: (row.get("shapes") == target["shapes"], row["date"]), reverse=True)
    first: dict[tuple[str, str], Record] = {}
    for row in rows:
        first.setdefault((row["api"], row["device"]), row)
    return sorted(first.values(), key=lambda row: list(API_TITLES).index(row["api"]))


def evidence_cell(target: Record, level: str) -> str:
    """The rows of one level as the text of a cell; "-" without evidence."""
    parts = []
    for row in evidence_rows(target, level):
        facts = [row["driver"], row["date"], *([] if row.get("shapes") == target["shapes"] else [OLDER])]
        parts.append(f"{API_TITLES[row['api']]}: {row['device']} ({'; '.join(facts)})")
    return "<br>".join(parts) or "-"


def evidence() -> str:
    """The table of docs/results/gpus.md: each target with its evidence."""
    head = ("target", "compiled for the ISA", "run on a CPU runtime", "run on the device")
    found = answer("targets")
    return table(head, ((f"`{t['name']}`", *(evidence_cell(t, level) for level in LEVELS)) for t in found))


def devices() -> str:
    """The table of docs/results/gpus.md: each device that has run a target for it."""
    seen: dict[tuple[str, str], dict[str, list[str]]] = {}
    for target in answer("targets"):
        for row in evidence_rows(target, "device"):
            current = row.get("shapes") == target["shapes"]
            name = f"`{target['name']}`" + ("" if current else f" ({OLDER})")
            device = re.sub(r" \([^()]*(?:\([^()]*\))?[^()]*\)$", "", row["device"])
            driver = row["driver"].split(",")[0]
            seen.setdefault((device, driver), {}).setdefault(API_TITLES[row["api"]], []).append(name)
    rows = (
        (device, driver, "; ".join(f"{api}: {', '.join(names)}" for api, names in apis.items()))
        for (device, driver), apis in sorted(seen.items())
    )
    return table(("device", "driver or runtime", "targets"), rows)


@functools.cache
def bytes_per_key(target: str, key: str, value: str | None) -> float:
    """The bytes that the launches of a target's sort for any count read and write, for each key."""
    command = ["show", target, "--key", key, "--algorithm", "auto", "--plan", str(KEYS_SORTED)]
    (sort,) = answer(*command, *(["--value", value] if value else []))
    return float(sort["bytes"]) / KEYS_SORTED


def moved() -> str:
    """The table of docs/results/estimates.md: the bytes that sorts move for each key."""
    names = list(dict.fromkeys(gpu.target for gpu in (*MEASURED, *GPUS)))
    head = ("target", "u32", "u32 with 4 bytes", "u64")
    return table(head, ((f"`{n}`", *(f"{bytes_per_key(n, *s):.1f}" for s in SIGNATURES)) for n in names))


def estimate(gpu: Gpu, key: str, value: str | None) -> str:
    """The range of rates that is expected, in billions of keys per second."""
    bound = gpu.gigabytes_per_second * COPY_SHARE / bytes_per_key(gpu.target, key, value)
    least, most = (bound * share for share in ROOF_SHARES[key])
    digits = 0 if least >= 10 else 1
    return f"{least:.{digits}f} to {most:.{digits}f}"


def estimates(gpus: tuple[Gpu, ...] = GPUS) -> str:
    """The table of docs/results/estimates.md: expected rates of GPUs."""
    head = ("GPU", "target, API", "GB/s, published", "u32", "u32 with 4 bytes", "u64", "source of the bandwidth")
    rows = (
        (
            gpu.name,
            f"`{gpu.target}`, {gpu.api}",
            f"{gpu.gigabytes_per_second:.0f}",
            *(estimate(gpu, *signature) for signature in SIGNATURES),
            gpu.source,
        )
        for gpu in gpus
    )
    return table(head, rows)


def decisions() -> str:
    """The table of docs/decisions/README.md: each record with its title and status."""
    rows = []
    for path in sorted((DOCS / "decisions").glob("[0-9]*.md")):
        text = path.read_text(encoding="utf-8")
        title = re.match(r"# (\d{4}): (.*)\n", text)
        status = re.search(r"^\*\*Status\*\*: (.*?)\n\n", text, re.M | re.S)
        if not title or not status:
            raise SystemExit(f"{path.name}: no title or no line **Status**")
        rows.append((f"[{title[1]}]({path.name})", title[2], " ".join(status[1].split()).rstrip(".")))
    return table(("record", "decision", "status"), iter(rows))


def calls() -> str:
    """The table of docs/reference/c-api.md: the function of each operation, and what a call takes."""
    apis = [a.name for a in APIS.values() if a.launches and a.extends is None]
    rows = []
    for o in sorted(operations.EVERY.values(), key=lambda o: o.c_number):
        numbers = ", ".join(f"`{m.name}`" for m in o.arguments.numbers)
        read, written = (
            ", ".join(f"`{b.name}`" for b in o.arguments.buffers if b.written == w and b.role != "scratch")
            for w in (False, True)
        )
        scratch = "yes" if any(b.role == "scratch" for b in o.arguments.buffers) else "no"
        functions = ", ".join(f"`hs_{a}_{o.name}`" for a in apis)
        rows.append((functions, f"`{o.c_kind}`", numbers, read, written, scratch))
    head = ("functions: enqueue or record a call", "kind", "numbers", "buffers read", "buffers written", "scratch")
    return table(head, iter(rows))


PAGES = {
    "reference/c-api.md": {"calls": calls},
    "results/gpus.md": {"devices": devices, "evidence": evidence},
    "results/estimates.md": {
        "moved": moved,
        "estimates": estimates,
        "estimates of measured GPUs": lambda: estimates(MEASURED),
    },
    "decisions/README.md": {"decisions": decisions},
}
"""The tables of each page, by the name in their comments."""


def rendered(page: str) -> str:
    """A page with its tables as they should be."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for name, make in PAGES[page].items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->\n)", re.S)
        if len(place.findall(text)) != 1:
            raise SystemExit(f"{page}: the comments of the table {name!r} are missing")
        made = make()
        text = place.sub(lambda m, made=made: m[1] + made + m[2], text)
    return text


if __name__ == "__main__":
    for page in PAGES:
        (DOCS / page).write_text(rendered(page), encoding="utf-8")
