"""The limits of a multiprocessor of NVIDIA's GPUs, and the occupancy of kernels.

Sources: CUDA C++ Programming Guide 12.9 and 13.0, table "Technical Specifications per Compute Capability"; NVIDIA's
occupancy calculator (cuda_occupancy.h of the CUDA toolkit) for allocation granularities and sub-partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a multiprocessor: warps, blocks, registers (also per block), and shared memory in bytes."""

    warps: int
    blocks: int
    shared: int
    registers: int = 65536
    block_registers: int = 65536
    partitions: int = 4
    reserved: int = 0
    """Additional bytes of shared memory that each block takes."""
    step: int = 256
    """The granularity of shared memory, in bytes."""


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
    """Return the number of blocks of `lanes` lanes that a multiprocessor holds at once, 0 if it cannot hold any.

    `registers` is the number per lane, `shared` the bytes per block.  Memory that can serve as first-level cache
    or as shared memory counts as shared memory, which is the default of drivers.
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
    """Return the share of a multiprocessor's warps that blocks of a kernel fill; None for an unknown architecture."""
    limits = LIMITS.get(arch)
    if limits is None:
        return None
    return blocks(limits, lanes, registers, shared) * (_up(lanes, WARP) // WARP) / limits.warps


def _up(n: int, step: int) -> int:
    return -(-n // step) * step
