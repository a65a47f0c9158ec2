"""The limits of a multiprocessor (SM) of NVIDIA GPUs, and the occupancy of kernels.

The limits are those of the CUDA C++ Programming Guide 12.9 and 13.0, table "Technical Specifications per Compute
Capability".  Allocation granularities and sub-partitions are those of NVIDIA's occupancy calculator (cuda_occupancy.h
in the CUDA toolkit).
"""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a multiprocessor.

    warps, blocks: how many it holds at once.  shared: bytes of shared memory.  registers: number of 32-bit registers.
    block_registers: registers of a block.  partitions: number of sub-partitions, which divide warps and registers.
    """

    warps: int
    blocks: int
    shared: int
    registers: int = 65536
    block_registers: int = 65536
    partitions: int = 4
    reserved: int = 0
    """Bytes of shared memory that the system reserves for each block, in addition to what the kernel uses."""
    step: int = 256
    """Shared memory is allocated in multiples of this number of bytes."""


def _new(warps: int, blocks: int, kib: int) -> Limits:
    return Limits(warps, blocks, kib << 10, reserved=1024, step=128)


LIMITS = {
    30: Limits(64, 16, 48 << 10),
    32: Limits(64, 16, 48 << 10, block_registers=32768),
    35: Limits(64, 16, 48 << 10),
    37: Limits(64, 16, 112 << 10, registers=131072),
    50: Limits(64, 32, 64 << 10),
    52: Limits(64, 32, 96 << 10),
    53: Limits(64, 32, 64 << 10, block_registers=32768),
    60: Limits(64, 32, 64 << 10, partitions=2),
    61: Limits(64, 32, 96 << 10),
    62: Limits(64, 32, 64 << 10, block_registers=32768),
    70: Limits(64, 32, 96 << 10),
    72: Limits(64, 32, 96 << 10),
    75: Limits(32, 16, 64 << 10),
    80: _new(64, 32, 164),
    86: _new(48, 16, 100),
    87: _new(48, 16, 164),
    89: _new(48, 24, 100),
    90: _new(64, 32, 228),
    100: _new(64, 32, 228),
    101: _new(48, 24, 228),
    103: _new(64, 32, 228),
    110: _new(48, 24, 228),
    120: _new(48, 24, 100),
    121: _new(48, 24, 100),
}
"""The limits of architectures, by the NN of sm_NN."""


def blocks(limits: Limits, lanes: int, registers: int, shared: int) -> int:
    """Return the number of blocks that a multiprocessor holds at once; 0 if not even one fits.

    `lanes` is the number of lanes of a block, `registers` the registers of a lane, `shared` the bytes of shared memory
    of a block.  All memory that can serve as L1 cache or as shared memory counts as shared memory, because drivers by
    default divide this memory as a kernel requires.
    """
    warps = _up(lanes, WARP) // WARP
    per_warp = _up(max(registers, 1) * WARP, 256)
    if per_warp * _up(warps, limits.partitions) > limits.block_registers:
        return 0
    room = limits.registers // limits.partitions // per_warp * limits.partitions
    memory = _up(shared + limits.reserved, limits.step)
    fit = limits.shared // memory if memory else limits.blocks
    return min(limits.blocks, limits.warps // warps, room // warps, fit)


def occupancy(arch: int, lanes: int, registers: int, shared: int) -> float | None:
    """Return the occupancy of a kernel (0 to 1): its resident warps divided by a multiprocessor's greatest number.

    The result is None for an unknown architecture `arch`, the NN of sm_NN.
    """
    limits = LIMITS.get(arch)
    if limits is None:
        return None
    return blocks(limits, lanes, registers, shared) * (_up(lanes, WARP) // WARP) / limits.warps


def _up(n: int, step: int) -> int:
    return -(-n // step) * step
