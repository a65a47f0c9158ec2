"""clang for AMD GPUs: resource usage is parsed, the prelude supports both widths, and errors are reported."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from isa_requests import needed, own, real

from hsgen.core.errors import Unavailable, Wrong
from hsgen.system import toolchain
from hsgen.tools.compile.amdgcn import WAVES, Amdgcn
from hsgen.tools.compile.base import Use

AMDGCN = Amdgcn()
HEAD = "__attribute__((reqd_work_group_size({}, 1, 1))) __kernel void {}"
ARGUMENTS = "(__global const uint *source, __global uint *destination, int n, int argument)"
MODEST = HEAD.format(64, "modest") + ARGUMENTS + "{ destination[get_local_id(0)] = source[get_local_id(0)] + n; }\n"
# 100 u32 per lane live at once: each of 1024 lanes has 64 registers
GREEDY = f"""{HEAD.format(1024, "greedy")}{ARGUMENTS}
{{
    uint r[100];
    __attribute__((opencl_unroll_hint(100))) for (int i = 0; i < 100; i++) r[i] = source[i * 1024 + get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    __attribute__((opencl_unroll_hint(100))) for (int i = 0; i < 100; i++)
        destination[i * 1024 + get_local_id(0)] = r[i] * r[(i * 7 + 1) % 100];
}}
"""
EVERY = f"""{HEAD.format(64, "every")}{ARGUMENTS}
{{
    __local uint s[64];
    uint x = source[get_local_id(0)], lane = get_sub_group_local_id();
    ulong wide = (ulong)x << 32 | lane;
    s[lane] = get_sub_group_id() + (uint)get_num_groups(0) + (uint)get_group_id(0) + (uint)get_group_id(1);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    x += atomic_add(&s[1], x) + atomic_or(&destination[n], 0u) + atomic_xchg(&destination[1], x);
    wide = max(sub_group_shuffle_xor(wide, 5), sub_group_broadcast(wide, 3)) + popcount(wide);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    uint4 votes = sub_group_ballot(x > 7u);
    destination[64 + get_local_id(0)] = x + votes.x + votes.y + s[0] + (uint)wide + (uint)min(n, argument);
}}
"""


def compiled(device: str, folder: Path, texts: dict[str, str], lanes: int = 1, group: int = 64) -> dict[str, Use]:
    needed(AMDGCN, device)
    return AMDGCN.compile(own(AMDGCN, device, texts, lanes=lanes, group=group), folder, 60)


def test_every_device_has_its_waves_and_only_known_ones_an_identity() -> None:
    assert set(WAVES) == set(AMDGCN.devices())
    assert "clang" in needed(AMDGCN, "gfx906")
    assert AMDGCN.identity("gfx700") is None


def test_a_small_kernel_needs_little(tmp_path: Path) -> None:
    use = compiled("gfx906", tmp_path, {"modest": MODEST})["modest"]
    assert (use.spill_bytes, use.local_bytes, use.occupancy) == (0, 0, 1.0)
    assert 0 < (use.registers or 0) < 16 and 5 < (use.instructions or 0) < 50


def test_kernels_that_spill_are_seen_to_spill_and_others_not(tmp_path: Path) -> None:
    found = compiled("gfx906", tmp_path, {"greedy": GREEDY, "modest": MODEST}, group=1024)
    assert found["greedy"].registers == 64 and found["greedy"].spill_bytes >= 4 * (100 - 64)
    assert found["modest"].spill_bytes == 0


@pytest.mark.parametrize(("device", "lanes"), [("gfx803", 64), ("gfx1030", 32), ("gfx1030", 64), ("gfx90a", 64)])
def test_all_that_kernels_use_of_opencl_compiles(device: str, lanes: int, tmp_path: Path) -> None:
    """And a ballot takes one instruction per u32 of the wavefront's mask."""
    use = compiled(device, tmp_path, {"every": EVERY}, lanes=lanes)["every"]
    assert use.local_bytes == 256 and use.spill_bytes == 0
    text = (tmp_path / "kernels.s").read_text(encoding="utf-8")
    assert f".wavefront_size: {lanes}" in text and "ds_bpermute_b32" in text and "readlane" in text
    assert ("v_mbcnt_hi" in text) == (lanes == 64)


@pytest.mark.parametrize(("device", "lanes", "have"), [("gfx906", 32, "64"), ("gfx1030", 16, "32 or 64")])
def test_a_width_that_a_device_has_not(device: str, lanes: int, have: str, tmp_path: Path) -> None:
    with pytest.raises(Wrong, match=f"^clang for {device}: subgroups have {have} lanes, not {lanes}"):
        compiled(device, tmp_path, {"every": EVERY}, lanes=lanes)


def test_a_mistake_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(Wrong, match=r"^clang .* for gfx906: refuses the kernels .*kernels\.cl:1:\d+: error: .*nowhere"):
        compiled("gfx906", tmp_path, {"k": MODEST.replace("+ n", "+ nowhere")})


def test_an_unknown_device_no_compiler_and_too_little_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed(AMDGCN, "gfx906")
    with pytest.raises(subprocess.TimeoutExpired):
        AMDGCN.compile(own(AMDGCN, "gfx906", {"modest": MODEST}), tmp_path, 0.01)
    with pytest.raises(Unavailable, match=r"^no clang for gfx700 \(found clang .*pip install 'hsgen\[isa-amd\]'"):
        AMDGCN.compile(own(AMDGCN, "gfx700", {"modest": MODEST}), tmp_path, 60)
    monkeypatch.setattr(toolchain, "tool", lambda name: None)
    monkeypatch.setattr(toolchain, "has_module", lambda name: False)
    assert AMDGCN.identity("gfx906") is None
    with pytest.raises(Unavailable, match=r"found nothing"):
        AMDGCN.compile(own(AMDGCN, "gfx906", {"modest": MODEST}), tmp_path, 60)


def test_kernels_of_hsgen(tmp_path: Path) -> None:
    needed(AMDGCN, "gfx906")
    found = AMDGCN.compile(real(AMDGCN, "gfx906", "amd-gcn", "bitonic", "clean", "flip_1"), tmp_path, 60)
    # 16 wavefronts on 4 SIMDs of 10; clang 14 ignores local memory
    assert found["clean"].local_bytes == 65536 and found["clean"].occupancy in (0.4, 0.5, 0.7)
    assert found["flip_1"].occupancy == 1.0 and all(u.spill_bytes == 0 for u in found.values())
