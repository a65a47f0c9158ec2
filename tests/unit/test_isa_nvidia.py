"""Occupancy of a multiprocessor, compared with NVIDIA's calculator, and the instructions of cubins."""

from __future__ import annotations

import struct
import subprocess
from itertools import product
from pathlib import Path

import pytest
from conftest import missing
from tools import tool

from hsgen.core.errors import Wrong
from hsgen.targets import target
from hsgen.tools.compile import cuda, nvrtc
from hsgen.tools.compile.nvidia import LIMITS, blocks, occupancy


@pytest.mark.parametrize(
    ("arch", "lanes", "registers", "shared", "share"),
    [  # computed by hand
        (80, 1024, 32, 0, 1.0),
        (80, 1024, 33, 0, 0.5),
        (86, 1024, 32, 0, 2 / 3),
        (90, 32, 16, 0, 0.5),  # 32 blocks of a warp
        (75, 256, 64, 0, 1.0),
        (80, 256, 64, 48 << 10, 3 * 8 / 64),  # 164 KiB hold three blocks of 49 KiB
        (80, 256, 64, 54 << 10, 2 * 8 / 64),
        (70, 256, 64, 48 << 10, 2 * 8 / 64),
        (90, 512, 255, 0, 0.0),  # 65536 registers are too few
        (90, 256, 255, 0, 8 / 64),
        (53, 512, 64, 0, 0.5),
        (53, 512, 65, 0, 0.0),  # 32768 for a block
        (37, 1024, 64, 0, 1.0),
    ],
)
def test_occupancy(arch: int, lanes: int, registers: int, shared: int, share: float) -> None:
    assert occupancy(arch, lanes, registers, shared) == pytest.approx(share)


def test_an_architecture_that_is_not_in_the_table() -> None:
    assert occupancy(88, 256, 32, 0) is None


def test_a_block_that_no_multiprocessor_holds_is_an_error() -> None:
    kernel = target.find("nvidia-sm90").sort("bitonic", "u32").kernels[0]
    use = nvrtc.Use(registers=32, spill_stores=0, spill_loads=0, shared=0)
    assert cuda._use(use, 90, kernel, 1000).local_bytes == 1000
    with pytest.raises(Wrong, match=rf"^sm_90: kernel {kernel.name}: no multiprocessor holds a block of "):
        cuda._use(use, 90, kernel, 300_000)


PROGRAM = """
#include <stdio.h>
#include "cuda_occupancy.h"
int main(void)
{
    int arch, warps, per_sm, per_block, shared, reserved, lanes, registers, used;
    while (scanf("%d %d %d %d %d %d %d %d %d", &arch, &warps, &per_sm, &per_block, &shared, &reserved, &lanes,
                 &registers, &used) == 9) {
        cudaOccDeviceProp p;
        cudaOccFuncAttributes a;
        cudaOccDeviceState s;
        cudaOccResult r;
        memset(&p, 0, sizeof p), memset(&a, 0, sizeof a), memset(&s, 0, sizeof s);
        p.computeMajor = arch / 10, p.computeMinor = arch % 10;
        p.maxThreadsPerBlock = 1024, p.maxThreadsPerMultiprocessor = 32 * warps;
        p.regsPerBlock = per_block, p.regsPerMultiprocessor = per_sm, p.warpSize = 32, p.numSms = 1;
        p.sharedMemPerBlock = 49152, p.sharedMemPerMultiprocessor = shared, p.sharedMemPerBlockOptin = 49152;
        p.reservedSharedMemPerBlock = reserved;
        a.maxThreadsPerBlock = 1024, a.numRegs = registers, a.partitionedGCConfig = PARTITIONED_GC_OFF;
        a.maxDynamicSharedSizeBytes = 49152;
        s.carveoutConfig = 100;
        int status = (int)cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, lanes, used);
        printf("%d %d\\n", status, r.activeBlocksPerMultiprocessor);
    }
    return 0;
}
"""


def test_occupancy_is_that_of_nvidias_calculator(tmp_path: Path) -> None:
    """Blocks of every architecture, for sizes, registers and shared memory of kernels, compared with
    cuda_occupancy.h."""
    nvcc, compiler = tool("nvcc"), tool("c++")
    places = [Path(nvcc).resolve().parents[1], *Path("/usr/local").glob("cuda*")]
    header = next((h for p in places for h in p.rglob("cuda_occupancy.h")), None)
    if header is None:
        missing("the CUDA toolkit here has no cuda_occupancy.h")
    source, program = tmp_path / "calculator.cpp", tmp_path / "calculator"
    source.write_text("#include <cstring>\n" + PROGRAM, encoding="utf-8")
    subprocess.run([compiler, "-w", "-I", header.parent, source, "-o", program], check=True)
    cases = [
        (arch, *case)
        for arch in LIMITS
        for case in product((32, 64, 96, 256, 512, 1024), (10, 32, 33, 64, 96, 128, 255), (0, 1000, 20000, 49152))
    ]
    order = "".join(
        f"{arch} {m.warps} {m.registers} {m.block_registers} {m.shared} {m.reserved} {lanes} {registers} {shared}\n"
        for arch, lanes, registers, shared in cases
        for m in (LIMITS[arch],)
    )
    said = subprocess.run([program], input=order, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(said) == len(cases)
    for (arch, lanes, registers, shared), line in zip(cases, said, strict=True):
        status, count = map(int, line.split())
        assert status == 0, (arch, lanes, registers, shared)
        assert blocks(LIMITS[arch], lanes, registers, shared) == count, (arch, lanes, registers, shared)


def elf(sections: dict[str, bytes]) -> bytes:
    """A 64-bit ELF file with these sections, and their names."""
    names = b"\0" + b"".join(n.encode() + b"\0" for n in (*sections, ".shstrtab"))
    body, headers = b"", [b"\0" * 64]
    for name, data in {**sections, ".shstrtab": names}.items():
        at = names.index(b"\0" + name.encode() + b"\0") + 1
        headers.append(struct.pack("<IIQQQQ", at, 1, 0, 0, 64 + len(body), len(data)) + b"\0" * 24)
        body += data
    head = b"\x7fELF\x02" + b"\0" * 35 + struct.pack("<Q", 64 + len(body)) + b"\0" * 10
    return head + struct.pack("<HHH", 64, len(headers), len(headers) - 1) + body + b"".join(headers)


@pytest.mark.parametrize(("arch", "count"), [(35, 56), (37, 56), (52, 48), (61, 48), (70, 32), (90, 32), (120, 32)])
def test_instructions_are_counted_without_what_schedules_them(arch: int, count: int) -> None:
    data = elf({".text.sort": b"x" * 512, ".nv.info.sort": b"y" * 99, ".text.copy": b""})
    assert nvrtc.instructions(data, arch) == {"sort": count, "copy": 0}


def test_files_that_are_no_cubins() -> None:
    for data in (b"", b"\x7fELF\x01" + b"\0" * 99, b"PTX" * 99):
        with pytest.raises(ValueError, match="no ELF file"):
            nvrtc.instructions(data, 90)
