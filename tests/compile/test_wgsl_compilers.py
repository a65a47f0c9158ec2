"""WGSL is accepted by naga, through wgpu, and by Tint, through Dawn, which both make pipelines of every kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import covering
import pytest
from nightly import EVERY, NIGHTLY, nightly
from wgsl_compilers import API, LANGUAGE, ROOT, Compiler, files, naga, tint

from hsgen.core.errors import Usage
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import written
from hsgen.targets import target

TARGETS = ("webgpu", "webgpu-cpu", "webgpu-subgroups")
FULL = {"key_transform": True, "bit_range": True, "device_count": True}
FORMS = (
    Signature(),
    Signature(value="v4", **FULL),
    Signature(value="v8", key_transform=True),
    Signature(value="v16", device_count=True),
    Signature(value="index", **FULL),
    Signature(run_boundaries=True),
)
LOCAL, LANES = 32768, 256
"""What the compilers' device is asked for, and what every device has."""
EACH = 1 if NIGHTLY else 3
"""The fast run compiles every third sort of generated/: of each target, and of each key width and kind of values."""
STEP = 1 if EVERY else 5
"""The nightly run compiles every fifth sort of all labels, widths and values: 5 is coprime to the numbers of each."""


def sorts(name: str) -> list[Sort]:
    """Sorts of every label, width and kind of values of a target."""
    found, out = target.find(name), []
    for width in ("u8", "u16", "u32", "u64"):
        for label in [*found.labels(width), *found.implicit(width), *found.derived(width)]:
            for signature in FORMS:
                try:
                    out.append(found.sort(label, width, signature))
                except Usage:  # the operation lacks it
                    continue
    return out


def others() -> list[Sort]:
    """Sorts of the targets of other APIs without subgroup operations and without barriers of all work-groups."""
    every = (s for s, _ in covering.sorts() if s.lanes == 1 and not any(k.cooperative for k in s.kernels))
    fit = (s for s in every if max(k.local_bytes(s.key) for k in s.kernels) <= LOCAL)
    return [s for s in fit if max(k.work_group for k in s.kernels) <= LANES]


@pytest.mark.parametrize("compiler", [naga, tint])
@pytest.mark.parametrize("name", TARGETS)
def test_every_kernel_of_the_targets_is_accepted(name: str, compiler: Compiler, tmp_path: Path) -> None:
    made = sorts(name)
    assert len(made) > 60
    assert compiler(files(made[::STEP], tmp_path)) == {}


@pytest.fixture(scope="module")
def each_operation(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files with sorts of each operation."""
    found = target.find("webgpu")
    full = Signature(value="v4", **FULL)
    made = [
        found.sort("auto", "u64", full),
        found.sort("auto", "u8"),
        target.find("webgpu-subgroups").sort("auto", "u32", full),
        target.find("webgpu-subgroups").sort("radix_select", "u64"),  # a short row has a work-group of one subgroup
    ]
    made += [found.sort(label, "u32") for label in found.implicit("u32")]
    return files(made, tmp_path_factory.mktemp("operations"))


@pytest.mark.parametrize("compiler", [naga, tint])
def test_kernels_of_each_operation_are_accepted(compiler: Compiler, each_operation: list[str]) -> None:
    assert compiler(each_operation) == {}


@pytest.mark.parametrize("compiler", [naga, tint])
def test_every_kernel_that_wgsl_can_express_is_accepted(compiler: Compiler, tmp_path: Path) -> None:
    made = others()
    assert len(made) > 20
    assert compiler(files(made[::STEP], tmp_path)) == {}


BEYOND = {
    "amd-gcn": "auto_u32 auto_u32_v4 auto_u64 auto_u64_v4",  # 64 KiB and 1024 lanes
    "cpu": "auto_u32 auto_u32_v4 auto_u64",  # 136 KiB
    "nvidia-sm90": "auto_u32 auto_u32_v4 auto_u64 auto_u64_v4",  # 45 to 48 KiB and 512 lanes
    "nvidia-vulkan": "auto_u32 auto_u32_v4 auto_u64 auto_u64_v4",
    "nvidia-hopper": "auto_u32 auto_u32_v4 auto_u64 auto_u64_v4",  # barriers of all work-groups
}
"""The sorts of generated/ that need more than WGSL or the compilers' device has (docs/decisions/0030-wgsl.md)."""


def golden() -> Iterator[tuple[str, str, Sort]]:
    """The sorts of generated/, by target and the name of the plan's file."""
    for path in sorted((ROOT / "generated/targets").glob("*/plans/*.json")):
        label, key, *value = path.stem.split("_")
        yield (
            path.parts[-3],
            path.stem,
            target.find(path.parts[-3]).sort(label, key, Signature(value=[*value, "none"][0])),
        )


@pytest.mark.parametrize("compiler", [nightly(naga), tint])
def test_the_sorts_of_generated_are_accepted_or_listed(compiler: Compiler, tmp_path: Path) -> None:
    fit, beyond = [], []
    for name, stem, sort in golden():
        listed = stem in BEYOND.get(name, "").split()
        large = any(k.local_bytes(sort.key) > LOCAL or k.work_group > LANES or k.cooperative for k in sort.kernels)
        assert listed == large, (name, stem)
        (beyond if large else fit).append(sort)
    assert len(fit) > 40 and len(beyond) == sum(len(x.split()) for x in BEYOND.values())
    assert compiler(files(fit[::EACH], tmp_path)) == {}


@pytest.mark.parametrize(
    ("compiler", "before", "after"),
    [
        (naga, "workgroupBarrier()", "workgroupBarrier(1)"),
        (tint, "workgroupBarrier()", "workgroupBarrier(1)"),
        (tint, "workgroupUniformLoad(&hs_shared_bool)", "hs_shared_bool"),
    ],
)
def test_a_fault_is_found(compiler: Compiler, before: str, after: str, tmp_path: Path) -> None:
    """Such as a condition that is not shared; naga has no opinion on that."""
    text = written(target.find("webgpu").sort("auto", "u32"), LANGUAGE, API).text
    path = tmp_path / "broken.wgsl"
    path.write_text(text.replace(before, after), encoding="utf-8")
    assert set(compiler([str(path)])) == {str(path)}
