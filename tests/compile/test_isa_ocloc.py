"""Intel's offline compiler: resource usage is parsed, and errors are reported."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from isa_requests import needed, own, real

from hsgen.core.errors import Unavailable, Wrong
from hsgen.tools.compile.ocloc import SUBSLICES, Ocloc, Subslice

OCLOC = Ocloc()
PLAIN = "__attribute__((reqd_work_group_size(64, 1, 1))) __kernel void {}"
ARGUMENTS = "(__global const uint *source, __global uint *destination, int n, int argument)"
COPY = "{ destination[get_global_id(0)] = source[get_global_id(0)] + n; }\n"
MODEST = PLAIN.format("modest") + ARGUMENTS + COPY
# 110 u32 per lane live at once: with 16 lanes twice the registers of a hardware thread, with 8 lanes fewer
LIVE = """
{
    uint r[110];
    __attribute__((opencl_unroll_hint(110))) for (int i = 0; i < 110; i++) r[i] = source[i * 64 + get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    __attribute__((opencl_unroll_hint(110))) for (int i = 0; i < 110; i++)
        destination[i * 64 + get_local_id(0)] = r[i] * r[(i * 7 + 1) % 110];
}
"""


def live(name: str, lanes: int) -> str:
    return f"__attribute__((intel_reqd_sub_group_size({lanes}))) " + PLAIN.format(name) + ARGUMENTS + LIVE


def test_every_device_has_a_subslice_and_only_known_ones_an_identity() -> None:
    assert set(SUBSLICES) == set(OCLOC.devices())
    assert "ocloc" in needed(OCLOC, "skl")
    assert OCLOC.identity("haswell") is None


def test_a_small_kernel_needs_little(tmp_path: Path) -> None:
    needed(OCLOC, "skl")
    use = OCLOC.compile(own(OCLOC, "skl", {"modest": MODEST}), tmp_path, 60)["modest"]
    assert (use.registers, use.spill_bytes, use.local_bytes, use.occupancy) == (None, 0, 0, 1.0)
    assert 5 < (use.instructions or 0) < 100


def test_kernels_that_spill_are_seen_to_spill_and_others_not(tmp_path: Path) -> None:
    """Whether registers or whole arrays were spilled: IGC compiles a second time after large spills."""
    needed(OCLOC, "skl")
    texts = {"wide": live("wide", 16), "modest": MODEST}
    found = OCLOC.compile(own(OCLOC, "skl", texts), tmp_path, 60)
    assert found["wide"].spill_bytes >= 16 * 4 * (110 - 64) and found["modest"].spill_bytes == 0
    again = [p for p in (tmp_path / "dump").glob("*_1_simd16_*.asm")]
    assert again, "this version of IGC no longer retries: use more registers"


def test_a_subgroup_of_another_width_is_an_error(tmp_path: Path) -> None:
    needed(OCLOC, "skl")
    with pytest.raises(Wrong, match=r"kernel modest: compiled for subgroups of (16|32) lanes, not 8"):
        OCLOC.compile(own(OCLOC, "skl", {"modest": MODEST}, lanes=8), tmp_path, 60)


def test_what_a_device_cannot_do_is_said_with_the_log(tmp_path: Path) -> None:
    needed(OCLOC, "skl")
    text = "__attribute__((intel_reqd_sub_group_size(32))) " + PLAIN.format("wide") + ARGUMENTS
    text += "{ intel_sub_group_block_write(destination, source[get_global_id(0)]); }"
    with pytest.raises(Wrong, match=r"^ocloc for skl: refuses .* Block writes not supported in SIMD32\n") as e:
        OCLOC.compile(own(OCLOC, "skl", {"wide": text}, lanes=32), tmp_path, 60)
    assert "in kernel: 'wide'" in e.value.lines


def test_a_mistake_is_reported_with_its_line(tmp_path: Path) -> None:
    needed(OCLOC, "bdw")
    with pytest.raises(Wrong, match=r"^ocloc for bdw: refuses the kernels .* undeclared identifier 'nowhere'") as e:
        OCLOC.compile(own(OCLOC, "bdw", {"k": MODEST.replace("+ n", "+ nowhere")}), tmp_path, 60)
    assert not any(str(tmp_path) in line for line in e.value.lines[:2])


def test_a_work_group_that_no_subslice_holds(tmp_path: Path) -> None:
    needed(OCLOC, "glk")
    text = live("k", 8).replace("size(64,", "size(512,").replace("110", "4")
    with pytest.raises(Wrong, match="work-group of 512 lanes with 0 bytes does not fit"):
        OCLOC.compile(own(OCLOC, "glk", {"k": text}, lanes=8, group=512), tmp_path, 60)


def test_an_unknown_device_and_too_little_time(tmp_path: Path) -> None:
    needed(OCLOC, "skl")
    with pytest.raises(Unavailable, match="does not support the device haswell; it supports bdw"):
        OCLOC.compile(own(OCLOC, "haswell", {"modest": MODEST}), tmp_path, 60)
    with pytest.raises(subprocess.TimeoutExpired):
        OCLOC.compile(own(OCLOC, "skl", {"modest": MODEST}), tmp_path, 0.01)


def test_a_kernel_of_hsgen(tmp_path: Path) -> None:
    needed(OCLOC, "skl")
    found = OCLOC.compile(real(OCLOC, "skl", "intel-gen8", "bitonic", "flip_1", "flip_4"), tmp_path, 60)
    assert found["flip_1"].spill_bytes == found["flip_4"].spill_bytes == 0
    assert (found["flip_4"].instructions or 0) > 3 * (found["flip_1"].instructions or 0) > 100


@pytest.mark.parametrize(
    ("lanes", "simd", "local", "share"),
    [
        (64, 8, 0, 1.0),  # 8 threads each, 7 work-groups
        (256, 16, 0, 48 / 56),  # 16 threads each, 3 work-groups
        (224, 8, 28 << 10, 1.0),  # 28 threads each, 2 work-groups of 32 KiB
        (224, 8, 33 << 10, 0.5),  # 64 KiB allocated
        (16, 16, 4, 16 / 56),  # barriers for 16 work-groups
        (512, 8, 0, 0.0),  # 64 threads
    ],
)
def test_occupancy_of_a_subslice(lanes: int, simd: int, local: int, share: float) -> None:
    assert Subslice(56, 64 << 10, 4 << 10, 16).occupancy(lanes, simd, local) == share
