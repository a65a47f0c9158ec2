"""Planted faults: operators that change one thing in a kernel's text or in a plan, like a typing error.

Each operator yields (description, changed text).  Operators are chosen so that no mutant is right by luck: every
comparator, barrier, guard and index that they change is needed for some count.
"""

from __future__ import annotations

import math
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from hsgen.core.kernels import Kernel
from hsgen.core.plan import Literal, Plan, Step

sys.path.insert(0, str(Path(__file__).parents[1]))  # for scripts, which run without pytest
from steps import changed

Mutants = Iterator[tuple[str, str]]


def _each(pattern: str, change: Callable[[re.Match[str]], str | None], what: str) -> Callable[[str], Mutants]:
    def operator(text: str) -> Mutants:
        for found in re.finditer(pattern, text):
            new = change(found)
            if new is not None and new != found.group(0):
                line = text.count("\n", 0, found.start()) + 1
                yield (
                    f"{what}, line {line}: {found.group(0).strip()!r}",
                    text[: found.start()] + new + text[found.end() :],
                )

    return operator


def _stores(text: str) -> Mutants:
    """Two adjacent stores exchange their registers."""
    pattern = r"(= r\[(\d+)\];\n\s+(?:if \([^\n]*\) )?(?:tile|destination)\[[^\n]*\] = )r\[(\d+)\];"
    for found in re.finditer(pattern, text):
        if not re.search(r"(tile|destination)\[[^\n]*$", text[: found.start()].rsplit("\n", 1)[-1]):
            continue
        head, a, b = found.groups()
        new = head.replace(f"= r[{a}];", f"= r[{b}];", 1) + f"r[{a}];"
        yield f"rows swapped: {a}, {b}", text[: found.start()] + new + text[found.end() :]


def _guards(text: str) -> Mutants:
    """A guard admits one slot too many.  Counts that end in the lower rows are sorted by a smaller block sort."""
    found = list(re.finditer(r"(\S+) < (count|keys|end)(?= \?|\))", text))
    if "int first" in text:
        found = found[3 * len(found) // 8 : len(found) // 2] + found[-len(found) // 8 :]
    for m in found:
        line = text.count("\n", 0, m.start()) + 1
        yield f"guard, line {line}: {m[0]!r}", text[: m.start()] + f"{m[1]} <= {m[2]}" + text[m.end() :]


def _mask(match: re.Match[str]) -> str | None:
    """Double the mask of a lane exchange; return None in a stage that never runs, such as `if (2 <= 1)`."""
    mask = match[2]
    shift = re.fullmatch(r"1 << \((\d+) - (\d+)\)", mask)
    if shift and int(shift[1]) < int(shift[2]):
        return None
    wrong = int(mask) * 2 % 15 or 1 if mask.isdigit() else f"({mask}) * 2 % 15 | 1"
    return f"hs_half({match[1]}, {wrong});"


VECTOR = 16
"""Lanes that the compilers here combine into one vector at most."""


def _barriers(text: str) -> Mutants:
    """A barrier is dropped, unless lanes of one vector alone exchange keys across it."""
    barriers = list(re.finditer(r"hs_barrier\(\);\n", text))
    ends = [0, *(m.start() for m in barriers), len(text)]
    for i, m in enumerate(barriers):
        near = [_lanes(text[ends[j] : ends[j + 1]]) for j in (i, i + 1)]
        if max(near) > VECTOR:
            line = text.count("\n", 0, m.start()) + 1
            yield f"dropped, line {line}: {m[0].strip()!r}", f"{text[: m.start()]}\n{text[m.end() :]}"


def _lanes(phase: str) -> float:
    """Return the number of adjacent lanes that share a span of keys in a phase; infinity if unknown."""
    span = re.search(r"int span = q / (\d+) \*", phase)
    return int(span[1]) if span and "for (int q" not in phase else math.inf


OPERATORS: dict[str, Callable[[str], Mutants]] = {
    "comparator reversed": _each(
        r"hs_swap\((r\[.*\]), (r\[.*\])\);", lambda m: f"hs_swap({m[2]}, {m[1]});", "reversed"
    ),
    "comparator dropped": _each(r"hs_swap\(r\[.*\], r\[.*\]\);\n", lambda m: ";\n", "dropped"),
    "rows swapped": _stores,
    "barrier dropped": _barriers,
    "shuffle mask": _each(r"hs_half\((r\[.*\]), (.*)\);", _mask, "mask"),
    "flip mask": _each(r"hs_flip\((.*), (.*), (.*)\);", lambda m: f"hs_flip({m[1]}, {m[3]}, {m[3]});", "mask"),
    "mirror lanes": _each(
        r"hs_entry_shuffle_xor\(r\[.*\], \d+\);", lambda m: m[0].replace(", ", ", 1 & "), "not reversed"
    ),
    "guard off by one": _guards,
    "whole off by one": _each(
        r"count >= (\d+)|end >= (\d+)|<= keys;|keys == 2 \* run;",
        lambda m: {"<": "<= keys + 1;", "k": "keys + 1 >= 2 * run;"}.get(m[0][0], f"{m[0]} - 1"),
        "whole",
    ),
    # (padding in the first row of a column does not matter: if it is outside, the whole column is)
    "pad of the wrong end": _each(r"(r\[[1-9]\d*\] = .*): HS_ENTRY_GREATEST;", lambda m: f"{m[1]}: HS_LEAST;", "pad"),
    "partner skipped": _each(r"span \+ run >= hs_n\(\)", lambda m: "span + run + 1 >= hs_n()", "early exit"),
    "index off by one": _each(r"(?<=base) \+ (\d+);", lambda m: f" + {int(m[1]) + 1};", "row"),
    "stride doubled": _each(r"(\d) \* stride(?=;| \+ lane)", lambda m: f"{int(m[1]) + 1} * stride", "row"),
    "level": _each(r"hs_argument\(\) & 255", lambda m: "(hs_argument() + 1) & 255", "level"),
    "pitch": _each(r"(?<=int to = )lane \* (\d+)", lambda m: f"lane * {int(m[1]) - 1}", "pitch"),
    "group lost": _each(
        r"(?<== )\(?hs_group_id\(\) (\*|&)", lambda m: m[0].replace("hs_group_id()", "(hs_group_id() | 1)"), "group"
    ),
}
"""Every operator on kernels by name."""


def kernel_mutants(kernel: Kernel, text: str, each: int, rng: random.Random) -> list[tuple[str, str]]:
    """Return up to `each` mutants of every operator for the text of one kernel.

    A work-group of a single subgroup, or of few lanes that the compiler combines into one vector, runs in lockstep on
    the devices here, so its barriers are not needed.
    """
    out: list[tuple[str, str]] = []
    for name, operator in OPERATORS.items():
        if name == "barrier dropped" and kernel.work_group <= max(kernel.subgroup, VECTOR):
            continue
        found = list(operator(text))
        out += [(f"{name}: {what}", new) for what, new in rng.sample(found, min(each, len(found)))]
    return out


def _value(step: Step) -> int:
    return step.argument.value if isinstance(step.argument, Literal) else 0


def plan_mutants(plan: Plan, greatest: int) -> list[tuple[str, Plan]]:
    """Return mutants of every plan row that runs for some n up to `greatest`."""
    out: list[tuple[str, Plan]] = []
    for i, step in enumerate(plan.steps):
        if step.guard.min_n >= greatest:
            continue
        rows = {
            "row dropped": None,
            "one group too few": changed(step, add=step.grid.add - step.grid.div),
            "runs too late": changed(step, min_n=step.guard.min_n + 1),
            "argument changed": changed(step, value=value ^ 1) if (value := _value(step)) else None,
        }
        for what, row in rows.items():
            if row is None and what != "row dropped":
                continue
            steps = [*plan.steps[:i], *([row] if row else []), *plan.steps[i + 1 :]]
            out.append((f"step {i} ({step.kernel}): {what}", replace(plan, steps=tuple(steps))))
    return out
