"""C text: prefixes, names, the matching of targets, and kernels as lines of C."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tools import need

from hsgen.core.errors import Usage
from hsgen.emit import c_files
from hsgen.emit.c_files import Named, check_prefix, prefixed, symbol
from hsgen.emit.kernels import render
from hsgen.targets import target
from hsgen.targets.matching import Match, rank
from hsgen.targets.target import Target


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("hs_sort *hs_x(HS_OK);", "ab_c_sort *ab_c_x(AB_C_OK);"),
        ('#include "hs/hs_vulkan.h"', '#include "ab_c/ab_c_vulkan.h"'),
        ("include/hs/hs.h", "include/ab_c/ab_c.h"),
        ("src/hs.c", "src/ab_c.c"),
        ("#ifndef HS_TARGETS_H", "#ifndef AB_C_TARGETS_H"),
        ("_hs_x __HS_X -hs_x", "_ab_c_x __AB_C_X -ab_c_x"),
        ("ohs_x xhs/y 2hs_z PHS_Q", "ohs_x xhs/y 2hs_z PHS_Q"),  # inside of words
        ("hs::x hs-config.cmake hs-x.pc", "ab_c::x ab_c-config.cmake ab_c-x.pc"),  # of CMake and pkg-config
        ("hs HS hsx HSx hsgen hs: HS- HS/ HS.", "hs HS hsx HSx hsgen hs: HS- HS/ HS."),  # not one of our names
    ],
)
def test_the_prefix_goes_in_place_of_hs(text: str, result: str) -> None:
    assert prefixed(text, "ab_c") == result
    assert prefixed(text, "hs") == text


@pytest.mark.parametrize("prefix", ["hs", "a", "acme_sort", "x9_2", "a1b"])
def test_good_prefixes(prefix: str) -> None:
    assert check_prefix(prefix) == prefix


@pytest.mark.parametrize("prefix", ["", "A", "aB", "1a", "_a", "a_", "a__b", "a-b", "a.b", "é", "a\n", "a b"])
def test_bad_prefixes(prefix: str) -> None:
    with pytest.raises(Usage, match="use lower-case letters, digits and single '_' between") as caught:
        check_prefix(prefix)
    assert len(caught.value.lines) == 1 and "\n" not in caught.value.lines[0]


def test_symbols_are_c_names() -> None:
    assert symbol("intel-gen8") == "hs_intel_gen8"
    assert symbol("a.b-c_9", "bitonic_u32") == "hs_a_b_c_9_bitonic_u32"
    assert symbol("a", "radix-bits2_u32") == "hs_a_radix_bits2_u32"
    for name in target.names():
        assert re.fullmatch(r"hs_[A-Za-z0-9_]+", symbol(name))
    assert len({symbol(n) for n in target.names()}) == len(target.names())


def test_more_said_is_more_particular() -> None:
    ranks = [
        rank(Match()),
        rank(Match(types=("gpu",))),
        rank(Match(types=("gpu",), vendors=(1,))),
        rank(Match(types=("gpu",), vendors=(1,), compute=(35, 90))),
        rank(Match(types=("gpu",), vendors=(1,), compute=(90, 129))),
        rank(Match(types=("gpu",), vendors=(1,), names=("x",), platforms=("y",))),
    ]
    assert ranks == sorted(set(ranks)) and ranks[0] == 0


FULL = Match(types=("cpu", "other"), vendors=(0x8086, 7), names=("it's", "B, C"), platforms=("P?",), compute=(35, 129))
PRINT = """
#include "hs/hs_targets.h"
#include <stdio.h>
int main(void)
{
    const hs_target *t = hs_targets[0];
    const hs_match *m = t->match;
    const hs_sort *s = t->sorts[0];
    uint32_t i;
    printf("%s|%s|%s|%s", t->name, s->target, s->algorithm, s->key);
    if (m) {
        printf("|%u|%u|%u|%u|", m->types, m->compute_least, m->compute_most, m->rank);
        for (i = 0; i < m->vendor_count; i++) printf("%u;", m->vendors[i]);
        for (i = 0; i < m->name_count; i++) printf("%s;", m->names[i]);
        for (i = 0; i < m->platform_count; i++) printf("%s;", m->platforms[i]);
    }
    printf("\\n");
    for (i = 0; i < s->opencl_lines; i++) fputs(s->opencl[i], stdout);
    return s->spirv || s->spirv_address;
}
"""


def printed(folder: Path, found: Target, text: str | None, prefix: str) -> str:
    """A target's first sort as a C program reads it, with its OpenCL text, or with another one."""
    need("cc")
    sort = found.sort("bitonic", "u32")
    source = render(sort, "opencl")
    if text is not None:
        source = replace(source, header=text, prelude="", parts=dict.fromkeys(source.parts, ""))
    named = Named(name=found.name, apis=("opencl",), sorts=("bitonic_u32",), spirv=())
    only = replace(found, choices={("bitonic", "u32"): sort.parts[0].params})
    files = {"target.c": c_files.target_c(only, [(sort, source, False)], prefix), **c_files.common([named], prefix)}
    files["print.c"] = prefixed(PRINT, prefix).encode()
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Iinclude", "print.c", "target.c"]
    command += [f"src/{prefix}_targets.c", "-o", "print"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return subprocess.run([folder / "print"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("prefix", ["hs", "acme_sort"])
def test_a_target_in_c_is_the_target(tmp_path: Path, prefix: str) -> None:
    """Its match and its OpenCL text, which has the same words for every prefix."""
    found = replace(target.find("intel-gen8"), match=FULL)
    head, _, text = printed(tmp_path, found, None, prefix).partition("\n")
    start = "intel-gen8|intel-gen8|bitonic|u32"
    assert head == f"{start}|5|35|129|{rank(FULL)}|32902;7;it's;B, C;P?;"
    assert text == render(found.sort("bitonic", "u32"), "opencl").text
    assert "\\\n" in text  # something was escaped


def test_a_target_for_any_device_has_no_match(tmp_path: Path) -> None:
    found = replace(target.find("intel-gen8"), match=Match())
    assert printed(tmp_path, found, "x\n", "hs") == "intel-gen8|intel-gen8|bitonic|u32\nx\n"


def test_any_line_survives_as_c(tmp_path: Path) -> None:
    text = 'a "b" \\\n\\n %s %% \\" // */ /* \\\\ \n\n  hs_x HS_Y "hs/z" @bitonic_u32\n\'"\'\n'
    out = printed(tmp_path, target.find("intel-gen8"), text, "acme")
    assert out.partition("\n")[2] == text
