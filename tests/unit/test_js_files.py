"""The modules for JavaScript: text of kernels, constants, and compact plans."""

from __future__ import annotations

import json
import re

import pytest

from hsgen.apis import APIS, having
from hsgen.apis.api import Api
from hsgen.bundle.manifest import Choice
from hsgen.bundle.selection import sorts
from hsgen.core.flags import ARGUMENTS, BIT, PLACES, RANGES
from hsgen.core.plan import ROLES
from hsgen.emit import c_calls, js_files
from hsgen.emit.kernels import render
from hsgen.operations.arguments import Length
from hsgen.operations.base import Operation
from hsgen.targets import target

PACKAGED = having(lambda api: api.package)
NAMES = [name for name in target.names() if any(api.name in target.find(name).apis for api in PACKAGED)]


def test_kernels_lose_comments_and_white_space_only() -> None:
    """Minus signs keep theirs: two of them are a decrement."""
    text = "/* one\n   two */ fn a() -> i32 { // three\n\n    let x = 4 / 2;\n    return x - -x;\n}\n"
    assert js_files.minified(text) == "fn a()->i32{let x=4/2;return x - -x;}\n"


def test_constants_are_those_of_plans() -> None:
    text = js_files.constants()
    assert json.dumps(list(ROLES)) in text and json.dumps(list(ARGUMENTS)) in text
    for name, bit in re.findall(r"(\w+) = 1 << (\d+)", text):
        assert BIT[name] == int(bit)
    assert list(PLACES) == ["any", "in", "out"] and list(RANGES) == ["any", "whole", "part"]  # numbers in the runtime


@pytest.mark.parametrize("name", NAMES)
def test_a_module_has_the_plan_of_its_sort(name: str) -> None:
    found = target.find(name)
    for api in (api for api in PACKAGED if api.name in found.apis):
        for sort in sorts(
            found, Choice(keys=("u32",), apis=(api.name,), algorithms=("auto", "digest"), features=("device-count",))
        ):
            text = js_files.sort_module(sort, render(sort, api.name), found).decode()
            rows = dict(re.findall(r"^    (\w+): (.*),$", text, re.M))
            steps, lists, kernels = (json.loads(rows[key]) for key in ("steps", "bindings", "kernels"))
            assert json.loads(rows["name"]) == sort.name and json.loads(rows["maxN"]) == sort.plan.max_n
            assert [kernels[row[0]][0] for row in steps] == [step.kernel for step in sort.plan.steps]
            for row, step in zip(steps, sort.plan.steps, strict=True):
                assert [ROLES[b[0]] for b in lists[row[1]]] == [b.role for b in step.bindings]
                assert len(lists[row[1]]) == len(kernels[row[0]][1])
                assert list(ARGUMENTS)[row[12]] == step.argument.kind
            for kernel in sort.kernels:
                assert f"fn {kernel.name}(" in text


def test_kernels_for_cpus_have_little_workgroup_memory() -> None:
    """SwiftShader takes half a millisecond to compile each word of it."""
    found = target.find("webgpu-cpu")
    for sort in sorts(found, Choice(keys=("u32",), apis=("webgpu",), algorithms=("auto",), values=("v4",))):
        words = re.findall(r"var<workgroup> \w+: array<\w+, (\d+)>", render(sort, "webgpu").text)
        assert sum(map(int, words)) <= 16


def test_no_two_apis_share_files() -> None:
    paths = [path for api in APIS.values() if api.package for path in api.package.files]
    assert len(paths) == len(set(paths))


CLASSES = [(api, operation) for api in PACKAGED for operation in c_calls.listed() if not operation.by_count]


@pytest.mark.parametrize(("api", "operation"), CLASSES, ids=[o.name for _, o in CLASSES])
def test_a_call_has_the_arguments_of_its_operation(api: Api, operation: Operation) -> None:
    """The class of an operation and its type have each buffer of the table, and the type marks optional ones."""
    files = js_files.common(api, [], "hs")
    (declared,) = re.findall(
        rf"^export interface {operation.class_name}Call extends Timed {{$(.*?)^}}$",
        files["js/hs_webgpu_operations.d.ts"],
        re.M | re.S,
    )
    module = files["js/hs_webgpu_operations.js"]
    assert module.count(f"export class {operation.class_name} ") == 1
    assert f'static kind = "{operation.name}";' in module
    for buffer in operation.arguments.passed:
        mark = "" if buffer.required else "?"
        assert f"    {buffer.in_javascript}{mark}: " in declared
        assert buffer.columns or f'{buffer.role}: "{buffer.in_javascript}",' in module
    assert (" order?: Order;" in declared) == ("order" in operation.arguments.choices)


@pytest.mark.parametrize("api", PACKAGED, ids=lambda api: api.name)
def test_parts_of_classes_belong_to_operations(api: Api) -> None:
    names = {operation.name for _, operation in CLASSES}
    assert {path.name.partition(".")[0] for path in api.file("js/operations").iterdir()} <= names


@pytest.mark.parametrize(
    ("length", "text", "elements"),
    [
        (Length(factors=("n",)), "n", 12),
        (Length(plus=8), "8", 8),
        (Length(factors=("number", "take")), "number * take", 15),
        (Length(factors=("number",), plus=1), "number + 1", 6),
        (Length(factors=("n",), less="number"), "n - number", 7),
    ],
)
def test_lengths_are_equal_in_all_languages(length: Length, text: str, elements: int) -> None:
    numbers = {"n": 12, "number": 5, "take": 3}
    assert length.text == text and length.of(**numbers) == elements == eval(text, numbers)
