"""Small reductions by key, and faults planted in their kernels; test_grouping.py runs it.

Usage: grouping_faults.py DEVICE SHAPE STEP FIRST prints for every STEPth fault of a shape, from the one with
number FIRST on, whether a validation catches it.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the script, which runs without pytest
from every import changed
from sorts import sort_by

from hsgen.algorithms import reduce_by_key
from hsgen.core.keys import KEYS, Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.engines.hosts import hosts
from hsgen.operations.reduce_by_key import RUNS
from hsgen.tools.validate import validation

SMALL = {"work_group": 8, "items": 3, "groups": 5}
SECTIONS = {"work_group": 16, "items": 8, "subgroup": 8, "section": 11}
"""A shape with look-back within sections."""


def small(key: str, value: str = "v4", *, device_count: bool = False, **values: Any) -> Sort:
    """A small reduction: 5 work-groups share more than a tile of 24 keys."""
    signature = Signature(value=value, floats=value == "v4", device_count=device_count)
    p = reduce_by_key.Params(key=KEYS[key], signature=signature, **{**SMALL, **values})
    return sort_by("reduce_by_key", p, signature)


FAULTS = (
    (r"starts \|\| !open", "starts"),
    (r"starts \|\| !open", "!open"),
    (r"run = starts", "run = false"),
    (r"(from \+ at \+ i|i) == 0 \|\|", "false ||"),
    (r"base \+ j > span_base", "base + j >= span_base + 2"),
    (r"count == 0u && ", ""),
    (r"runs != 0u", "runs > 1u"),
    (r"before > 0u", "before > 1u"),
    (r"floats \? ", "false ? "),
    (r": adds \? ", ": true ? "),
    (r"kind < 2 \?", "kind < 3 ?"),
    (r"== 2 \? ~0u : 0u", "== 1 ? ~0u : 0u"),
    (r"count \+= (more|runs);", "count += 0u;"),
    (r"last_start = staged", "last_start = 0u * staged"),
    (r"carry = tile_sum;", "carry += 0u;"),
    (r"last_start = (words|last_starts)", "last_start = 0u * \\1"),
    (r"fresh = false;", ""),
    (r"open = hs_local_id\(\) > 0 \|\| !fresh;", "open = hs_local_id() > 0;"),
    (r"(runs > 0)\) last_start", "\\1 && base < 0) last_start"),
    (r"& 32\) != 0", "& 64) != 0"),
    (r"\(hs_argument\(\) & 16\) != 0", "true"),
)
"""Faults: a pattern, each of whose places in a text is changed alone.  (oclgrind reports missing barriers.)"""
SECTION_FAULTS = (
    (r"\(heads >> \(r \* 4 \+ i\) & 1u\) != 0u \? x", "false ? x"),
    (r"from \+ own == 0 && valid > 0", "false"),
    (r"lane > 0 \? turned : ahead", "turned"),
    (r"ahead = turned;", ""),
    (r"if \(lane >= far\) upto", "if (lane > far) upto"),
    (r"rows \|= hs_rotate\(rows, 1 << s\);", ""),
    (r"rows = lane == 0 \? ~0u : 0u", "rows = 0u"),
    (r"rows \|= 1u << r", "rows |= 2u << r"),
    (r"\(near\[s\] >> r & 1u\) == 0u", "true"),
    (r"& 255u\) == 0u\)\s+run", "& 255u) == 1u) run"),
    (r"run = lane == 0 \? carry : (.*);", "run = carry;"),
    (r"carry = \(total\[r / 4\] >> \(r % 4 \* 8\) & 255u\) != 0u \?", "carry = false ?"),
    (r"(runs|next) \+= total", "\\1 += 0u * total"),
    (r"to = next \+", "to = next + 0u *"),
    (r"start_before = last_start", "start_before = 0u"),
    (r"base > 0u \? start_before", "false ? start_before"),
    (r"if \(base == 0u\) closed", "if (true) closed"),
    (r"below \|= below >> far", "below |= below << far"),
    (r"newest % 4", "newest % 2"),
    (r"!= 0u \? second", "!= 0u ? first"),
    (r"later \? (\w+) : (\w+),", "later ? \\2 : \\1,"),
    (r"start > last_start", "start < last_start"),
    (r"(since|last_start) = (subgroup_starts|hs_posted)", "\\1 = 0u * \\2"),
    (r"open_before = carry", "open_before = none"),
    (r"lane == 0 && hs_to_int\(runs\) > 0", "lane == 0 && hs_to_int(runs) > 1"),
    (r"slot \+ j > 0", "slot + j > 1"),
    (r"(?<!none = )floats \? ", "false ? "),
    (r"if \(floats\)", "if (false)"),
    (r": adds \? ", ": true ? "),
    (r"else if \(adds\)", "else if (true)"),
    (r"kind < 2 \?", "kind < 3 ?"),
    (r"== 2 \? ~0u : 0u", "== 1 ? ~0u : 0u"),
    (r"(before|tile_runs) \+= (count|before);", "\\1 += 0u;"),
    (r"% 11 \+ 1;", "% 11;"),
    (r"% 11 == 10;", "% 11 == 9;"),
    (r"tile_runs == before", "false"),
    (r"& 32\) != 0", "& 64) != 0"),
    (r"\(hs_argument\(\) & 16\) != 0", "true"),
    (r"<< 30", "<< 29"),
)
"""The same for look-back within sections."""
SHAPES = {"spans": ({"groups": 20}, FAULTS), "sections": (SECTIONS, SECTION_FAULTS)}
SAME = {"single": ("open", "fresh")}
"""Words of changes that make no difference in a kernel: a single tile starts with a run."""


def faulty(source: Source, faults: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, Source]]:
    """The texts with one fault each, with its description."""
    for pattern, new in faults:
        found = [(name, text, m) for name, text in source.parts.items() for m in re.finditer(pattern, text)]
        assert found, pattern
        for name, text, m in found:
            if any(word in m[0] for word in SAME.get(name, ())):
                continue
            changed = text[: m.start()] + m.expand(new) + text[m.end() :]
            line = text.count("\n", 0, m.start()) + 1
            yield f"{name}, line {line}: {m[0].strip()}", replace(source, parts={**source.parts, name: changed})


def main(label: str, shape: str, step: str, first: str) -> None:
    """Validate every `step`th fault, from a number on."""
    warnings.simplefilter("ignore")
    host = next(h for h in hosts() if h.label == label)
    values, faults = SHAPES[shape]
    sort = small("u32", **values)
    pairs = [(n, kind) for n in (1, 5, 9, 13, 20, 24, 25, 77, 128, 481, 1000, 3003) for kind in RUNS]
    pairs += [(n, "short runs") for n in range(26, 481, 6)]  # sums of floats among them: one in nine
    for what, text in list(faulty(render(sort, "opencl"), faults))[:: int(step)][int(first) :]:
        made = changed(host, sort, text)
        failed = validation.run(made, pairs, 1, stop=1).failed
        print("caught" if failed else f"left: {what}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
