"""Several radix sorts in one sort by count, without a device: the model executes the part of the count.

Guards skip the rows of all other parts, also with a device-side count, and each part sorts every signature with its
rows of the whole plan.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.radix import model
from nightly import thinned
from radix_calls import RICH, drawn
from radix_shapes import kinds

from hsgen.algorithms import radix
from hsgen.core.interpreter import Options, launches
from hsgen.core.keys import PLAIN, VALUES
from hsgen.core.plan import Plan, Step
from hsgen.core.sort import Part, Sort
from hsgen.operations import oracle
from hsgen.targets import assembly, target
from hsgen.tools.validate.cases import around

FILE = Path(__file__).parents[1] / "device" / "lanes" / "several8.toml"


def own(sort: Sort, part: Part) -> Plan:
    """Return the rows of a part, named as its algorithm names them."""
    tail = assembly.suffix(sort.parts, part)
    tails = [t for p in sort.parts if (t := assembly.suffix(sort.parts, p))]
    steps: list[Step] = []
    for step in sort.plan.steps:
        of = next((t for t in tails if step.kernel.endswith(t)), "")
        if of == tail and not step.indirect and sort.kernel(step.kernel).algorithm == part.algorithm:
            steps.append(replace(step, kernel=step.kernel.removesuffix(tail)))
    return replace(sort.plan, steps=tuple(steps))


def play(sort: Sort, keys: Any, how: Options, count: int | None, *, in_place: bool) -> bool:
    """Run one call, if a radix sort serves it, and compare with the oracle; return whether one does."""
    values = oracle.values_for(np.random.default_rng(len(keys)), len(keys), sort)
    live = len(keys) if count is None else min(count, len(keys))
    active: set[str] = set()
    names = {p.label: {s.kernel + assembly.suffix(sort.parts, p) for s in own(sort, p).steps} for p in sort.parts}
    for launch in launches(sort.plan, len(keys), in_place=in_place, how=how):
        kernel = sort.kernel(launch.step.kernel)
        if not launch.step.indirect and not kernel.always and launch.step.guard.min_n < live <= launch.step.guard.max_n:
            active.update(p.label for p in sort.parts if launch.step.kernel in names[p.label])
    assert len(active) == (live > 0)
    part = next((p for p in sort.parts if p.label in active), sort.parts[0])
    if part.algorithm != "radix" or not live:
        return False
    assert isinstance(part.params, radix.Params)
    out = model.run(part.params, own(sort, part), keys, values, in_place=in_place, how=how, count=count)
    order = oracle.permutation(keys[:live], sort, how)
    expected = oracle.values_expected(None if values is None else values[:live], order, sort)
    assert how.discard or np.array_equal(out.keys[:live], keys[:live][order]), (how, live)
    if expected is not None and out.values is not None:
        assert np.array_equal(out.values[:live], expected), (how, live)
    return True


CASES = [
    pytest.param(value, progress, rich, id=f"{value}-{progress}-{'rich' if rich else 'plain'}")
    for rich in (False, True)
    for progress in ("started", "guaranteed")
    for value in VALUES
]


@pytest.mark.parametrize(("value", "progress", "rich"), thinned(CASES, 3))
def test_every_form_is_sorted_by_one_of_them(value: str, progress: str, rich: bool) -> None:
    text = FILE.read_text().replace('"guaranteed"', f'"{progress}"')
    found = target.parse(text, "several8", "several8.toml")
    rng = np.random.default_rng(11)
    signature = replace(RICH if rich else PLAIN, value=value)
    served = 0
    for key in ("u32",) if value == "packed" else ("u8", "u16", "u32", "u64"):
        sort = found.sort("auto", key, signature)
        assert (sum(p.algorithm == "radix" for p in sort.parts) == 3) == (key != "u64" and value != "packed")
        few = sum(p.algorithm == "radix" for p in sort.parts)
        counting = few if progress == "started" else few - 2  # look-back waits without bound
        assert sum(k.name.startswith("scatter") and not k.index64 for k in sort.kernels) == counting
        for number, n in enumerate(around([p.max_n for p in sort.parts if p.max_n < 1 << 20] + [7, 1100], 1 << 20)):
            keys = list(kinds(rng, n, sort.key.name))[number % 7]
            how, count = drawn(rng, sort, n)
            for in_place in (False, True):
                served += play(sort, keys, how, count, in_place=in_place)
    assert served > 15
