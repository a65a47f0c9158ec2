"""SPIR-V as text of C: one to two characters a word, where literals of C take six.

A kind is the first word of an instruction, which has its length and opcode.  An instruction is the number of its kind,
in the order in which the kinds of a module occur, and for each operand the difference from that of the last instruction
of the kind: code for one key of a lane resembles the code for the next.  The first instruction of a kind has its length
and opcode after the number; its operands, and the words of the header, are differences from 0.  The runtime of Vulkan
reads all this (templates/apis/vulkan/hs_vulkan_create.c).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache

LINE = 116
"""The characters of a line."""
LITERAL = 32
"""The lines of a literal; C compilers need not accept literals of more than 4095 characters."""
KINDS = 128
"""The kinds that a reader remembers; further ones have this number, and are written like the first of a kind."""
_CHARACTERS = "".join(chr(c) for c in range(ord("#"), 127) if chr(c) not in "?\\")
"""The digits.  A question mark could begin a trigraph."""
_VALUES = {c: v for v, c in enumerate(_CHARACTERS)}
_LAST = 72
"""The digits that end a number: most differences are small.  Others are followed by more."""
_MORE = len(_CHARACTERS) - _LAST
TEXT = "[" + re.escape(_CHARACTERS) + "]"
"""A pattern of one character."""
_HEADER = 5
_MASK = 0xFFFFFFFF


def encoded(module: bytes) -> list[str]:
    """Return the text of a module, in lines.

    Raises:
        ValueError: the words are no instructions after a header.
    """
    text = "".join(map(_digits, _numbers(struct.unpack(f"<{len(module) // 4}I", module))))
    return [text[i : i + LINE] for i in range(0, len(text), LINE)]


def decoded(text: str) -> bytes | None:
    """Return the module whose text this is; None if it is not the text of any."""
    try:
        words = list(_words(_read(text)))
        module = struct.pack(f"<{len(words)}I", *words)
        return module if "".join(encoded(module)) == text else None
    except ValueError:
        return None


def instructions(words: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The opcodes of the instructions of a module, each with the index of its first word.

    Raises:
        ValueError: an instruction has no words or exceeds the module.
    """
    at = _HEADER
    while at < len(words):
        length, code = words[at] >> 16, words[at] & 0xFFFF
        if not 0 < length <= len(words) - at:
            raise ValueError
        yield code, at
        at += length


def _numbers(words: Sequence[int]) -> Iterator[int]:
    """The numbers of a module."""
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
    """The words of a module with these numbers.

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
    """A difference modulo 2^32 as a number: its sign is the lowest bit."""
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
    """The numbers of a text.

    Raises:
        ValueError: one exceeds 32 bits, or has no last digit.
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
