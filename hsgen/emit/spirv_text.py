"""SPIR-V as text of C: two to three characters a word, where literals of C take six.

A number is its digits of 5 bits, low ones first, a character each, plus 32 where more follow.  A module is the five
words of its header, and for each instruction its length in words, its opcode and its operands.  The runtime of Vulkan
reads it (templates/apis/vulkan/hs_vulkan_create.c).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence

LINE = 116
"""The characters of a line."""
LITERAL = 32
"""The lines of a literal; C compilers need not accept literals of more than 4095 characters."""
_MOVED = {28: "}", 57: "~"}  # for '?', which could begin a trigraph, and for the backslash
_CHARACTERS = "".join(_MOVED.get(v, chr(v + 35)) for v in range(64))
_VALUES = {c: v for v, c in enumerate(_CHARACTERS)}
TEXT = "[" + re.escape(_CHARACTERS) + "]"
"""A pattern of one character."""
_HEADER = 5


def encoded(module: bytes) -> list[str]:
    """Return the text of a module, in lines.

    Raises:
        ValueError: the words are no instructions after a header.
    """
    text = "".join(map(_digits, _numbers(struct.unpack(f"<{len(module) // 4}I", module))))
    return [text[i : i + LINE] for i in range(0, len(text), LINE)]


def decoded(text: str) -> bytes | None:
    """Return the module whose text this is; None if it is not the text of any."""
    numbers, value, shift = [], 0, 0
    for c in text:
        value |= (_VALUES[c] & 31) << shift
        shift = shift + 5 if _VALUES[c] & 32 else 0
        if not shift:
            numbers.append(value)
            value = 0
    words, at = numbers[:_HEADER], _HEADER
    while at < len(numbers):
        length = numbers[at]
        words += [length << 16 | (numbers[at + 1] if at + 1 < len(numbers) else 0), *numbers[at + 2 : at + 1 + length]]
        at += 1 + max(length, 1)
    try:
        module = struct.pack(f"<{len(words)}I", *words)
        return module if "".join(encoded(module)) == text else None
    except (ValueError, struct.error):
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
    yield from words[:_HEADER]
    for code, at in instructions(words):
        length = words[at] >> 16
        yield from (length, code, *words[at + 1 : at + length])


def _digits(number: int) -> str:
    text = ""
    while number > 31:
        text += _CHARACTERS[number & 31 | 32]
        number >>= 5
    return text + _CHARACTERS[number]
