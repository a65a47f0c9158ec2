"""SPIR-V as text of C: `decoded` inverts `encoded`, nothing else is accepted, and the runtime reads the same words."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools import tool

from hsgen.emit.spirv_text import KINDS, LINE, TEXT, decoded, encoded
from hsgen.system import resources

WORD = st.integers(0, 2**32 - 1)
CODE = st.integers(0, 3) | st.integers(0, 0xFFFF)  # few kinds, which occur again
INSTRUCTIONS = st.lists(st.tuples(CODE, st.lists(WORD, max_size=9)), max_size=12)
MANY = [(k % (KINDS + 9), [2**32 - 1 - k**j for j in range(k % 5)]) for k in range(3 * KINDS)]


def module(header: list[int], instructions: list[tuple[int, list[int]]]) -> bytes:
    words = [*header, *(w for code, rest in instructions for w in ((len(rest) + 1) << 16 | code, *rest))]
    return struct.pack(f"<{len(words)}I", *words)


@given(header=st.lists(WORD, min_size=5, max_size=5), instructions=INSTRUCTIONS)
def test_a_module_is_read_as_it_was_written(header: list[int], instructions: list[tuple[int, list[int]]]) -> None:
    data = module(header, instructions)
    lines = encoded(data)
    assert decoded("".join(lines)) == data
    assert all(0 < len(line) <= LINE and re.fullmatch(f"{TEXT}+", line) for line in lines)
    assert not set('"\\?') & set("".join(lines))


def test_kinds_beyond_those_that_readers_remember_are_read() -> None:
    data = module([0] * 5, MANY)
    assert len({(code, len(rest)) for code, rest in MANY}) > KINDS
    assert decoded("".join(encoded(data))) == data


def test_code_that_resembles_the_code_before_takes_a_character_a_word() -> None:
    rest = [[7, 1000 + 40 * i, 990 + 40 * i, 70000] for i in range(100)]
    text = "".join(encoded(module([0x07230203, 0x10300, 5000, 0, 0], [(128, words) for words in rest])))
    assert 5 * 100 <= len(text) <= 7 * 100 + 40  # two differences take two


@given(text=st.text("#$%CbBI}~", max_size=40))
def test_only_the_text_of_a_module_is_read(text: str) -> None:
    data = decoded(text)
    assert data is None or "".join(encoded(data)) == text


@pytest.mark.parametrize(
    "data",
    [b"", struct.pack("<4I", *range(4)), module([0] * 5, []) + struct.pack("<I", 7), module([0] * 5, []) + b"\1\0\3\0"],
    ids=["empty", "a part of a header", "no length", "operands are missing"],
)
def test_what_is_no_module_has_no_text(data: bytes) -> None:
    with pytest.raises(ValueError):
        encoded(data)


def test_the_runtime_reads_the_same_words(tmp_path: Path) -> None:
    """Its two functions alone, with literals of one line, so that numbers go on in the next literal."""
    cc = tool("cc")
    powers = [(k, [2**k - 1 + 31 * j for j in range(k)]) for k in range(32)]
    data = module([0x07230203, 0x10300, 1, 2**31, 2**32 - 1], [*powers, *MANY, *powers])
    text = (resources.templates() / "apis/vulkan/hs_vulkan_create.c").read_text(encoding="utf-8")
    functions = re.search(r"static uint32_t hs_vulkan_read.*?\n}\n.*?\n}\n", text, re.DOTALL)
    assert functions
    literals = ",\n".join(f'"{line[i : i + 7]}"' for line in encoded(data) for i in range(0, len(line), 7))
    program = f"""#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct hs_spirv {{ const uint32_t *words; size_t bytes; const char *const *text; }} hs_spirv;
{functions[0]}
static const char *const text[] = {{ {literals}, 0 }};
int main(void)
{{
    hs_spirv spirv = {{0, {len(data)}, text}};
    uint32_t *words = hs_vulkan_words(&spirv);
    fwrite(words, 1, spirv.bytes, stdout);
    free(words);
    return 0;
}}
"""
    (tmp_path / "words.c").write_text(program, encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsanitize=address,undefined"]
    subprocess.run([cc, *flags, "words.c", "-o", "words"], cwd=tmp_path, check=True)
    assert subprocess.run(["./words"], cwd=tmp_path, check=True, capture_output=True).stdout == data
