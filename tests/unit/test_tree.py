"""Kernel text as a tree: reading and printing, and the passes for languages without pointers."""

from __future__ import annotations

import covering
import pytest
from nightly import sampled

from hsgen.dialects.dialect import load
from hsgen.emit import kernels
from hsgen.emit.templates import environment
from hsgen.tree import addressing, selection
from hsgen.tree.nodes import Block, Directive, Function, If, Loop, Plain, Repeat, Tree, Unreadable
from hsgen.tree.printing import text
from hsgen.tree.reading import read

TEXT = """\
// a comment
#define hs_twice(x) ((x) + \\
    (x))
int at = 0, next; /* inner */

HS_UNROLL for (int i = 0; i < 4; i++) k[i] = a[i]; // trailing
do { at++; } while (at < 3);
if (at == 3) {
    hs_match_bit(same, d, 0)
} else if (at > 4) return;
else ;
hs_key twice(hs_key x) { return x + x; }
// the end
"""


def test_a_tree_has_all_statements_and_prints_its_text() -> None:
    tree = read(TEXT)
    assert [type(x) for x in tree.body] == [Directive, Plain, Loop, Repeat, If, Function]
    assert text(tree) == TEXT
    branch = tree.body[4]
    assert isinstance(branch, If) and isinstance(branch.yes, Block) and isinstance(branch.no, If)


def test_bodies_of_all_sorts_are_read_and_printed() -> None:
    env, seen = environment(), set()
    for sort, _ in sampled(covering.sorts(), 4):
        for kernel in sort.kernels:
            for name in ("cuda", "glsl"):
                body = kernels.body(env, sort, kernel, load(env, name))
                if body not in seen:
                    assert text(read(body)) == body
                    seen.add(body)
    assert len(seen) > 100


@pytest.mark.parametrize(
    ("wrong", "line", "says"),
    [
        ("int a = (1;\n", 2, "missing before the end"),
        ("{\n    a = 1;\n", 3, "a brace is not closed"),
        ("a = 1;\nb = 2\n", 3, "a semicolon is missing"),
        ("if a == 1;\n", 1, "a condition is missing"),
        ("do { a++; } until (b);\n", 1, "while is missing"),
    ],
)
def test_errors_have_a_line(wrong: str, line: int, says: str) -> None:
    with pytest.raises(Unreadable, match=says) as e:
        read(wrong)
    assert e.value.line == line


TILE = """\
hs_select_keys(from, at);
// the tile
if (valid == 64) {
    k[0] = hs_load(from, i); // full

} else {
    k[0] = i < valid ? hs_load(from, i) : HS_GREATEST;
}
"""


def chosen(body: str, index: bool = False) -> str:
    return text(selection.selected(read(body), index))


def test_the_cases_of_a_tile_are_written_out_for_each_buffer() -> None:
    first, *rest = chosen(TILE).split("} else if (from == 1) {\n")
    assert first == (
        "hs_select_keys(from, at);\n// the tile\nif (from == 0) {\n    if (valid == 64) {\n"
        "        k[0] = hs_twiddle_in(source[i]); // full\n\n    } else {\n"
        "        k[0] = i < valid ? hs_twiddle_in(source[i]) : HS_GREATEST;\n    }\n"
    )
    (last,) = rest
    assert "hs_twiddle_in(destination[i])" in last.partition("} else {\n    if (")[0] and "other[i]" in last
    stores = chosen("hs_select_keys(to, next);\nif (a) hs_store(to, i, k); else hs_store(to, i + 1, k);\n")
    assert "if (to == 1) {\n    if (a) destination[i] = hs_twiddle_out(k);" in stores and "source" not in stores


def test_other_accesses_call_functions() -> None:
    for body in (
        "hs_select_keys(from, at);\nfor (;;) k = hs_load(from, i);\n",
        "hs_select_keys(from, at);\nif (a) { hs_barrier(); k = hs_load(from, i); } else k = hs_load(from, j);\n",
    ):
        assert chosen(body) == body
        assert selection.called(read(body)) == {"hs_load"}


def test_buffers_with_constant_numbers_are_named() -> None:
    body = (
        "const int at = 0, next = 2;\nhs_select_values(from, at);\nhs_select_values(to, next);\n"
        "hs_store_value(to, i, hs_load_value(from, at, j));\n"
    )
    assert chosen(body) == "const int at = 0, next = 2;\nvalues_tmp[i] = values_in[j];\n"
    assert chosen(body, index=True).endswith("values_tmp[i] = hs_index(j);\n")
    assert "destination[i]" in chosen("hs_select_keys(to, 1);\nhs_store(to, i, k);\n")


@pytest.mark.parametrize(
    ("body", "out"),
    [
        ("x = *(c < 2 ? &a[i] : &b[j]);", "x = (c < 2 ? a[i] : b[j]);"),
        ("x = y * (c ? a[i] : b[j]);", "x = y * (c ? a[i] : b[j]);"),
        ("f(hs_raw_in(*(c ? &a[i] : &b[j])), 1);", "f((c ? hs_raw_in(a[i]) : hs_raw_in(b[j])), 1);"),
        ("f(*(c ? &a[*(d ? &a[0] : &b[0])] : &b[j]));", "f((c ? a[(d ? a[0] : b[0])] : b[j]));"),
    ],
)
def test_one_of_two_elements_needs_no_address(body: str, out: str) -> None:
    assert text(addressing.without_pointers(read(body))) == out


@pytest.mark.parametrize(
    ("body", "out"),
    [
        ("x = b[i + a[j]];", "x = b[b_first + i + a[j]];"),
        ("b[b[i] * 2] = c.b[i];", "b[b_first + b[b_first + i] * 2] = c.b[i];"),
        ("x = b[i >> 1];", "x = b[b_first + (i >> 1)];"),
        ("hs_store_line(b, i, a, 0);", "hs_store_line(b, b_first + i, a, 0);"),
        ("hs_atomic_add(b[3], 1u);", "hs_atomic_add(b[b_first + 3], 1u);"),
    ],
)
def test_offsets_are_added(body: str, out: str) -> None:
    assert text(addressing.offset(read(body), ["b"])) == out


@pytest.mark.parametrize(
    ("body", "out"),
    [
        ("x = b[i + a[j]];", "x = b_load(i + a[j]);"),
        ("b[b[i]] = y == z ? 1 : 2;", "b_store(b_load(i), y == z ? 1 : 2);"),
        ("b[0] = b[1] = 0u;", "b_store(0, b_store(1, 0u));"),
        ("hs_atomic_add(b[i], hs_atomic_load(b[j]));", "b_atomic_add(i, b_atomic_or(j, 0u));"),
        ("hs_local_atomic_or(a[f(i, j)], 1u);", "a_atomic_or(f(i, j), 1u);"),
        ("if (b[i] == 0u) ab[i] = s.b[i];", "if (b_load(i) == 0u) ab[i] = s.b[i];"),
        ("for (b[0] = 1u; ; b[1] = 2u) x = y[b[2]];", "for (b_store(0, 1u); ; b_store(1, 2u)) x = y[b_load(2)];"),
    ],
)
def test_accesses_become_calls(body: str, out: str) -> None:
    made = addressing.addressed(read(body), ["b"], ["a"])
    assert text(made) == out


def test_a_combined_assignment_is_an_error() -> None:
    with pytest.raises(Unreadable, match="combined"):
        addressing.addressed(read("b[i] += 1u;"), ["b"], [])


def test_called_functions_are_those_of_words_as_well() -> None:
    made = addressing.addressed(read("x = b[i];\nhs_store_line(c, i, a, 0);\n"), ["b", "c"], [])
    assert isinstance(made, Tree) and {"b_load", "c_store"} <= addressing.called(made)
