"""RADV without hardware: statistics are parsed, and errors are reported."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from isa_requests import needed, own, real

from hsgen.core.errors import Unavailable, Wrong
from hsgen.emit import spirv
from hsgen.tools.compile import radv
from hsgen.tools.compile.base import Use
from hsgen.tools.compile.radv import Radv

RADV = Radv()
PRELUDE = """#version 450
#extension GL_KHR_shader_subgroup_shuffle : require
layout(push_constant) uniform constants { uvec2 a; uvec2 b; int n; int argument; } push;
layout(std430, binding = 0) buffer first { uint source[]; };
layout(std430, binding = 1) buffer second { uint destination[]; };
#define I gl_LocalInvocationIndex
"""
KERNEL = "\n#ifdef HS_KERNEL_{0}\nlayout(local_size_x = {1}) in;\nvoid main() {{ {2} }}\n#endif\n"
MODEST = KERNEL.format("modest", 64, "destination[I] = source[I] + push.n;")
SHUFFLED = KERNEL.format("shuffled", 64, "destination[I] = subgroupShuffleXor(source[I], 1u) + gl_SubgroupSize;")
BARRIER = "memoryBarrierBuffer(); barrier();"
# 100 u32 per lane live at once: each of 1024 lanes has 64 registers
GREEDY = KERNEL.format(
    "greedy",
    1024,
    "".join(f"uint r{i} = source[{i * 1024} + I];" for i in range(100))
    + BARRIER
    + "".join(f"destination[{i * 1024} + I] = r{i} * r{(i * 7 + 1) % 100};" for i in range(100)),
)
# a loop that is not unrolled, over an array that therefore cannot be in registers
ARRAY = KERNEL.format(
    "array",
    1024,
    f"uint r[200]; for (int i = 0; i < 200; i++) r[i] = source[i * 1024 + I]; {BARRIER}"
    "for (int i = 0; i < 200; i++) destination[i * 1024 + I] = r[i] * r[(i * 7 + 1) % 200];",
)


def compiled(device: str, folder: Path, texts: dict[str, str], lanes: int = 1, group: int = 64) -> dict[str, Use]:
    needed(RADV, device)
    return RADV.compile(own(RADV, device, texts, prelude=PRELUDE, lanes=lanes, group=group), folder, 60)


def test_the_driver_and_the_compiler_in_front_of_it_are_named() -> None:
    using = spirv.compiler()
    assert needed(RADV, "vega10").startswith("radv Mesa ") and using is not None
    assert needed(RADV, "vega10").endswith(using.identity)
    assert RADV.identity("voodoo2") is None


def test_a_small_kernel_needs_little(tmp_path: Path) -> None:
    use = compiled("vega10", tmp_path, {"modest": MODEST})["modest"]
    assert (use.spill_bytes, use.local_bytes, use.occupancy) == (0, 0, 1.0)
    assert 0 < (use.registers or 0) <= 16 and 5 < (use.instructions or 0) < 50


def test_kernels_that_spill_are_seen_to_spill_and_others_not(tmp_path: Path) -> None:
    """Registers, and arrays, which count too."""
    found = compiled("vega10", tmp_path, {"greedy": GREEDY, "array": ARRAY, "modest": MODEST}, group=1024)
    assert found["greedy"].registers == 64 and found["greedy"].spill_bytes >= 4 * (100 - 64)
    assert found["array"].spill_bytes == 4 * 200
    assert found["modest"].spill_bytes == 0


@pytest.mark.parametrize(("device", "lanes"), [("polaris10", 64), ("navi21", 32), ("navi21", 64), ("gfx1201", 32)])
def test_subgroups_have_the_width_that_is_asked_for(device: str, lanes: int, tmp_path: Path) -> None:
    use = compiled(device, tmp_path, {"shuffled": SHUFFLED}, lanes=lanes)["shuffled"]
    assert use.spill_bytes == 0 and use.occupancy == 1.0


def test_a_width_that_a_family_has_not(tmp_path: Path) -> None:
    with pytest.raises(Wrong, match=r"^radv for vega10: kernel shuffled: subgroups have 64 lanes, not 32"):
        compiled("vega10", tmp_path, {"shuffled": SHUFFLED}, lanes=32)
    with pytest.raises(Wrong, match=r"^radv for navi10: kernel shuffled: subgroups have 32 or 64 lanes, not 16"):
        compiled("navi10", tmp_path, {"shuffled": SHUFFLED}, lanes=16)


def test_a_mistake_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(Wrong, match=r"kernel modest: gl.* rejects it: .*nowhere"):
        compiled("vega10", tmp_path, {"modest": MODEST.replace("+ push.n", "+ nowhere")})


def test_a_driver_that_crashes_is_an_error_of_its_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Input that is not SPIR-V: the driver crashes, or refuses it."""
    needed(RADV, "vega10")
    monkeypatch.setattr(spirv, "compile_one", lambda *_: (0x07230203).to_bytes(4, "little") + bytes(60))
    with pytest.raises(Wrong, match=r"^radv for vega10: kernel modest: (crashes with|ends with|vkCreate)"):
        compiled("vega10", tmp_path, {"modest": MODEST})


def test_missing_statistics_of_a_driver_are_an_error() -> None:
    order, done = {"kernel": "modest", "subgroup": 1}, subprocess.CompletedProcess([], 0, "", "")
    told = dict.fromkeys(radv._NEEDED, 64)
    assert radv._checked("radv for vega10", [order], done, [told]) == [(order, told)]
    told.pop("VGPRs")
    with pytest.raises(Wrong, match=r"^radv for vega10: kernel modest: the driver does not report VGPRs, as"):
        radv._checked("radv for vega10", [order], done, [told])


def test_an_unknown_device_no_driver_and_too_little_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed(RADV, "vega10")
    with pytest.raises(subprocess.TimeoutExpired):
        request = own(RADV, "vega10", {"modest": MODEST}, prelude=PRELUDE)
        monkeypatch.setattr("hsgen.tools.compile.radv.max", lambda *_: 0.01, raising=False)
        RADV.compile(request, tmp_path, 0.01)
    monkeypatch.undo()
    with pytest.raises(Unavailable, match="voodoo2 is unknown"):
        RADV.compile(own(RADV, "voodoo2", {"modest": MODEST}, prelude=PRELUDE), tmp_path, 60)
    monkeypatch.setattr("hsgen.tools.compile.radv._FOLDERS", ())
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(Unavailable, match="radv: is not installed; apt-get install mesa"):
        RADV.compile(own(RADV, "vega10", {"modest": MODEST}, prelude=PRELUDE), tmp_path, 60)


def test_kernels_of_hsgen_in_both_forms(tmp_path: Path) -> None:
    needed(RADV, "vega10")
    found = RADV.compile(real(RADV, "vega10", "amd-gcn", "bitonic", "clean", "flip_1"), tmp_path, 60)
    assert len(list(tmp_path.glob("*.spv"))) == 4
    assert found["clean"].local_bytes == 65536 and found["clean"].occupancy == 0.4  # 16 wavefronts on 4 SIMDs of 10
    assert found["flip_1"].occupancy == 1.0 and all(u.spill_bytes == 0 for u in found.values())
