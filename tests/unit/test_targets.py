"""The target for each device, by the names that drivers report, and common rules for target files.

- Every architecture belongs to exactly one target, in every API of it.
- A device with other subgroups, work-groups or integers than a target's gets another target.
- Offline compilers compile for devices that get the same target.
- An unmeasured crossover is called an estimate.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nightly import sampled

from hsgen.engines import hosts
from hsgen.engines.hosts import Host
from hsgen.system import resources
from hsgen.targets import heads, target
from hsgen.targets.isa import KINDS
from hsgen.targets.matching import rank

NVIDIA, AMD, INTEL, ARM, QUALCOMM, APPLE, GOOGLE, MESA = (
    0x10DE, 0x1002, 0x8086, 0x13B5, 0x5143, 0x106B, 0x1AE0, 0x10005,
)  # fmt: skip
EVERY = [target.find(name) for name in target.names()]
INTELS, WAVES, RDNA = (8, 16, 32), (64,), (32, 64)


def device(name: str, vendor: int, api: str = "vulkan", widths: tuple[int, ...] = (32,), **more: Any) -> Host:
    """Return a made-up GPU with room for every kernel; `more` are other properties."""
    facts = {
        "platform": "AMD or another driver",
        "type": "gpu",
        "work_group": 1024,
        "local_bytes": 65536,
        "ballot": True,
    } | more
    known: dict[str, Any] = {"driver": "1", "version": "1", "shuffle": True, "handle": None, **facts}
    return Host(api=api, name=name, vendor=vendor, widths=widths, **known)


SHARED = {90: 232448, 100: 232448, 101: 232448, 103: 232448, 89: 101376, 120: 101376, 121: 101376}
"""Bytes of shared memory of a block, by compute capability; 64 KiB in others."""
APART = {89: "nvidia-ada", 90: "nvidia-hopper", **dict.fromkeys((100, 101, 103), "nvidia-blackwell")}
APART |= dict.fromkeys((120, 121), "nvidia-blackwell-rtx")
"""Targets for CUDA alone, by compute capability; in other APIs, and in bundles without them, nvidia-sm90 serves."""


def cuda(compute: int, name: str = "NVIDIA GPU", cores: int = 0) -> Host:
    more = {"cores": cores} if cores else {}
    return device(name, NVIDIA, "cuda", compute=compute, local_bytes=SHARED.get(compute, 65536), more=more)


TEGRA = {32: "GK20A", 53: "NVIDIA Tegra X1", 62: "NVIDIA Tegra X2"}
DEVICES = [
    (cuda(30, "NVIDIA GeForce GTX 680"), "nvidia-sm30"),
    (cuda(32, "GK20A"), "nvidia-tegra"),
    (cuda(53, "NVIDIA Tegra X1"), "nvidia-tegra"),
    (cuda(62, "GP10B"), "nvidia-tegra"),
    (cuda(35, "Tesla K40m"), "nvidia-sm35"),
    (cuda(52, "NVIDIA GeForce GTX 980"), "nvidia-sm35"),
    (cuda(72, "Xavier"), "nvidia-sm35"),
    (cuda(75, "NVIDIA GeForce RTX 2080"), "nvidia-sm35"),
    (cuda(87, "Orin"), "nvidia-sm90"),
    (cuda(80, "NVIDIA A100"), "nvidia-sm90"),
    (cuda(89, "NVIDIA GeForce RTX 4090", 128), "nvidia-ada"),
    (cuda(89, "NVIDIA GeForce RTX 4060 Ti", 34), "nvidia-ada"),
    (cuda(89, "NVIDIA GeForce RTX 4060", 24), "nvidia-sm90"),
    (cuda(90, "NVIDIA H200"), "nvidia-hopper"),
    (cuda(90, "NVIDIA H200", 132), "nvidia-hopper"),
    (cuda(90, "NVIDIA H100 PCIe", 114), "nvidia-sm90"),
    (cuda(100, "NVIDIA B200", 148), "nvidia-blackwell"),
    (cuda(101, "NVIDIA Thor", 20), "nvidia-sm90"),
    (cuda(103, "NVIDIA B300"), "nvidia-blackwell"),
    (cuda(110, "NVIDIA Thor", 20), "nvidia-sm90"),
    (device("NVIDIA H200", NVIDIA), "nvidia-vulkan"),
    (cuda(120, "NVIDIA GeForce RTX 5090", 170), "nvidia-blackwell-rtx"),
    (cuda(120, "NVIDIA GeForce RTX 5060", 30), "nvidia-sm90"),
    (cuda(121, "NVIDIA GB10", 48), "nvidia-blackwell-rtx"),
    (device("NVIDIA Tegra X1 (nvgpu)", NVIDIA), "nvidia-tegra"),
    (device("NVIDIA Tegra X2 (nvgpu)", NVIDIA), "nvidia-tegra"),
    (device("NVIDIA Tegra Xavier (nvgpu)", NVIDIA), "nvidia-vulkan"),
    (device("NVIDIA GeForce RTX 3080", NVIDIA), "nvidia-vulkan"),
    (device("NVIDIA H200", NVIDIA, "opencl", shuffle=False), "generic"),
    (device("AMD Radeon RX 480 Graphics (RADV POLARIS10)", AMD, widths=WAVES), "amd-gcn"),
    (device("Radeon RX 560 Series", AMD, widths=WAVES), "amd-gcn"),
    (device("AMD Radeon RX 640 (RADV POLARIS12)", AMD, widths=WAVES), "amd-gcn"),
    (device("AMD Radeon VII (RADV VEGA20)", AMD, widths=WAVES), "amd-gcn"),
    (device("gfx803", AMD, "opencl", WAVES), "amd-gcn"),
    (device("gfx900:xnack-", AMD, "opencl", WAVES), "amd-gcn"),
    (device("gfx906:sramecc+:xnack-", AMD, "opencl", WAVES), "amd-gcn"),
    (device("AMD Instinct MI25 (RADV VEGA10)", AMD, widths=WAVES), "amd-gcn"),
    (device("gfx908:sramecc+:xnack-", AMD, "opencl", WAVES), "amd-cdna"),
    (device("gfx90a:sramecc+:xnack-", AMD, "opencl", WAVES), "amd-cdna"),
    (device("gfx942:sramecc+:xnack-", AMD, "opencl", WAVES), "amd-cdna"),
    (device("gfx950:sramecc+:xnack-", AMD, "opencl", WAVES, local_bytes=163840), "amd-cdna4"),
    (device("AMD Instinct MI355X", AMD, "hip", WAVES, local_bytes=163840), "amd-cdna4"),
    (device("AMD Instinct MI325X", AMD, "hip", WAVES), "amd-cdna"),
    (device("AMD Instinct MI250X (RADV MI200)", AMD, widths=WAVES), "amd-cdna"),
    (device("AMD Radeon RX 5700 XT (RADV NAVI10)", AMD, widths=RDNA), "amd-rdna"),
    (device("AMD Radeon RX 6800 XT (RADV NAVI21)", AMD, widths=RDNA), "amd-rdna"),
    (device("AMD Radeon RX 6600", AMD, widths=RDNA), "amd-rdna"),
    (device("AMD Radeon RX 7900 XTX (RADV NAVI31)", AMD, widths=RDNA), "amd-rdna"),
    (device("AMD Radeon RX 9070 XT (RADV GFX1201)", AMD, widths=RDNA), "amd-rdna"),
    (device("AMD Radeon 8060S Graphics (RADV STRIX_HALO)", AMD, widths=RDNA), "amd-rdna"),
    (device("AMD Custom GPU 0405 (RADV VANGOGH)", AMD, widths=RDNA), "amd-rdna"),
    (device("gfx1030", AMD, "opencl"), "amd-rdna"),
    (device("gfx1100", AMD, "opencl"), "amd-rdna"),
    (device("gfx1201", AMD, "opencl"), "amd-rdna"),
    (device("AMD Radeon(TM) Graphics", AMD, widths=RDNA), "amd-gcn"),
    (device("AMD Radeon RX 6800 XT", AMD, widths=WAVES, platform="MoltenVK"), "amd-rdna64"),
    (device("Intel(R) HD Graphics 5500 (BDW GT2)", INTEL, widths=INTELS), "intel-gen8"),
    (device("Intel(R) HD Graphics 6000", INTEL, "opencl", INTELS), "intel-gen8"),
    (device("Intel(R) HD Graphics 530 (SKL GT2)", INTEL, widths=INTELS), "intel-gen8"),
    (device("Intel(R) HD Graphics 630", INTEL, "opencl", INTELS), "intel-gen8"),
    (device("Intel(R) UHD Graphics 620 (KBL GT2)", INTEL, widths=INTELS), "intel-gen8"),
    (device("Intel(R) Iris(R) Plus Graphics 655 (CFL GT3)", INTEL, widths=INTELS), "intel-gen8"),
    (device("Intel(R) UHD Graphics [0x9bca]", INTEL, "opencl", INTELS), "intel-gen8"),
    (device("Intel(R) HD Graphics 505", INTEL, "opencl", INTELS), "intel-apl18"),
    (device("Intel(R) HD Graphics 505 (APL 3)", INTEL, widths=INTELS), "intel-apl18"),
    (device("Intel(R) UHD Graphics 605 (GLK 3)", INTEL, widths=INTELS), "intel-apl18"),
    (device("Intel(R) HD Graphics 500", INTEL, "opencl", INTELS), "intel-apl12"),
    (device("Intel(R) HD Graphics 500 (APL 2)", INTEL, widths=INTELS), "intel-apl12"),
    (device("Intel(R) UHD Graphics 600 (GLK 2)", INTEL, widths=INTELS), "intel-apl12"),
    (device("Intel(R) Iris(R) Plus Graphics [0x8a52]", INTEL, "opencl", INTELS), "intel-gen11"),
    (device("Intel(R) Iris(R) Plus Graphics (ICL GT2)", INTEL, widths=INTELS), "intel-gen11"),
    (device("Intel(R) UHD Graphics (JSL 16x8)", INTEL, widths=INTELS), "intel-gen11"),
    (device("Intel(R) Iris(R) Xe Graphics (TGL GT2)", INTEL, widths=INTELS), "intel-gen12"),
    (device("Intel(R) Iris(R) Xe Graphics", INTEL, "opencl", INTELS), "intel-gen12"),
    (device("Intel(R) UHD Graphics 770 [0x4680]", INTEL, "opencl", INTELS), "intel-gen12"),
    (device("Intel(R) UHD Graphics 750 (RKL GT1)", INTEL, widths=INTELS), "intel-gen12"),
    (device("Intel(R) Iris(R) Xe MAX Graphics (DG1)", INTEL, widths=INTELS), "intel-gen12"),
    (device("Intel(R) Arc(TM) A770 Graphics", INTEL, "opencl", INTELS), "intel-dg2"),
    (device("Intel(R) Arc(tm) A380 Graphics (DG2)", INTEL, widths=INTELS), "intel-dg2"),
    (device("Intel(R) Data Center GPU Flex 170", INTEL, "opencl", INTELS), "intel-dg2"),
    (device("Intel(R) Arc(TM) Pro A60 Graphics", INTEL, "opencl", INTELS), "intel-dg2"),
    (device("Intel(R) Arc(tm) Graphics (MTL)", INTEL, widths=INTELS), "intel-dg2"),
    (device("Intel(R) Graphics [0x7d55]", INTEL, "opencl", INTELS), "intel-dg2"),
    (device("Intel(R) Graphics (BMG G21)", INTEL, widths=(16, 32)), "intel-xe2"),
    (device("Intel(R) Arc(tm) B580 Graphics (BMG G21)", INTEL, widths=(16, 32)), "intel-xe2"),
    (device("Intel(R) Arc(tm) Graphics (LNL)", INTEL, widths=(16, 32)), "intel-xe2"),
    (device("Intel(R) Arc(TM) B580 Graphics", INTEL, "opencl", (16, 32)), "intel-xe2"),
    (device("Intel(R) Arc(TM) 140V GPU", INTEL, "opencl", (16, 32)), "intel-xe2"),
    (device("Intel(R) Graphics [0xe20b]", INTEL, "opencl", (16, 32)), "intel-xe2"),
    (device("Mali-G71", ARM, widths=(4,), int64=False), "mali-bifrost4"),
    (device("Mali-G31 MC2", ARM, widths=(4,), int64=False), "mali-bifrost4"),
    (device("Mali-G52 MC2", ARM, widths=(8,), int64=False), "mali-bifrost8"),
    (device("Mali-G76", ARM, widths=(8,), int64=False), "mali-bifrost8"),
    (device("Mali-G57", ARM, widths=(16,), int64=False), "mali-valhall"),
    (device("Mali-G310", ARM, widths=(16,), int64=False), "mali-valhall"),
    (device("Mali-G610 MC4", ARM, widths=(16,), int64=False), "mali-valhall"),
    (device("Mali-G710", ARM, widths=(16,), int64=False), "mali-valhall"),
    (device("Mali-G720-Immortalis MC12", ARM, widths=(16,), int64=False), "mali-valhall"),
    (device("Adreno (TM) 650", QUALCOMM, widths=(64, 128), int64=False, local_bytes=32768), "adreno-6xx"),
    (device("Turnip Adreno (TM) 740", QUALCOMM, widths=(64, 128), local_bytes=32768), "adreno-6xx"),
    (device("AMD Radeon RX 7900", AMD, "hlsl", (16, 32, 64), platform="Direct3D 12", local_bytes=32768), "direct3d"),
    (device("NVIDIA GeForce", NVIDIA, "hlsl", (16, 32), platform="Direct3D 12", local_bytes=32768), "direct3d"),
    (device("Apple M1", APPLE), "apple-m1"),
    (device("Apple M4 Max", APPLE, "opencl", (), shuffle=False), "apple-m1"),
    (device("SwiftShader Device (LLVM 16.0.0)", GOOGLE, widths=(4,), type="cpu", int64=False), "swiftshader"),
    (device("llvmpipe (LLVM 15.0.6, 256 bits)", MESA, widths=(8,), type="cpu", local_bytes=32768), "lavapipe"),
    (device("llvmpipe (LLVM 15.0.6, 256 bits)", MESA, "webgpu", (8,), type="cpu", local_bytes=16384), "webgpu-cpu"),
    (device("SwiftShader Device", GOOGLE, "webgpu", (4,), type="cpu", local_bytes=16384), "webgpu-cpu"),
    (device("NVIDIA H200", NVIDIA, "webgpu", (), shuffle=False, local_bytes=16384), "webgpu"),
    (device("NVIDIA H200", NVIDIA, "webgpu", (32,), local_bytes=16384), "webgpu-subgroups"),
    (device("Apple M1", APPLE, "webgpu", (), shuffle=False, local_bytes=16384), "webgpu"),
]


@pytest.mark.parametrize(("host", "wanted"), DEVICES, ids=lambda x: x if isinstance(x, str) else f"{x.name}-{x.api}")
def test_each_device_gets_one_target(host: Host, wanted: str) -> None:
    """For any order of the targets; except where the best match is not unique."""
    assert hosts.target_for(host, EVERY).name == wanted
    assert hosts.target_for(host, EVERY[::-1]).name == wanted
    assert hosts.target_for(host, heads.shipped()).name == wanted


@pytest.mark.parametrize("each", sampled(EVERY, 4), ids=lambda t: t.name)
def test_a_device_with_the_facts_of_a_target_runs_its_sorts(each: target.Target) -> None:
    facts, sorts = each.device, [each.sort(label, key) for label, key in each.choices]
    alone = facts.subgroups == (1,)
    limits = {"work_group": facts.work_group, "local_bytes": facts.local_bytes}
    host = replace(device("x", 1, each.apis[0], facts.subgroups, shuffle=not alone), **limits, ballot=not alone)
    assert hosts.meets(each, host)
    assert not [hosts.lacks(s, host) for s in sorts if hosts.lacks(s, host)]
    for fewer in ({"work_group": facts.work_group - 1}, {"local_bytes": facts.local_bytes - 1}, {"int64": False}):
        assert not hosts.meets(each, replace(host, **fewer))


def test_heads_are_those_of_the_targets() -> None:
    assert [(h.name, h.apis, h.match) for h in heads.shipped()] == [(t.name, t.apis, t.match) for t in EVERY]


@pytest.mark.parametrize(("host", "wanted"), DEVICES, ids=lambda x: x if isinstance(x, str) else f"{x.name}-{x.api}")
def test_no_two_targets_match_equally(host: Host, wanted: str) -> None:
    """Among the matching targets, exactly one is the most specific."""
    ranks = sorted((rank(t.match) for t in EVERY if host.api in t.apis and hosts.matches(t, host)), reverse=True)
    assert len(set(ranks[:2])) == len(ranks[:2])


def test_every_target_but_the_generic_one_has_a_device() -> None:
    assert {name for _, name in DEVICES} | {"cpu"} == set(target.names())


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        (device("Mali-G31", ARM, widths=(8,), int64=False), "generic"),
        (device("Adreno (TM) 618", QUALCOMM, widths=(128,), local_bytes=32768), "generic"),
        (device("Adreno (TM) 650", QUALCOMM, widths=(64, 128), local_bytes=16384), "generic"),
        (device("Mali-G76", ARM, widths=(8,), work_group=32), "generic"),
        (device("gfx1030", AMD, "opencl", WAVES), "amd-rdna64"),
        (device("Intel(R) Data Center GPU Max 1550", INTEL, "opencl", (16, 32)), "intel-dg2"),
        (device("Intel(R) HD Graphics 530", INTEL, "opencl", (), shuffle=False), "generic"),
    ],
    ids=lambda x: x if isinstance(x, str) else f"{x.name}-{x.api}",
)
def test_a_device_that_lacks_what_a_target_needs_gets_another(host: Host, wanted: str) -> None:
    """Mesa uses 8 lanes on a G31; a driver without subgroup size control has one width."""
    assert hosts.target_for(host, EVERY).name == wanted


OCLOC = {
    "bdw": "HD Graphics 5500 (BDW GT2)", "skl": "HD Graphics 530 (SKL GT2)", "kbl": "HD Graphics 630 (KBL GT2)",
    "cfl": "UHD Graphics 630 (CFL GT2)", "icllp": "Iris(R) Plus Graphics (ICL GT2)", "ehl": "UHD Graphics (EHL GT1)",
    "tgllp": "Iris(R) Xe Graphics (TGL GT2)", "rkl": "UHD Graphics 750 (RKL GT1)", "adl-s": "Graphics (ADL-S GT1)",
    "adl-p": "Graphics (ADL GT2)", "dg1": "Iris(R) Xe MAX Graphics (DG1)", "acm-g10": "Arc(tm) A770 Graphics (DG2)",
    "acm-g11": "Arc(tm) A380 Graphics (DG2)",
}  # fmt: skip


def compiled() -> list[tuple[str, str, Host]]:
    """Return (target, device of a compiler, that device as a host) for tables of targets for one family.

    Apollo Lake has two targets, which the compiler's name for the device does not distinguish.
    """
    found = []
    for t in EVERY:
        if t.name in ("generic", "amd-rdna64", "intel-apl12", "intel-apl18"):
            continue
        for d in t.isa.get("cuda", ()):
            compute = int(d.removeprefix("sm_"))
            found.append((t.name, d, cuda(compute, TEGRA.get(compute, "NVIDIA GPU"))))
        for d in t.isa.get("amdgcn", ()):
            found.append((t.name, d, device(d, AMD, "opencl", RDNA if len(d) > 6 else WAVES)))
        for d in t.isa.get("radv", ()):
            found.append((t.name, d, device(f"AMD Radeon (RADV {d.upper()})", AMD, widths=RDNA)))
        for d in t.isa.get("ocloc", ()):
            found.append((t.name, d, device(f"Intel(R) {OCLOC[d]}", INTEL, widths=INTELS)))
    return found


@pytest.mark.parametrize(("name", "compiler", "host"), compiled(), ids=lambda x: x if isinstance(x, str) else "")
def test_kernels_are_compiled_for_devices_that_get_them(name: str, compiler: str, host: Host) -> None:
    """(GPUs with a target for CUDA alone get nvidia-sm90 from bundles without that target.)"""
    apart = set(APART.values()) if name == "nvidia-sm90" else set()
    assert hosts.target_for(host, [t for t in EVERY if t.name not in apart]).name == name


def test_every_architecture_of_cuda_belongs_to_a_target() -> None:
    """Including those that no current compiler knows."""
    for each in KINDS["cuda"].devices:
        compute = int(each.removeprefix("sm_"))
        wanted = "nvidia-sm30" if compute == 30 else "nvidia-tegra" if compute in TEGRA else ""
        wanted = wanted or APART.get(compute, "nvidia-sm35" if compute < 80 else "nvidia-sm90")
        assert hosts.target_for(cuda(compute, TEGRA.get(compute, "NVIDIA GPU")), EVERY).name == wanted


@pytest.mark.parametrize("name", target.names())
def test_a_target_file_says_why(name: str) -> None:
    """It starts with the reasons, and a crossover that was not measured on the device is called an estimate."""
    text = (resources.targets() / f"{name}.toml").read_text(encoding="utf-8")
    assert text.startswith("# ")
    found = target.find(name)
    if found.autos and not any(e["level"] == "device" for e in found.evidence):
        before = text.split("[sort.u32]")[0].rstrip().splitlines()[-3:]
        assert re.search("Estimated|[Nn]ot measured", " ".join(before)), before


def test_newer_targets_of_nvidia_have_the_shapes_of_their_kind() -> None:
    """Grids follow the cores.  On data-centre Blackwells, pairs have smaller tiles, because those of Hopper spill."""

    def shapes(name: str) -> dict[tuple[str, str], object]:
        choices = target.find(name).choices
        return {at: replace(p, groups=1) if hasattr(p, "groups") else p for at, p in choices.items()}

    old, new = shapes("nvidia-hopper"), shapes("nvidia-blackwell")
    assert old.keys() == new.keys()
    assert {at[1] for at in old if old[at] != new[at] and "scan" not in at[0]} == {"u32"}
    assert {at[0] for at in old if old[at] != new[at]} == {f"radix-{x}" for x in ("pairs", "few", "more", "many")}
    assert shapes("nvidia-ada") == shapes("nvidia-blackwell-rtx")


def test_facts_of_one_chip_are_the_same_in_its_targets() -> None:
    assert target.find("amd-rdna").device == target.find("amd-rdna64").device
    one, other = target.find("intel-apl12").device, target.find("intel-apl18").device
    assert (one.threads, one.local_bytes, one.subgroups) == (other.threads, other.local_bytes, other.subgroups)
    assert target.find("intel-apl18").choices["bitonic", "u32"].slabs == 18
    assert target.find("intel-apl12").choices["bitonic", "u32"].slabs == 12


def test_mobile_gpus_have_no_64_bit_integers() -> None:
    for name in ("mali-bifrost4", "mali-bifrost8", "mali-valhall", "adreno-6xx"):
        found = target.find(name)
        assert not found.device.int64 and "vulkan" in found.apis and found.sort("auto", "u64").pair


def test_every_target_has_a_section() -> None:
    """In docs/reference/targets.md, and no other name has one."""
    text = (Path(__file__).parents[2] / "docs/reference/targets.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^### (.+)$", text, re.M)) == target.names()
