"""WGSL from C: types and conversions, conditional expressions, loops, memory, uniform control flow, and errors."""

from __future__ import annotations

import re

import pytest

from hsgen.core.errors import Usage, Wrong
from hsgen.core.keys import Signature
from hsgen.emit import wgsl
from hsgen.emit.kernels import render
from hsgen.targets import target

HEAD = "extern uint keys[];\nextern uint out[];\nstatic uint tile[64];\n"
SHARE = "workgroupUniformLoad"


def module(body: str, head: str = HEAD) -> str:
    """The WGSL of a kernel `k` with statements."""
    prelude, parts = wgsl.translated("test", head, {"k": f"void k(void)\n{{\n{body}\n}}\n"}, {"k": 64})
    return prelude + parts["k"]


def lines(body: str, head: str = HEAD) -> list[str]:
    """The statements of the kernel, without margins."""
    text = module(body, head)
    return [x.strip() for x in text[text.index("fn k(") :].splitlines()[1:-1]]


@pytest.mark.parametrize(
    ("c", "wanted"),
    [
        ("int a = 1 << 27;", "let a: i32 = 134217728;"),
        ("int a = 2147483647 + 1;", "let a: i32 = -2147483648;"),
        ("uint a = -1;", "let a: u32 = 0xffffffffu;"),
        ("uint a = ~0u >> 28;", "let a: u32 = 15u;"),
        ("int a = -7 / 2 * 10 + -7 % 2;", "let a: i32 = -31;"),
        ("int a = keys[0];", "let a = i32(keys[0]);"),
        ("uint a = keys[0] + hs_call.n;", "let a = keys[0] + u32(hs_call.n);"),
        ("int a = hs_call.n >> hs_call.argument;", "let a = hs_call.n >> u32(hs_call.argument);"),
        ("int a = hs_call.n * 1 + 0;", "let a = hs_call.n;"),
        ("int a = (hs_call.n + 3) / 4 * 4;", "let a = (hs_call.n + 3) / 4 * 4;"),
        ("int a = hs_call.n - (hs_call.argument - 2);", "let a = hs_call.n - (hs_call.argument - 2);"),
        ("int a = hs_call.n & 7 | 8;", "let a = (hs_call.n & 7) | 8;"),
        ("bool a = hs_call.n;", "let a = hs_call.n != 0;"),
        ("int a = (hs_call.n < 3) + 1;", "let a = i32(hs_call.n < 3) + 1;"),
        ("bool a = !(hs_call.n == 3 || false);", "let a: bool = !(hs_call.n == 3);"),
        ("uint a = hs_call.n < 3 ? 1u : 0u;", "let a: u32 = u32(hs_call.n < 3);"),
        ("uint a = -keys[0];", "let a = 0u - keys[0];"),
        ("bool a = vec2u(1u, 2u) == vec2u(keys[0], 0u);", "let a = all(vec2u(1u, 2u) == vec2u(keys[0], 0u));"),
    ],
)
def test_types_and_conversions(c: str, wanted: str) -> None:
    name = c.split()[1]
    assert lines(f"{c} out[0] = (uint){name};" if "vec" not in c else f"{c} if ({name}) out[0] = 0u;")[0] == wanted


def test_variables_that_are_never_assigned_are_let_and_unused_ones_are_gone() -> None:
    found = lines("int a = hs_call.n, b = 2, c = 3; b += a; out[b] = 1u;")
    assert found == ["let a = hs_call.n;", "var b: i32 = 2;", "b += a;", "out[b] = 1u;"]


def test_reserved_words_are_renamed() -> None:
    assert lines("int from = hs_call.n; out[from] = 0u;") == ["let from_ = hs_call.n;", "out[from_] = 0u;"]


def test_a_pure_conditional_expression_is_a_selection() -> None:
    assert (
        lines("int a = hs_call.n > 4 ? 4 : hs_call.n; out[a] = 0u;")[0]
        == "let a: i32 = select(hs_call.n, 4, hs_call.n > 4);"
    )


def test_a_conditional_expression_that_reads_a_buffer_is_a_branch() -> None:
    found = lines("uint a = hs_call.n > 4 ? keys[4] : 0u; out[0] = a;")
    assert found[:6] == ["var a: u32;", "if hs_call.n > 4 {", "a = keys[4];", "} else {", "a = 0u;", "}"]
    found = lines("out[0] = 1u + (hs_call.n > 4 ? keys[4] : hs_call.n > 2 ? keys[2] : 0u);")
    assert found[-1] == "out[0] = 1u + hs_2;" and "hs_2 = keys[4];" in found and "hs_1 = keys[2];" in found


def test_the_right_operand_of_and_is_evaluated_only_if_needed() -> None:
    found = lines("bool a = hs_call.n > 4 && (hs_call.n > 5 ? keys[5] : keys[6]) != 0u; if (a) out[0] = 1u;")
    assert found[0] == "var hs_2 = hs_call.n > 4;" and found[1] == "if hs_2 {"


def test_comparisons_in_arguments_are_no_lists_of_types() -> None:
    found = lines("bool a = hs_call.n < 4 ? hs_call.argument < 1 : hs_call.argument > 2; if (a) out[0] = 0u;")
    assert found[0] == "let a: bool = select(hs_call.argument > 2, (hs_call.argument < 1), hs_call.n < 4);"


@pytest.mark.parametrize(
    ("c", "wanted"),
    [
        ("for (int i = 0; i < 4; i++) out[i] = 0u;", "for (var i: i32 = 0; i < 4; i++) {"),
        ("int i = 0; while (i < 4) i += 2;", "while i < 4 {"),
        ("int i = 0; for (; i < 4; i--) ;", "for (; i < 4; i--) {"),
        ("int i = 0; do { i++; } while (i < 4);", "break if !(i < 4);"),
        ("for (int i = 0, j = 9; i < j; i++, j--) out[i] = 0u;", "if !(i < j) { break; }"),
        ("for (int d = hs_call.n, once = 1; once != 0; once = 0) out[d] = 0u;", "let d = hs_call.n;"),
    ],
)
def test_loops(c: str, wanted: str) -> None:
    assert wanted in lines(c)


def test_an_array_with_atomics_is_accessed_by_atomics_only() -> None:
    text = module("atomicAdd(tile[1], 2u); tile[2] = 3u; tile[4] += tile[5]; out[0] = tile[3];")
    assert "var<workgroup> tile: array<atomic<u32>, 64>;" in text
    for line in ("atomicAdd(&tile[1], 2u);", "atomicStore(&tile[2], 3u);", "out[0] = atomicLoad(&tile[3]);"):
        assert line in text
    assert "atomicStore(&tile[4], atomicLoad(&tile[4]) + atomicLoad(&tile[5]));" in text


def test_an_exchange_is_repeated_while_it_fails_without_reason() -> None:
    text = module("uint a = atomicCompareExchange(tile[hs_call.n], 1u, 2); out[0] = a + tile[3]; keys[a] = 0u;")
    assert "var<workgroup> tile: array<atomic<u32>, 64>;" in text and "read_write> keys: array<u32>;" in text
    assert "let a = hs_exchange_tile(hs_call.n, 1u, 2u);" in text and "out[0] = a + atomicLoad(&tile[3]);" in text
    made = text[text.index("fn hs_exchange_tile(i: i32, old: u32, y: u32) -> u32 {") : text.index("fn k(")]
    assert "let made = atomicCompareExchangeWeak(&tile[i], old, y);" in made
    assert "if made.exchanged || was != old { break; }" in made
    assert "hs_exchange_out(i32(keys[0]), 0u, 1u);" in module("atomicCompareExchange(out[keys[0]], 0u, 1u);")


def test_narrow_elements_are_packed_in_words() -> None:
    text = module("out[hs_call.n] = (u8)keys[hs_call.n];", "extern u16 keys[];\nextern u8 out[];\n")
    assert "@binding(0) var<storage, read_write> keys: array<u32>;" in text
    assert "@binding(1) var<storage, read_write> out: array<atomic<u32>>;" in text
    assert "return extractBits(keys[u32(i) >> 1u], (u32(i) & 1u) * 16u, 16u);" in text
    assert "hs_put_out(hs_call.n, hs_get_keys(hs_call.n) & 255u);" in text


def test_functions_that_are_called_are_there_once_and_their_parameters_can_change() -> None:
    head = HEAD + "uint twice(uint x) { x += x; return x; }\nuint unused(uint x) { return x; }\n"
    kernels = {n: f"void {n}(void) {{ out[0] = twice(keys[0]); }}\n" for n in ("first", "second")}
    prelude, parts = wgsl.translated("test", head, kernels, {"first": 64, "second": 32})
    assert prelude.count("fn twice(x_: u32) -> u32 {") == 1 and "unused" not in prelude + "".join(parts.values())
    assert "var x = x_;" in prelude and "@workgroup_size(32)" in parts["second"]


def test_buffers_of_one_name_and_different_bindings_differ_in_name() -> None:
    kernels = {
        "first": "extern uint a[];\nextern uint b[];\nvoid first(void) { a[0] = b[0]; }\n",
        "second": "extern uint b[];\nvoid second(void) { b[0] = 1u; }\n",
    }
    _, parts = wgsl.translated("test", "", kernels, {"first": 64, "second": 64})
    assert "@group(0) @binding(1) var<storage, read_write> b: array<u32>;" in parts["first"]
    assert "@group(0) @binding(0) var<storage, read_write> b_2: array<u32>;" in parts["second"]
    assert "b_2[0] = 1u;" in parts["second"]


def test_comments_between_statements_stay() -> None:
    found = lines(
        "    // why\n    int a = hs_call.n; // a count\n    if (a > 1) { // some\n        out[a] = 0u;\n    }"
    )
    assert found == ["// why", "let a = hs_call.n; // a count", "if a > 1 {", "// some", "out[a] = 0u;", "}"]


LANE = "int lane = (int)local_invocation_index;\n"


@pytest.mark.parametrize(
    ("c", "times"),
    [
        ("if (hs_call.n > 4) workgroupBarrier();", 0),
        ("if (lane > 4) out[lane] = 0u; workgroupBarrier();", 0),
        ("if (lane > 4) return; out[0] = 1u;", 0),
        ("if (keys[0] == 0u) return; workgroupBarrier();", 1),
        ("if (tile[0] == 0u) workgroupBarrier();", 1),
        ("bool a = keys[0] == 0u; if (a) workgroupBarrier(); if (!a) workgroupBarrier();", 1),
        ("int a = (int)keys[0]; int b = a + 1; if (b > 2) return; if (a > 3) return; workgroupBarrier();", 1),
        ("for (int i = 0; i < hs_call.n; i++) workgroupBarrier();", 0),
        ("for (int i = 0; i < 9; i++) { if (keys[i] == 0u) break; workgroupBarrier(); }", 1),
        ("for (int i = 0; i < 9; i++) { if (keys[i] == 0u) break; } workgroupBarrier();", 0),
        ("int i = 0; while (keys[i] != 0u) { workgroupBarrier(); i++; }", 1),
        ("uint a = 0u; for (int i = lane; i < 9; i += 64) a |= keys[i]; if (a == 0u) return; workgroupBarrier();", 1),
        ("int a = 0; if (lane > 2) a = 1; workgroupBarrier(); if (a > 0) out[0] = 1u;", 0),
    ],
)
def test_conditions_of_barriers_are_shared_where_they_are_not_provably_uniform(c: str, times: int) -> None:
    assert module(LANE + c).count(SHARE) == times


def test_a_value_that_lanes_may_see_differently_is_never_shared_itself() -> None:
    """Only the condition is uniform, not the sum that it compares."""
    found = lines(LANE + "uint a = keys[lane]; if (a == 0u) return; workgroupBarrier();")
    assert "let a = keys[lane];" in found and "hs_shared_bool = a == 0u;" in found


@pytest.mark.parametrize(
    ("c", "message"),
    [
        ("float x = 1;", "a type that is not translated: float x = 1;"),
        ("int *p;", "a type that is not translated"),
        ("switch (hs_call.n) { case 1: break; }", "the statement Switch is not translated"),
        ("goto end; end: ;", "the statement Goto is not translated"),
        ("int a = hs_call.n++;", r"\+\+ is translated only as a statement"),
        ("out[0] = unknown;", r"the name unknown is not known: out\[0\] = unknown;"),
        ("unknown(1);", "the function unknown is not known"),
        ("int a = hs_call.n; int a = 2;", "a is declared twice"),
        ("vec2u(1u);", "vec2u takes 2 arguments, not 1"),
        ("out[0] = vec2u(1u, 2u);", "no conversion from vec2<u32> to u32"),
        ("out[0] = vec2u(1u, 2u).z;", "vec2<u32> has no member z"),
        ("atomicAdd(hs_call.n, 1u);", "atomicAdd takes a word of an array"),
        ("local_invocation_index = 2u;", "an assignment to something other than a variable"),
        ("out[0] = ;", "Invalid expression"),
        ("out[0] = 1.5;", "only numbers are translated|1.5"),
    ],
)
def test_what_is_outside_of_the_subset_is_an_error(c: str, message: str) -> None:
    with pytest.raises(Wrong, match=rf"^templates: test: kernel k: .*{message}") as e:
        module(c)
    assert "\n" not in str(e.value)


def test_barriers_of_a_subgroup_are_those_of_the_work_group_where_all_lanes_reach_them() -> None:
    assert lines("subgroupBarrier(); if (hs_call.n > 1) subgroupBarrier();").count("workgroupBarrier();") == 2
    with pytest.raises(Usage, match="test: kernel k needs barriers of subgroups, which WGSL lacks; choose a target"):
        module(LANE + "if (lane < 32) subgroupBarrier();")


def test_barriers_are_in_kernels_only() -> None:
    with pytest.raises(Wrong, match="sync has a barrier; only kernels may"):
        module("sync();", HEAD + "void sync(void) { workgroupBarrier(); }\n")


def test_macros_are_expanded_and_numbers_keep_their_names() -> None:
    head = HEAD + "#define CELLS 48 // of a tile\n#define at(x, y) tile[(x) + CELLS * (y)]\n#define place at\n"
    text = module("int a = hs_call.n; place(a, a & 1) = CELLS; out[CELLS] = 2u + CELLS * 0x10u;", head)
    assert "const CELLS: i32 = 48;\n" in text and text.count("const ") == 1
    assert "tile[a + CELLS * (a & 1)] = u32(CELLS);" in text and "out[CELLS] = 2u + u32(CELLS) * 16u;" in text
    with pytest.raises(Wrong, match="at takes 2 arguments, not 1"):
        module("at(1) = 0u;", head)


def test_all_comments_of_a_kernel_stay() -> None:
    body = """
    int a = hs_call.n; // first
    // second
    if (a > 1) { // third
        out[0] = 0u; // fourth
        // fifth
    } else { // sixth
        out[1] = 0u;
    } // seventh
    uint b = a > 2 ? 1u // eighth
        : 2u; // ninth
    out[2] = b;
    // tenth"""
    text = module(body)
    for word in ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]:
        assert text.count(f"// {word}\n") == 1, word


@pytest.mark.parametrize("name", ["webgpu", "webgpu-cpu"])
def test_the_text_of_a_sort_is_deterministic_and_within_the_limits(name: str) -> None:
    sort = target.find(name).sort("auto", "u32", Signature(value="v4", key_transform=True, device_count=True))
    text = render(sort, "webgpu").text
    assert text == render(sort, "webgpu").text
    assert set(re.findall(r"fn (\w+)\(@builtin", text)) == {k.name for k in sort.kernels}
    assert max(map(int, re.findall(r"@workgroup_size\((\d+)\)", text))) <= 256
    assert max(map(int, re.findall(r"@group\(0\) @binding\((\d+)\)", text))) < 8
    assert not re.search(r"u64|u8|u16|f16|enable|override|ptr<", text)
