"""Suggests shapes of bitonic merge sorts.

The rule follows HotSort.  A lane has 16 words of keys.  A work-group has as many slabs as possible, provided that a
core can hold a second work-group.  On Intel's GPUs, a slab has 128 keys.  docs/guides/suggest.md describes the rule and
its sources.
"""

from __future__ import annotations

from collections.abc import Iterator

from hsgen.core.networks import pow2_floor
from hsgen.tools.suggest.facts import NVIDIA, Choice, Facts, Table, lessened

_ROWS = 16  # greatest number of keys of a lane; HotSort's author measured much worse times with 32
_UNKNOWN = 8  # keys of a lane if its registers are unknown; every device has registers for 8 keys of 64 bits
_NARROW = 128  # keys of a slab if lanes share the registers of a hardware thread
_LANES = 512  # greatest work-group in lanes; with 1024, HotSort's author found too few resident work-groups
_FILLED = 0.8  # work-groups must be able to occupy at least this share of a core's hardware threads
_BLOCK = 16384  # bytes of a block on a CPU, half of an L1 cache
_COLUMN = 17  # keys of padding after a column on a CPU; without it, columns would compete for the same cache sets


ALONE = "merges for few keys, a radix sort for many"


def serves_all(f: Facts) -> bool:
    """Return False, because radix sorts are faster for many keys."""
    return False


def tables(f: Facts, size: int, width: int) -> dict[str, Table]:
    """Return the table ``[bitonic.KEY]`` for keys of `size` bytes; it may need more local memory than there is."""
    return {"": _table(f, size)}


def _table(f: Facts, size: int) -> Table:
    width = f.width(size)
    table = _shape(f, size, width)
    if f.narrow and not _power(table["slabs"].value) and width.value > f.widths[0]:
        why = "narrower, since half of a core's threads are then one work-group"
        narrow = _shape(f, size, Choice(f.widths[0], why))
        table = narrow if narrow["slabs"].value > table["slabs"].value else table
    if size == 8 and not f.device.int64:
        table["exchange"] = Choice("select", "64-bit keys are pairs of words")
    elif size == 8 and not f.cpu and f.vendor != NVIDIA:
        table["exchange"] = Choice("select", "64-bit min and max are no instructions of GPUs")
    return table


def _shape(f: Facts, size: int, width: Choice) -> Table:
    rows, why_rows = _rows(f, size, width.value)
    height, why_height = rows, why_rows
    if f.narrow and rows * width.value > _NARROW:
        height, why_height = max(2, _NARROW // width.value), f"slabs of {_NARROW} keys, since lanes share registers"
    slabs = _slabs(f, size, width.value, height)
    stream, why_stream = _streamed(f, size, width.value, rows)
    scale = Choice(stream.bit_length() - 1, why_stream)
    table = {
        "subgroup": width,
        "height": Choice(height, why_height),
        "slabs": slabs,
        "clean_slabs": Choice(pow2_floor(slabs.value), "the power of two at or below slabs"),
        "local_scale": Choice(height.bit_length() - 1, why_height),
        "flip_scale": scale,
        "half_scale": scale,
        "stream_group": _group(f, width.value, height, slabs.value),
    }
    if f.cpu and f.lone_lanes and width.value > 1:
        table["bank_pad"] = Choice(_COLUMN, "off the powers of two, which hit the same set of a cache")
    return table


def _group(f: Facts, width: int, height: int, slabs: int) -> Choice:
    lanes = pow2_floor(slabs) * width
    most = min(pow2_floor(f.device.work_group), lanes * pow2_floor(height))
    if f.cpu or not _power(slabs):
        return Choice(min(256, most, lanes), "as many lanes as clean a chunk")
    if f.device.local == "memory":
        return Choice(max(width, min(64, most)), "64 lanes, few as elsewhere")
    return Choice(min(256, most), "256 lanes, or as many as a work-group may have")


def _rows(f: Facts, size: int, width: int) -> Choice:
    """Return the number of keys that a lane holds while a work-group sorts or merges in local memory.

    The keys get a quarter of the lane's registers, but at least 16 words.
    """
    if f.cpu:
        return Choice(_ROWS, f"{_ROWS} keys a lane: a vector of them is a register")
    registers = f.lane_registers(width)
    if registers is None:
        return Choice(_UNKNOWN, f"{_UNKNOWN} keys a lane, since its registers are not known")
    words = max(16, int(registers) // 4)
    rows = min(_ROWS, pow2_floor(max(2, words * 4 // size)))
    return Choice(rows, f"{rows * size // 4} words of keys a lane, of {registers:.0f} registers in a full core")


def _streamed(f: Facts, size: int, width: int, usual: int) -> Choice:
    """Return the number of keys that a lane holds in merges that stream keys through registers.

    The keys get all registers of the lane, because such merges need few registers for other purposes.
    """
    registers = f.lane_registers(width)
    if f.cpu or registers is None or (size == 8 and not f.device.int64):
        return Choice(usual, "as many rows as elsewhere")
    rows = min(_ROWS, pow2_floor(max(2, int(registers) * 4 // size)))
    return Choice(rows, f"{rows} rows fit the registers of a lane in a full core")


def _slabs(f: Facts, size: int, width: int, height: int) -> Choice:
    most = max(1, f.device.work_group // width)
    room = max(1, f.device.local_bytes // (width * height * size))
    if f.cpu:
        few = 32 if width > 1 else most
        slabs = pow2_floor(min(few, most, room, max(1, _BLOCK // (width * height * size))))
        return Choice(slabs, f"blocks of {slabs * width * height * size} bytes, which a first-level cache holds")
    if width == 1:
        lanes = pow2_floor(min(64 if f.device.local == "memory" else most, most, room))
        return Choice(lanes, "as many lanes as a work-group and local memory have room for")
    if f.device.local == "memory":
        why = "8 subgroups, since local memory lies in ordinary memory and larger blocks gain little"
        return Choice(pow2_floor(min(8, most, room)), why)
    half = max(1, min(f.threads // 2, _lanes(f, height * size // 4) // width))
    fitting = [n for n in _even(f, min(half, most, room)) if f.threads // n * n >= _FILLED * f.threads]
    powers = [n for n in fitting if _power(n)]
    if powers:
        return Choice(max(powers), f"a power of two of which the {f.threads} threads of a core take two or more")
    if fitting:
        return Choice(max(fitting), f"the {f.threads} threads of a core take two or more, and its units share evenly")
    return Choice(pow2_floor(min(half, most, room)), "as many as a work-group and local memory have room for")


def _lanes(f: Facts, words: int) -> int:
    """Return the greatest number of lanes of a work-group such that a core has registers for two work-groups.

    A lane has `words` words of keys, and needs four registers for each word.
    """
    return min(_LANES, f.device.registers // (8 * words)) if f.device.registers else _LANES


def _even(f: Facts, most: int) -> Iterator[int]:
    """Yield the numbers of slabs up to `most` that can be divided evenly among the SIMD units of a core."""
    units = f.device.units or 1
    yield from range(units, most + 1, units)


def _power(n: int) -> bool:
    return n & (n - 1) == 0


def smaller(table: Table) -> Iterator[Table]:
    """Yield smaller tables: first without padding between columns, then with fewer slabs, then with lower slabs."""
    now = {**table, "bank_pad": Choice(0, "without slack a block fits local memory exactly")}
    yield now
    while True:
        slabs, height = now["slabs"].value, now["height"].value
        if slabs > 1:
            slabs = pow2_floor(slabs) if slabs & (slabs - 1) else slabs // 2
        elif height > 2:
            height = pow2_floor(height - 1)
        else:
            return
        clean = pow2_floor(slabs)
        group = min(now["stream_group"].value, clean * pow2_floor(height) * now["subgroup"].value)
        small = {"slabs": slabs, "height": height, "clean_slabs": clean, "stream_group": group}
        now = {**now, **{name: lessened(table, name, value) for name, value in small.items()}}
        yield {name: choice for name, choice in now.items() if name != "bank_pad"}
        yield now
