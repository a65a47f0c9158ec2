"""Runs mutants in a separate process, since a planted fault may crash a driver.

Usage: mutant_worker.py TARGET KEY THIN DEVICE GREATEST FIRST STEP; prints "<number> killed|alive" for the mutants
FIRST, FIRST + STEP, ... and "<number> started" before each, so that the caller knows which one crashed.
"""

from __future__ import annotations

import random
import sys
import warnings
from dataclasses import replace

from mutants import kernel_mutants, plan_mutants

from hsgen.core.plan import Plan
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines.builds import build, standard
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import hosts
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.operations.inputs import KINDS
from hsgen.system import toolchain
from hsgen.targets import assembly, target
from hsgen.tools.validate import validation
from hsgen.tools.validate.cases import around


def all_mutants(sort: Sort, thin: int, greatest: int) -> list[tuple[str, str, str | Plan]]:
    """Return (kernel or "", what, changed text or plan) of every `thin`-th mutant, in a fixed order.

    Before thinning, every operator is applied once to every kernel and every plan row.
    """
    parts = render(sort, "opencl").parts
    rng = random.Random(0)
    out: list[tuple[str, str, str | Plan]] = [
        (k.name, what, text) for k in sort.kernels for what, text in kernel_mutants(k, parts[k.name], 1, rng)
    ]
    return (out + [("", what, plan) for what, plan in plan_mutants(sort.plan, greatest)])[::thin]


def pairs_for(sort: Sort, greatest: int) -> list[tuple[int, str]]:
    """Every count up to two blocks and the counts of a validation, starting with those that kill mutants soonest: some
    large counts, neighbours of powers of two, and the limits of plan rows."""
    block = validation.block_of(sort)
    kinds = list(KINDS)
    dense = [(n, kinds[n % len(kinds)]) for n in range(2 * block + 2)]
    near = around((1 << i for i in range(block.bit_length() + 1)), 2 * block + 1)
    first = [p for p in dense if p[0] in near]
    quick = [(n, k) for n, k in validation.plan_cases(sort, full=False, seed=7) if n <= greatest]
    large = [
        (n, kinds[i]) for n in around(assembly.test_counts(sort, greatest), greatest) for i in range(4) if n > 4 * block
    ]
    rows = [(n, "random") for n in assembly.row_test_counts(sort, greatest)]
    sparse = sorted(p for p in large if p[1] == kinds[3])
    return rows[::-8] + first + rows + sparse + dense + sorted(large) + quick


def main(name: str, key: str, thin: int, device: str, greatest: int, first: int, step: int) -> None:
    """Try this process's share of the mutants."""
    warnings.simplefilter("ignore")
    sort = target.find(name).sort("bitonic", key)
    source = render(sort, "opencl")
    host = next(h for h in hosts() if h.label == device)
    context = context_for(host)
    option = standard(context, lanes=sort.lanes > 1)
    good = build(context, source.text, source.path, [k.name for k in sort.kernels], option)
    toolchain.pyopencl()._PYOPENCL_NO_CACHE = True  # of binaries: those of mutants are never reused
    pairs = pairs_for(sort, greatest)
    mutants = all_mutants(sort, thin, greatest)
    for number in range(first, len(mutants), step):
        print(number, "started", flush=True)
        kernel, _, changed = mutants[number]
        kernels, plan = good, sort.plan
        if isinstance(changed, str):
            kernels = {**good, **build(context, source.prelude + changed, "mutant", [kernel], option)}
        else:
            plan = changed
        compiled = Compiled(context, replace(sort, plan=plan), source, kernels)
        report = validation.run(Direct(context, compiled), pairs, 7, stop=1)
        print(number, "killed" if report.failed else "alive", flush=True)


if __name__ == "__main__":
    main(*(int(a) if a.isdigit() else a for a in sys.argv[1:]))  # type: ignore[arg-type]
