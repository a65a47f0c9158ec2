"""Launch plans as JSON, for programs that launch the kernels themselves, without hsgen's C runtime."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from hsgen.core.buffers import pair_bytes
from hsgen.core.flags import BIT
from hsgen.core.interpreter import PLAIN, argument
from hsgen.core.plan import CallNumber, Plan, Step
from hsgen.core.sort import Sort
from hsgen.stages.attach import report_words

PLAN_SCHEMA = 5


def _form(sort: Sort) -> dict[str, Any]:
    """Return the fields of a plan that state which options calls of the sort may use (its signature).

    An epilogue computes a report from the sorted keys.  In place of its text, the plan has the size of the report, as
    numbers of 32-bit words per call and per key.
    """
    signature = asdict(sort.signature)
    del signature["epilogue"], signature["floats"], signature["rows"]  # these follow from key and kind
    if sort.signature.epilogue:
        signature["epilogue"] = dict(zip(("words", "words_per_key"), report_words(sort), strict=True))
    return signature


def plan_json(sort: Sort) -> bytes:
    """Return the launch plan of `sort` as JSON text, with the work-group sizes and buffers of its kernels."""
    kernels = {
        k.name: {
            "work_group": k.work_group,
            "subgroup": k.subgroup,
            "ballot": k.ballot,
            "index64": k.index64,
            "always": k.always,
            "cooperative": k.cooperative,
            "local_bytes": k.local_bytes(sort.key),
            "buffers": [{"name": b.name, "type": b.type} for b in k.buffers],
        }
        for k in sort.kernels
    }
    rows = [_row(sort.plan, step) for step in sort.plan.steps]
    head = {
        "schema": PLAN_SCHEMA,
        "sort": sort.name,
        "algorithm": sort.algorithm,
        "kind": sort.operation,
        "key": sort.label,
        "key_bytes": sort.key.bytes,
        "pair_bytes": pair_bytes(sort.key),
        **_form(sort),
        "value_bytes": sort.signature.value_bytes,
        "columns": sort.columns,
        "max_n": sort.plan.max_n,
        "first_bit": sort.plan.first_bit,
        "bits": sort.plan.bits,
        "scratch": [asdict(rule) for rule in sort.plan.scratch.rules],
        "device_status": asdict(sort.plan.device_status) if sort.plan.device_status else None,
        "kernels": kernels,
    }
    text = json.dumps(head, indent=2)
    return (text[:-2] + ',\n  "steps": [\n' + ",\n".join("    " + r for r in rows) + "\n  ]\n}\n").encode()


def _plain(plan: Plan, step: Step) -> int | None:
    """Return the argument that a step passes to its kernel in an out-of-place call without options.

    Return None if such a call skips the step.  Also return None if the argument is a number that the caller passes,
    such as a number of segments (`CallNumber`).
    """
    if step.guard.place == "in" or isinstance(step.argument, CallNumber):
        return None
    return argument(plan, step, PLAIN, in_place=False)


def _row(plan: Plan, step: Step) -> str:
    bindings = [asdict(b) if b.per_n or b.plus else b.role for b in step.bindings]
    flags = [name for name, bit in BIT.items() if step.argument.flags >> bit & 1]
    argument_row = {"kind": step.argument.kind, **asdict(step.argument), "flags": flags}
    guard = asdict(step.guard)
    if step.guard.x == "n":
        del guard["x"]
    if step.guard.reduction == "any":
        del guard["reduction"]
    if not step.guard.max_take:
        del guard["min_take"], guard["max_take"]
    row = {**asdict(step), "bindings": bindings, "guard": guard, "argument": argument_row, "plain": _plain(plan, step)}
    return json.dumps(row)
