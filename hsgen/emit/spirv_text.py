"""Encoding of SPIR-V modules as compact C strings: a SPIR-V word takes one to two characters, a C number about six.

The *kind* of an instruction is its first word, which contains its length and opcode.  The kinds of a module are
numbered in the order in which they first occur.  The text of an instruction is the number of its kind, then a number
for each operand: the difference from the same operand of the preceding instruction of that kind.  Most differences are
small, because a lane has similar code for its successive keys.

In the first instruction of a kind, the length and the opcode follow the number of the kind.  Its operands, and the
words of the module's header, are written as differences from 0.  The Vulkan runtime decodes the text
(templates/apis/vulkan/hs_vulkan_create.c).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache

LINE = 116
"""The number of encoded characters in a line of the C file."""
LITERAL = 32
"""The number of such lines in a C string literal; C compilers need not accept literals of more than 4095 characters."""
KINDS = 128
"""The number of kinds that get a number: the first 128 that occur.

An instruction of any other kind is written as the number 128, its length, its opcode, and its operands as differences
from 0.
"""
_CHARACTERS = "".join(chr(c) for c in range(ord("#"), 127) if chr(c) not in "?\\")
"""The characters that stand for digits.  In a C string, a backslash may start an escape, a question mark a trigraph."""
_VALUES = {c: v for v, c in enumerate(_CHARACTERS)}
_LAST = 72
"""A digit with a value below 72 is the last digit of its number; after a digit of 72 or more, the number continues."""
_MORE = len(_CHARACTERS) - _LAST
TEXT = "[" + re.escape(_CHARACTERS) + "]"
"""A regular expression for one character of encoded text, which is a digit of a number.

By this expression, `hsgen.emit.spirv_file` recognizes the strings in a C file that encode modules.
"""
_HEADER = 5
_MASK = 0xFFFFFFFF


def encoded(module: bytes) -> list[str]:
    """Return the text that encodes a SPIR-V module, as lines of `LINE` characters.

    Raises:
        ValueError: the words are not a SPIR-V header followed by whole instructions.
    """
    text = "".join(map(_digits, _numbers(struct.unpack(f"<{len(module) // 4}I", module))))
    return [text[i : i + LINE] for i in range(0, len(text), LINE)]


def decoded(text: str) -> bytes | None:
    """Return the SPIR-V module for which `encoded` returns exactly this text; None if there is none."""
    try:
        words = list(_words(_read(text)))
        module = struct.pack(f"<{len(words)}I", *words)
        return module if "".join(encoded(module)) == text else None
    except ValueError:
        return None


def instructions(words: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (opcode, index of the first word) for each instruction of a module.

    Raises:
        ValueError: the length of an instruction is 0 or exceeds the module.
    """
    at = _HEADER
    while at < len(words):
        length, code = words[at] >> 16, words[at] & 0xFFFF
        if not 0 < length <= len(words) - at:
            raise ValueError
        yield code, at
        at += length


def _numbers(words: Sequence[int]) -> Iterator[int]:
    """Yield the numbers that encode a module."""
    if len(words) < _HEADER:
        raise ValueError
    yield from map(_folded, words[:_HEADER])
    kinds: dict[int, int] = {}
    last: dict[int, Sequence[int]] = {}
    for code, at in instructions(words):
        kind, operands = words[at], words[at + 1 : at + (words[at] >> 16)]
        if kind in kinds:
            yield kinds[kind]
            yield from (_folded(a - b) for a, b in zip(operands, last[kind], strict=True))
        else:
            yield from (len(kinds), kind >> 16, code, *map(_folded, operands))
            if len(kinds) == KINDS:
                continue
            kinds[kind] = len(kinds)
        last[kind] = operands


def _words(numbers: Iterator[int]) -> Iterator[int]:
    """Yield the words of the module that these numbers encode.

    Raises:
        ValueError: a number is missing or too large.
    """
    yield from (_unfolded(_next(numbers)) for _ in range(_HEADER))
    last: list[list[int]] = []
    for kind in numbers:
        if kind < len(last):
            words = last[kind]
        else:
            length, code = _next(numbers), _next(numbers)
            if not 0 < length <= 0xFFFF >= code:
                raise ValueError
            words = [length << 16 | code, *[0] * (length - 1)]
            last += [words] if len(last) < KINDS else []
        words[1:] = [(w + _unfolded(_next(numbers))) & _MASK for w in words[1:]]
        yield from words


def _next(numbers: Iterator[int]) -> int:
    if (number := next(numbers, None)) is None:
        raise ValueError
    return number


def _folded(difference: int) -> int:
    """Return the zigzag encoding of a difference modulo 2^32: an unsigned number whose lowest bit is the sign."""
    bits = difference & _MASK
    return bits << 1 & _MASK ^ (_MASK if bits >> 31 else 0)


def _unfolded(number: int) -> int:
    return number >> 1 ^ -(number & 1) & _MASK


@lru_cache(1 << 12)
def _digits(number: int) -> str:
    text = ""
    while number >= _LAST:
        number, digit = divmod(number - _LAST, _MORE)
        text += _CHARACTERS[_LAST + digit]
    return text + _CHARACTERS[number]


def _read(text: str) -> Iterator[int]:
    """Yield the numbers that a text encodes.

    Raises:
        ValueError: a number exceeds 32 bits, or the text ends within a number.
    """
    value, scale = 0, 1
    for c in text:
        value += _VALUES[c] * scale
        scale = 1 if _VALUES[c] < _LAST else scale * _MORE
        if value > _MASK:
            raise ValueError
        if scale == 1:
            yield value
            value = 0
    if scale > 1:
        raise ValueError
