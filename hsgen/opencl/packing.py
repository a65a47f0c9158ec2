"""Key columns packed into one word each row, in the order of the columns: one sort then replaces several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hsgen.core.keys import KEYS, TYPES
from hsgen.engines import builds
from hsgen.opencl.pitched import Column
from hsgen.system import toolchain

WORDS = {4: "u32", 8: "u64"}
"""The key types of packed words by their size in bytes."""
_WORD = 64  # bits of the greatest
_C = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}
_LANES = 256  # multiples of it are launched, for which drivers find work-groups

By = Sequence[tuple[str, str]]
"""Columns: key types, and orders."""
Pack = list[tuple[int, int]]
"""The columns of which words have bits, by number, each with the bits that it is shifted to the left by."""


def _bytes(name: str) -> int:
    return KEYS[TYPES[name].key].bytes


def _apart(sizes: Sequence[int]) -> list[Pack]:
    """Packs of whole columns."""
    found: list[Pack] = [[]]
    used = 0
    for i, size in reversed([*enumerate(sizes)]):
        if used + size > _WORD:
            found.insert(0, [])
            used = 0
        found[0].insert(0, (i, used))
        used += size
    return found


def _together(sizes: Sequence[int]) -> list[Pack]:
    """Packs of 64 bits, except for the first one, which cut through columns."""
    low = [sum(sizes[i + 1 :]) for i in range(len(sizes))]
    starts = range(0, sum(sizes), _WORD)
    parts = [
        [(i, low[i] - at) for i, size in enumerate(sizes) if at - size < low[i] < at + _WORD] for at in reversed(starts)
    ]
    return parts


def packs(by: By) -> list[Pack]:
    """Return the packs of columns, each for one sort: of whole columns, or of parts where fewer then suffice."""
    sizes = [8 * _bytes(name) for name, _ in by]
    apart, together = _apart(sizes), _together(sizes)
    return together if len(together) < len(apart) else apart


def _loaded(size: int, *, whole: bool) -> str:
    """The key of a row: at once, or byte by byte where it may begin anywhere."""
    if whole:
        return f"*(__global const {_C[size]} *)at"
    return " | ".join(f"({_C[max(size, 4)]})at[{b}] << {8 * b}" for b in range(size))


def _joined(number: int, column: tuple[str, str], shift: int, word: str, *, whole: bool) -> str:
    """The statements that join the ordered bits of a column, as docs/reference/semantics.md has them, to the word."""
    name, order = column
    size, kind = _bytes(name), TYPES[name].kind
    of, sign = _C[size], f"(({_C[size]})1 << {8 * size - 1})"
    turned = ("x", f"x ^ {sign}", f"(x & {sign}) != 0 ? ~x : x ^ {sign}")[kind]
    ordered = f"({of})({turned})" if order == "ascending" else f"({of})~({turned})"
    moved = f"({word}){ordered} << {shift}" if shift >= 0 else f"({word})({ordered} >> {-shift})"
    return f"""    {{
        __global const uchar *at = column{number} + begin{number} + i * pitch{number};
        const {of} x = ({of})({_loaded(size, whole=whole)});
        word |= {moved};
    }}
"""


class Packer:
    """The packing of columns `by` into words that `pack` describes.

    `bits`: the bits of a word that columns take, from the lowest on; the others are 0.  `size`: its bytes.
    """

    def __init__(self, context: Any, by: By, pack: Pack) -> None:
        self._context, self._pack = context, pack
        self._by = [by[i] for i, _ in pack]
        ends = (shift + 8 * _bytes(name) for (name, _), (_, shift) in zip(self._by, pack, strict=True))
        self.bits = min(_WORD, max(ends))
        self.size = min(size for size in WORDS if 8 * size >= self.bits)
        self._kernels: dict[tuple[bool, ...], Any] = {}

    def __call__(self, queue: Any, columns: Sequence[Column], words: Any, n: int, wait_for: Sequence[Any]) -> Any:
        """Enqueue the packing of `n` rows of all columns into a buffer of words; return the event of its end."""
        mine = [columns[i] for i, _ in self._pack]
        sizes = [_bytes(name) for name, _ in self._by]
        whole = tuple(c.at % size == 0 and c.pitch % size == 0 for c, size in zip(mine, sizes, strict=True))
        if whole not in self._kernels:
            self._kernels[whole] = self._built(whole)
        kernel = self._kernels[whole]
        places = [x for c in mine for x in (c.buffer, np.uint64(c.at), np.uint64(c.pitch))]
        kernel.set_args(words, np.uint32(n), *places)
        lanes = (-(-n // _LANES) * _LANES,)
        return toolchain.pyopencl().enqueue_nd_range_kernel(queue, kernel, lanes, None, wait_for=wait_for)

    def _built(self, whole: Sequence[bool]) -> Any:
        """The kernel for columns of which those in `whole` begin at multiples of their size."""
        word, given, body = _C[self.size], "", ""
        for i, (column, (_, shift), aligned) in enumerate(zip(self._by, self._pack, whole, strict=True)):
            given += f", __global const uchar *column{i}, ulong begin{i}, ulong pitch{i}"
            body += _joined(i, column, shift, word, whole=aligned)
        text = f"""__kernel void pack(__global {word} *words, uint n{given})
{{
    const ulong i = get_global_id(0);
    {word} word = 0;
    if (i >= n) return;
{body}    words[i] = word;
}}
"""
        option = builds.standard(self._context, lanes=False)
        return builds.build(self._context, text, "the packing of columns", ["pack"], option)["pack"]
