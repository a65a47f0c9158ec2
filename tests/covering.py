"""Sorts of all kinds, which together use every template of kernel bodies and dialects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from drawing import EPILOGUE

from hsgen.algorithms import IMPLICIT
from hsgen.algorithms.radix import floats
from hsgen.algorithms.segmented import short_rows
from hsgen.core.errors import Usage
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.targets import target

SHIPPED = ("adreno-6xx", "cpu", "generic", "intel-gen8", "nvidia-hopper", "apple-m1", "webgpu")
"""Targets that differ in APIs, in strategies, and in subgroup operations."""
FORMS = (
    Signature(),
    Signature(value="v4", key_transform=True),
    Signature(value="index", device_count=True),
    Signature(run_boundaries=True),
)
SELECTS = Signature(key_transform=True, rows=True)
RARE = (
    ("cpu", "auto", "u32", Signature(bit_range=True, device_count=True)),
    ("cpu", "merge_path", "u32", Signature(value="v8")),
    ("amd-cdna", "segmented_sort", "u8", Signature()),
    ("amd-gcn", "auto", "u32", Signature()),
    ("generic", "auto", "u16", Signature(epilogue=EPILOGUE)),
    ("intel-gen8", "scan-x3", "f32", Signature()),
    ("apple-m1", "scan-x2ex", "f32", Signature()),
    ("generic", "reduce_by_key", "u32", Signature(value="v4", device_count=True)),
    (
        "generic",
        "radix_select",
        "u32",
        replace(SELECTS, value="v4", row_lengths=True, row_takes=True, value_starts=True),
    ),
    (
        "cpu",
        "radix_select",
        "u32",
        replace(SELECTS, value="index64", row_lengths=True, row_starts=True, row_count=True),
    ),
    ("nvidia-hopper", "radix_select", "u64", replace(SELECTS, value="v16", row_takes=True, value_starts=True)),
    ("webgpu", "radix_select", "u32", replace(SELECTS, value="v8", row_lengths=True, row_starts=True, row_takes=True)),
    ("nvidia-vulkan", "auto", "u32", Signature(value="v4")),
    ("webgpu-subgroups", "auto", "u32", Signature(value="v4")),
    (str(Path(__file__).parent / "device/lanes/partition8.toml"), "radix-few", "u32", Signature(value="v4")),
)
CHOSEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("cpu", "scan-x1", {"coordination": "lookback"}),
    ("generic", "scan-x1", {"coordination": "lookback"}),
    ("cpu", "scan-x1", {"coordination": "sections", "subgroup": 8, "work_group": 64, "items": 8}),
    ("generic", "radix", {"sorted_exit": True}),
    ("intel-gen8", "radix", {"compact": True}),
    ("webgpu-cpu", "radix", {"items": 32}),
    ("generic", "bitonic", {"path_from": 4096}),
    ("amd-rdna", "bitonic", {"compact": True}),
    ("lavapipe", "bitonic", {"compact": True}),
)
"""Choices that no target makes: a target, one of its labels, and the changes to its parameters."""


@cache
def sorts() -> tuple[tuple[Sort, tuple[str, ...]], ...]:
    """Return sorts, each with the APIs of its target."""
    return tuple(_sorts())


def _sorts() -> Iterator[tuple[Sort, tuple[str, ...]]]:
    for found in map(target.find, SHIPPED):
        for label in dict.fromkeys(["auto", *(label for label, _ in found.choices), *IMPLICIT]):
            for width in ("u32", "u64"):
                for signature in FORMS if label == "auto" or label in IMPLICIT else FORMS[:1]:
                    try:
                        yield found.sort(label, width, signature), found.apis
                    except Usage:  # this target lacks it
                        continue
    for name, label, width, signature in RARE:
        found = target.find(name)
        yield found.sort(label, width, signature), found.apis
    found = target.find("nvidia-hopper")
    made = found.sort("segmented_sort", "u32", Signature(value="index64", key_transform=True))
    assert found.device is not None
    if rows := short_rows.specialize(made, found.device.local_bytes, in_row=True, raw=True):
        yield rows, found.apis
    if wide := floats.widened(found.sort("auto", "u32", Signature(value="index", key_transform=True)), raw=True):
        yield wide, found.apis
    for name, label, changed in CHOSEN:
        found = target.find(name)
        own = {(label, "u32"): replace(found.choices[label, "u32"], **changed)}
        yield replace(found, choices={**found.choices, **own}).sort(label, "u32"), found.apis
