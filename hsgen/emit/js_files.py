"""The JavaScript package of a bundle, which launches the WGSL kernels through WebGPU.

The package has a module for each sort, with its kernels, and with its launch plan as lists of numbers.  The package
also has a class for each operation.  `hsgen.operations.arguments` determines the methods of the classes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hsgen import __version__
from hsgen.apis.api import Api, Package
from hsgen.core.buffers import pair_bytes
from hsgen.core.flags import ARGUMENTS, BIT, FLOAT_SUM, PLACES, QUANTITIES, RANGES, REDUCTION_MASK, REDUCTIONS
from hsgen.core.plan import ROLES, Binding, Step
from hsgen.core.sort import Sort
from hsgen.emit import c_calls
from hsgen.emit.kernels import Source
from hsgen.emit.templates import environment
from hsgen.operations.base import Operation
from hsgen.operations.pack import ROLES as COLUMNS
from hsgen.targets.target import Target

CONSTANTS = "const HSGEN_CONSTANTS = 0;\n"
"""The line in a JavaScript file that `common` replaces by the result of `constants`."""
EXACT = 2**53 - 1  # JavaScript's Number.MAX_SAFE_INTEGER
_HEAD = f"/* SPDX-License-Identifier: MIT-0\n * Part of a bundle of hsgen {__version__}; do not edit. */\n"


def constants() -> str:
    """Return JavaScript definitions of the constants of `hsgen.core.flags`, and of lists of names.

    ROLES lists the roles of buffers.  ARGUMENTS and QUANTITIES list names of `hsgen.core.flags`.  IN_PLACE lists the
    operations whose calls can be in place.  PLAIN lists the operations whose calls have no option `order`.
    """
    every = c_calls.listed()
    lists = {
        "ROLES": list(ROLES),
        "ARGUMENTS": list(ARGUMENTS),
        "QUANTITIES": list(QUANTITIES),
        "IN_PLACE": [o.name for o in every if o.arguments.in_place],
        "PLAIN": [o.name for o in every if "order" not in o.arguments.choices],
    }
    lines = [f"const {name} = {json.dumps(values)};" for name, values in lists.items()]
    used = ("DIRECT", "DISCARD", "DEVICE_COUNT", "SIGNED", "FLOAT", "DESCENDING", "ROWS")
    lines.append(f"const REDUCTION_MASK = {REDUCTION_MASK}, FLOAT_SUM = {FLOAT_SUM};")
    return "\n".join([*lines, "const " + ", ".join(f"{n} = 1 << {BIT[n]}" for n in used) + ";\n"])


def minified(text: str) -> str:
    """Return WGSL text without comments, line ends and unnecessary spaces."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    return re.sub(r"\s*([=+*/<>!&|^%,;:(){}\[\]])\s*", r"\1", re.sub(r"\s+", " ", text)).strip() + "\n"


def _facts(sort: Sort, target: Target) -> dict[str, Any]:
    """Return the facts about a sort by which the JavaScript runtime selects it, by name.

    The fact `fallback` is true if the sort is only for WebGPU adapters that run on the CPU.
    """
    return {
        "name": sort.name,
        "algorithm": sort.algorithm,
        "kind": sort.operation,
        "bits": sort.plan.bits or sort.key.bits,
        "value": sort.signature.value,
        "floats": sort.signature.floats,
        "transform": sort.signature.key_transform,
        "range": sort.signature.bit_range,
        "counted": sort.signature.device_count,
        "subgroups": sort.lanes,
        "fallback": target.match.types == ("cpu",),
    }


def _binding(binding: Binding) -> list[int | None]:
    return [ROLES.index(binding.role), binding.per_n, binding.plus, binding.max_n]


def _step(step: Step, kernel: int, bindings: int) -> list[int]:
    guard, grid, argument = step.guard, step.grid, step.argument
    value = getattr(argument, "value", getattr(argument, "number", 0))
    places, ranges, quantities = list(PLACES), list(RANGES), list(QUANTITIES)
    row = [kernel, bindings, guard.min_n, guard.max_n, places.index(guard.place), ranges.index(guard.range)]
    row += [int(guard.at_zero), quantities.index(grid.x), grid.add, grid.div, grid.mul, grid.cap]
    row += [list(ARGUMENTS).index(argument.kind), value, getattr(argument, "bits", 0), argument.flags]
    row += [quantities.index(guard.x), list(REDUCTIONS).index(guard.reduction)]
    return [*row, guard.min_take, guard.max_take] if guard.max_take else row


def _plan(sort: Sort) -> dict[str, Any]:
    """Return the plan of a sort in the form that the JavaScript runtime reads.

    steps: a list of numbers for each launch.
    bindings: the distinct lists of the memory that a launch binds; the second number of a launch is the index of its
    list.
    kernels: the name of each kernel, with the size of each of its buffers in bytes per key.  The size 0 means that the
    buffer does not grow with the number of keys.
    """
    plan, names = sort.plan, [k.name for k in sort.kernels]
    lists: dict[str, int] = {}
    rows = []
    for step in plan.steps:
        text = json.dumps([_binding(b) for b in step.bindings])
        rows.append(_step(step, names.index(step.kernel), lists.setdefault(text, len(lists))))
    sizes = {"key": sort.key.bytes, "value": sort.signature.value_bytes, "pair": pair_bytes(sort.key)}
    rules = [[r.min_n, min(r.max_n, EXACT), r.plus, r.per_n, r.unit, r.per_unit, r.units] for r in plan.scratch.rules]
    return {
        "firstBit": plan.first_bit,
        "itemBytes": sort.item_bytes,
        "valueBytes": sort.signature.value_bytes,
        "maxN": plan.max_n,
        "scratch": rules,
        "kernels": [[k.name, [b.times * sizes.get(b.type, 0) for b in k.buffers]] for k in sort.kernels],
        "bindings": [json.loads(text) for text in lists],
        "steps": rows,
    }


def sort_module(sort: Sort, source: Source, target: Target) -> bytes:
    """Return the JavaScript module of a sort, which exports its facts, its plan and its kernels."""
    rows = {name: _compact(value) for name, value in {**_facts(sort, target), **_plan(sort)}.items()}
    text = minified(source.text).replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
    body = "".join(f"    {name}: {value},\n" for name, value in rows.items())
    return f"{_HEAD}export default {{\n{body}    wgsl: `{text}`,\n}};\n".encode()


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def sort_row(sort: Sort, target: Target, folder: str = ".") -> str:
    """Return the text of a JavaScript object with the facts about a sort, and a function that loads the sort's module.

    folder: the folder of the module, relative to the file that contains the object.
    """
    facts = ", ".join(f"{name}: {json.dumps(value)}" for name, value in _facts(sort, target).items())
    return f'{{ {facts}, load: () => import("{folder}/{sort.file}.js") }}'


def sort_list(sorts: Iterable[Sort], target: Target) -> bytes:
    """Return the JavaScript module that lists the sorts of a target, with a function that loads each on demand."""
    rows = [f"    {sort_row(sort, target)},\n" for sort in sorts]
    return f"{_HEAD}export default [\n{''.join(rows)}];\n".encode()


def of_target(package: Package, target: Target, sources: Sequence[tuple[Sort, Source]]) -> dict[str, bytes]:
    """Return the JavaScript modules of a target: one for each sort, and the list of its sorts; by path in a bundle."""
    folder = f"targets/{target.name}/{package.folder}"
    files = {f"{folder}/{sort.file}.js": sort_module(sort, source, target) for sort, source in sources}
    return files | {f"{folder}/index.js": sort_list((sort for sort, _ in sources), target)}


def _parent(operation: Operation) -> Operation | None:
    """Return the operation whose JavaScript class the class of `operation` extends, or None if there is none.

    The Python class of `operation` must extend that of the result.  Calls of the result must pass all buffers that
    calls of `operation` pass.
    """
    extended = (o for o in c_calls.listed() if o is not operation and isinstance(operation, type(o)))
    return next((o for o in extended if _rows(operation) <= _rows(o)), None)


def _rows(operation: Operation) -> set[tuple[Any, ...]]:
    """Return a tuple (role, name, type of elements, length) for each buffer that calls of an operation pass."""
    return {(b.role, b.in_javascript, b.element, b.length) for b in operation.arguments.passed}


def _classes(api: Api) -> Mapping[str, Any]:
    """Return the variables that the JavaScript templates read, by name."""

    def part(name: str) -> str:
        path = api.file(f"js/operations/{name}")
        return path.read_text(encoding="utf-8") if path.exists() else ""

    classes = [o for o in c_calls.listed() if not o.by_count]  # the class of the sort has a separate module
    sort = next(o for o in c_calls.listed() if o.by_count)
    return {"sort": sort, "operations": classes, "parent_of": _parent, "columns": COLUMNS, "part": part}


def common(api: Api, targets: Sequence[Any], prefix: str) -> dict[str, str]:
    """Return, by path, the files of the JavaScript package that all targets share.

    targets: the bundle's targets, each a `c_files.Named`.
    """
    assert api.package
    served = [t for t in targets if api.name in t.apis]
    files = {}
    for path, name in api.package.files.items():
        text = api.file(name).read_text(encoding="utf-8")
        if name.endswith(".j2"):
            values = {"targets": served, "version": __version__, "prefix": prefix, **_classes(api)}
            text = environment().from_string(text).render(values)
        text = text.replace("HSGEN_VERSION", __version__).replace(CONSTANTS, constants())
        files[path] = text if path.endswith(".json") else _HEAD + text
    return files
