"""Key columns packed into one word each row, in the order of the columns: one sort then replaces several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hsgen.core.keys import KEYS, TYPES
from hsgen.runners.rows import Column

WORDS = {4: "u32", 8: "u64"}
"""The key types of packed words by their size in bytes."""
NAME = "hs_pack"
"""The name of the kernel."""
_WORD = 64  # bits of the greatest

By = Sequence[tuple[str, str]]
"""Columns: key types, and orders."""
Pack = list[tuple[int, int]]
"""The columns of which words have bits, by number, each with the bits that it is shifted to the left by."""


@dataclass(frozen=True, slots=True)
class Language:
    """What the text of the kernel needs from a kernel language: the definitions of HS_KERNEL before its name, of
    HS_GLOBAL before pointers to arrays, of HS_ROW, the number of the invocation, and of the types hs_u8 to hs_u64."""

    head: str


def _bytes(name: str) -> int:
    return KEYS[TYPES[name].key].bytes


def _type(size: int) -> str:
    return f"hs_u{8 * size}"


def _apart(sizes: Sequence[int]) -> list[Pack]:
    """Packs of whole columns."""
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


def _loaded(size: int, *, aligned: bool) -> str:
    """The key of a row: at once, or byte by byte where it may begin anywhere."""
    if aligned:
        return f"*(HS_GLOBAL const {_type(size)} *)at"
    return " | ".join(f"({_type(max(size, 4))})at[{b}] << {8 * b}" for b in range(size))


def _joined(number: int, column: tuple[str, str], shift: int, word: str, *, aligned: bool) -> str:
    """The statements that join the ordered bits of a column, as docs/reference/semantics.md has them, to the word."""
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
    """The packing of columns `by` into words that `pack` describes.

    `bits`: the bits of a word that columns take, from the lowest on; the others are 0.  `size`: its bytes.
    """

    def __init__(self, by: By, pack: Pack) -> None:
        self._pack = pack
        self._by = [by[i] for i, _ in pack]
        ends = (shift + 8 * _bytes(name) for (name, _), (_, shift) in zip(self._by, pack, strict=True))
        self.bits = min(_WORD, max(ends))
        self.size = min(size for size in WORDS if 8 * size >= self.bits)

    def select(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns of these that words have bits of."""
        return [columns[i] for i, _ in self._pack]

    def aligned(self, columns: Sequence[Column]) -> tuple[bool, ...]:
        """Return for each column of words whether all its keys begin at multiples of their size."""
        sizes = [_bytes(name) for name, _ in self._by]
        return tuple(c.at % size == 0 and c.pitch % size == 0 for c, size in zip(columns, sizes, strict=True))

    def text(self, aligned: Sequence[bool], language: Language) -> str:
        """Return the kernel: it takes the words, the number of rows, and each column's memory, first byte and pitch."""
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
