"""Packing of several key columns into one word per row, so that one sort of words replaces a sort by each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hsgen.core.keys import KEYS, TYPES
from hsgen.runners.rows import Column

WORDS = {4: "u32", 8: "u64"}
"""The key type of packed words, by the size of a word in bytes."""
NAME = "hs_pack"
"""The name of the kernel that packs columns."""
_WORD = 64  # the number of bits in the widest word

By = Sequence[tuple[str, str]]
"""The key columns, each a pair of key type and order."""
Pack = list[tuple[int, int]]
"""The columns whose bits are in one word.  A pair has the index of a column, and the left shift that puts its bits in
place.

A negative shift is a shift to the right.
"""


@dataclass(frozen=True, slots=True)
class Language:
    """A kernel language, such as OpenCL C.  `head` has the definitions that the text of the packing kernel needs in
    this language.

    The text writes HS_KERNEL before the kernel's name, and HS_GLOBAL before pointers to arrays.  HS_ROW is the index of
    the row that a lane packs.  The integer types are hs_u8 to hs_u64.
    """

    head: str


def _bytes(name: str) -> int:
    return KEYS[TYPES[name].key].bytes


def _type(size: int) -> str:
    return f"hs_u{8 * size}"


def _apart(sizes: Sequence[int]) -> list[Pack]:
    """Return packs of at most 64 bits that keep each column in one pack."""
    out: list[Pack] = [[]]
    used = 0
    for i, size in reversed([*enumerate(sizes)]):
        if used + size > _WORD:
            out.insert(0, [])
            used = 0
        out[0].insert(0, (i, used))
        used += size
    return out


def _together(sizes: Sequence[int]) -> list[Pack]:
    """Return packs of 64 bits each, in which a column may be divided between two packs; the first pack may have fewer
    bits.
    """
    low = [sum(sizes[i + 1 :]) for i in range(len(sizes))]
    starts = range(0, sum(sizes), _WORD)
    parts = [
        [(i, low[i] - at) for i, size in enumerate(sizes) if at - size < low[i] < at + _WORD] for at in reversed(starts)
    ]
    return parts


def packs(by: By) -> list[Pack]:
    """Return the packs into which columns are divided; each pack requires one sort.

    A column is divided between two packs only if there are then fewer packs.
    """
    sizes = [8 * _bytes(name) for name, _ in by]
    apart, together = _apart(sizes), _together(sizes)
    return together if len(together) < len(apart) else apart


def _loaded(size: int, *, aligned: bool) -> str:
    """Return the expression that loads a key of `size` bytes: at once if it is aligned, otherwise byte by byte."""
    if aligned:
        return f"*(HS_GLOBAL const {_type(size)} *)at"
    return " | ".join(f"({_type(max(size, 4))})at[{b}] << {8 * b}" for b in range(size))


def _joined(number: int, column: tuple[str, str], shift: int, word: str, *, aligned: bool) -> str:
    """Return the C statements that add the bits of a column to the word of a row.

    The column's bits are first transformed by its type and order (docs/reference/semantics.md).
    number: the number of the column among the kernel's parameters.  word: the type of the word.
    """
    name, order = column
    size, kind = _bytes(name), TYPES[name].kind
    of, sign = _type(size), f"(({_type(size)})1 << {8 * size - 1})"
    turned = ("x", f"x ^ {sign}", f"(x & {sign}) != 0 ? ~x : x ^ {sign}")[kind]
    ordered = f"({of})({turned})" if order == "ascending" else f"({of})~({turned})"
    moved = f"({word}){ordered} << {shift}" if shift >= 0 else f"({word})({ordered} >> {-shift})"
    return f"""    {{
        HS_GLOBAL const hs_u8 *at = column{number} + begin{number} + i * pitch{number};
        const {of} x = ({of})({_loaded(size, aligned=aligned)});
        word |= {moved};
    }}
"""


class Packing:
    """The packing of some of the columns `by` into one word per row; `pack` states which columns, and their shifts.

    A word uses its lowest `bits` bits; the other bits are 0.  `size` is the size of a word in bytes.
    """

    def __init__(self, by: By, pack: Pack) -> None:
        self._pack = pack
        self._by = [by[i] for i, _ in pack]
        ends = (shift + 8 * _bytes(name) for (name, _), (_, shift) in zip(self._by, pack, strict=True))
        self.bits = min(_WORD, max(ends))
        self.size = min(size for size in WORDS if 8 * size >= self.bits)

    def select(self, columns: Sequence[Column]) -> list[Column]:
        """Return those of `columns` that have bits in the words."""
        return [columns[i] for i, _ in self._pack]

    def aligned(self, columns: Sequence[Column]) -> tuple[bool, ...]:
        """Return for each column whether all of its keys begin at multiples of their size."""
        sizes = [_bytes(name) for name, _ in self._by]
        return tuple(c.at % size == 0 and c.pitch % size == 0 for c, size in zip(columns, sizes, strict=True))

    def text(self, aligned: Sequence[bool], language: Language) -> str:
        """Return the text of the kernel that packs columns; `aligned` is a result of the method `aligned`.

        The kernel's parameters are the words, the number of rows, and for each column: its memory, the byte at which
        its first key begins, and the distance in bytes between its keys.
        """
        word, parameters, body = _type(self.size), "", ""
        for i, (column, (_, shift), at_multiples) in enumerate(zip(self._by, self._pack, aligned, strict=True)):
            parameters += f", HS_GLOBAL const hs_u8 *column{i}, hs_u64 begin{i}, hs_u64 pitch{i}"
            body += _joined(i, column, shift, word, aligned=at_multiples)
        return f"""{language.head}HS_KERNEL {NAME}(HS_GLOBAL {word} *words, hs_u32 n{parameters})
{{
    const hs_u64 i = HS_ROW;
    {word} word = 0;
    if (i >= n) return;
{body}    words[i] = word;
}}
"""
