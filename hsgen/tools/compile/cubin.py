"""The number of instructions of each kernel in a CUDA binary."""

from __future__ import annotations

import struct

_PREFIX = ".text."


def instructions(data: bytes, arch: int) -> dict[str, int]:
    """Return the instruction count of every kernel of a cubin; the count includes padding at the kernel's end.

    `arch` is the NN of sm_NN.  The code of a kernel is the ELF section ``.text.NAME``.  From Volta on, an instruction
    has 16 bytes.  Before Volta an instruction has 8 bytes, and every fourth (Maxwell, Pascal) or eighth (Kepler) word
    schedules the other words.

    Source of the encoding: Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking (2018), 2.1.

    Raises:
        ValueError: the data is not a 64-bit ELF file.
    """
    if data[:5] != b"\x7fELF\x02" or len(data) < 64:
        raise ValueError("no ELF file of 64 bits")
    (at,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    labels = headers[names][4]
    counts: dict[str, int] = {}
    for name, _, _, _, _, length in headers:
        begin = labels + name
        label = data[begin : data.index(b"\0", begin)].decode()
        if label.startswith(_PREFIX):
            words = length // (16 if arch >= 70 else 8)
            every = 0 if arch >= 70 else 4 if arch >= 50 else 8
            counts[label.removeprefix(_PREFIX)] = words - (words // every if every else 0)
    return counts
