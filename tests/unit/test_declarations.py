"""No kernel declares a variable with the name of one of its buffers or local arrays.

In GLSL, names of buffers are macros, so that a compiler refuses such a declaration; in C they are parameters.  Bodies
and buffers come together in many combinations, because operations add buffers to the kernels of other algorithms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from nightly import sampled

from hsgen.apis import APIS
from hsgen.core.errors import Usage
from hsgen.core.kernels import Kernel
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.dialects.definitions import split
from hsgen.dialects.dialect import Dialect, load
from hsgen.emit import kernels
from hsgen.emit.templates import environment
from hsgen.targets import target

FORMS = (
    ("u32", Signature()),
    ("u32", Signature(value="v4")),
    ("u32", Signature(value="index", key_transform=True, device_count=True)),
    ("u64", Signature(value="v4")),
)
STATEMENT = re.compile(r"\b(?:int|bool|float|hs_\w+)\s+(?=\**[a-z_])(?=([^;{}]*))")
"""A declaration: a type, and what follows it up to the end of the statement."""
NESTED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
SELECTED = re.compile(r"\bhs_select_\w+\(\s*(\w+)")
"""Words that declare their first argument."""


@cache
def declarators(statement: str) -> frozenset[str]:
    """Return the names that a declaration declares; `statement` begins after the type."""
    while (shorter := NESTED.sub("", statement)) != statement:
        statement = shorter
    found = (re.match(r"\W*(\w+)", part) for part in statement.partition(")")[0].split(","))
    return frozenset(m[1] for m in found if m)


def declared(text: str) -> set[str]:
    """Return the names of the variables that a text in the words of kernel bodies declares."""
    text = re.sub(r"//.*", "", text)
    statements = {m[1] for m in STATEMENT.finditer(text)}
    return set(SELECTED.findall(text)).union(*map(declarators, statements))


def memory(kernel: Kernel) -> set[str]:
    return {b.name for b in kernel.buffers} | {a.name for a in kernel.arrays}


@cache
def kinds(data: object) -> frozenset[str]:
    """Return the members of parameters, with 0, 1 or more for numbers: templates choose by these what they declare."""
    shown = re.sub(r"\b\d+\b", lambda m: m[0] if m[0] in ("0", "1") else "n", repr(data))
    return frozenset(re.findall(r"\w+=[^,()]+", shown))


def sorts() -> Iterator[tuple[Sort, tuple[str, ...]]]:
    """Yield the sorts of all operations of all targets, each with the APIs of its target."""
    for found in map(target.find, target.names()):
        for key, form in FORMS:
            for label in dict.fromkeys([*found.labels(key), *found.derived(key), *found.implicit(key)]):
                try:
                    yield found.sort(label, key, form), found.apis
                except Usage:  # the operation has no such form
                    continue


@cache
def every() -> list[tuple[Sort, Kernel, Dialect]]:
    """Return kernels, one of each kind: with the same template, names in memory, kinds of parameters and capabilities
    of the language."""
    dialects = {name: load(environment(), api.dialect) for name, api in APIS.items()}
    found: dict[Any, tuple[Sort, Kernel, Dialect]] = {}
    for sort, apis in sorts():
        for kernel in sort.kernels:
            kind = kernel.template, frozenset(memory(kernel)), kinds(kernel.params), kinds(kernel.data)
            for dialect in (dialects[api] for api in apis):
                if "int64" in dialect.capabilities or not kernel.index64:
                    found.setdefault((*kind, dialect.capabilities), (sort, kernel, dialect))
    return list(found.values())


def clashes(kernel: Kernel, body: str) -> set[str]:
    return memory(kernel) & declared(body)


def test_no_body_declares_a_name_in_memory() -> None:
    env = environment()
    found = {
        (sort.target, sort.algorithm, kernel.template, name)
        for sort, kernel, dialect in sampled(every(), 2)
        for name in clashes(kernel, kernels.body(env, sort, kernel, dialect))
    }
    assert found == set()


def test_no_macro_declares_a_name_in_memory() -> None:
    """Kernels use macros of the prelude and of algorithms where the names of their buffers are macros, too."""
    names = {name for _, kernel, _ in every() for name in memory(kernel)}
    preludes = {(sort.name, dialect.name): (sort, dialect) for sort, _, dialect in every()}
    macros = {}
    for sort, dialect in preludes.values():
        for d in split(dialect.prelude(sort) + "".join(kernels.words(environment(), sort))):
            for one in (d, *d.branches):
                macros[one.text] = one
    found = {
        (d.names, name)
        for d in macros.values()
        if d.text.startswith("#define")
        for name in names & declared(d.text.partition(")")[2]) - {*(d.parameters or ())}
    }
    assert found == set()


def test_kernels_of_all_kinds_are_looked_at() -> None:
    seen = every()
    assert {dialect.name for *_, dialect in seen} >= {"opencl", "glsl", "cuda", "hip", "metal"}
    combined = {(sort.algorithm, kernel.algorithm) for sort, kernel, _ in seen}
    assert {
        ("group_by", "radix"),
        ("auto", "radix"),
        ("auto", "bitonic"),
        ("segmented_sort", "segmented_sort"),
    } <= combined
    assert any(k.template == "radix/partition/fallback:fallback" and s.algorithm == "group_by" for s, k, _ in seen)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("hs_u32 done = 0u;", {"done"}),
        ("if (hs_local_id() == 0) {\n    hs_u32 done = 0u; // int no\n}", {"done"}),
        ("int a, b = f(x, y), done[2], c;", {"a", "b", "done", "c"}),
        ("for (int i = 0, done = (i + 1) * 2; i < done; i++) hs_key k = r[i];", {"i", "done", "k"}),
        ("int item = first,\n    done = 1;", {"item", "done"}),
        ("hs_key r[4] = {a, b};", {"r"}),
        ("const bool done = false; done = true;", {"done"}),
        ("hs_select_keys(done, at);", {"done"}),
        ("done[0] = int(x); hs_store(done, (int)y, 3); return;", set()),
    ],
)
def test_declarations_are_found(body: str, names: set[str]) -> None:
    assert declared(body) == names


@pytest.mark.parametrize("what", ["buffers", "arrays"])
def test_a_clash_is_noticed(what: str) -> None:
    """A body of a shipped kernel, with one declaration more."""
    sort, kernel, dialect = next(x for x in every() if getattr(x[1], what))
    name = getattr(kernel, what)[-1].name
    body = kernels.body(environment(), sort, kernel, dialect)
    assert clashes(kernel, body) == set()
    assert clashes(kernel, f"{body}int i = 0, {name} = 0;\n") == {name}
