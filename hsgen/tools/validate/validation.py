"""Runs a compiled operation on a device with many inputs, and compares the results with numpy.

Each input is sorted (or summed) twice, in place and out of place.  All arrays lie between guard bytes.  A call may
change neither guard bytes nor an input that it should only read.  Merges are never in place; they are tested with many
sizes of the first array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hsgen import operations
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, TYPES
from hsgen.core.plan import Plan
from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations import oracle
from hsgen.operations.calls import Call
from hsgen.operations.inputs import Keys
from hsgen.stages.attach import report_length, report_words
from hsgen.targets import assembly
from hsgen.tools.validate.cases import around, counts
from hsgen.tools.validate.guarded import SHIFTS, Frame

QUICK, FULL = 4_000, 100_000  # least numbers of cases in a quick and in a full validation
_QUICK_TOP, _FULL_TOP = 1 << 17, 1 << 22
_FAR = 1 << 27  # greater counts take the host seconds per case; tests/device/large.py and compare_cub.cu test them


@dataclass(frozen=True, slots=True)
class Case:
    """A test case: the count and kind of its input, and whether the sort is in place."""

    n: int
    kind: str
    in_place: bool
    items: str = "keys"
    more: str = ""

    def __str__(self) -> str:
        return f"{self.n} {self.items}, {self.kind}, {'in place' if self.in_place else 'out of place'}{self.more}"


@dataclass(slots=True)
class Report:
    """The result of a validation of one sort."""

    cases: int = 0
    failures: list[str] = field(default_factory=list)
    failed: int = 0

    def note(self, case: Case, problem: str) -> None:
        """Count a failure, and describe it in `failures` if it is one of the first ten."""
        self.failed += 1
        if len(self.failures) < 10:
            self.failures.append(f"{case}: {problem}")


def block_of(sort: Sort) -> int:
    """Return the number of keys that one work-group sorts, or of rows that it sums."""
    return assembly.block(sort)


def reach(plan: Plan) -> int:
    """Return a count such that validations with counts up to it run every kernel of the plan.

    The result is twice the greatest count above which some kernel runs for the first time, but at most the plan's
    greatest count.  Steps that serve only counts above 2^27 are ignored, because no validation reaches such counts.
    """
    first: dict[str, int] = {}
    for step in plan.steps:
        if step.guard.min_n < _FAR:
            first.setdefault(step.kernel, step.guard.min_n)
    return min(2 * max(first.values()), plan.max_n)


def plan_cases(sort: Sort, *, full: bool, seed: int) -> list[tuple[int, str]]:
    """Return the (count, kind of input) pairs of a validation; each pair gives two cases, in place and out of place.

    The counts reach every kernel.  A full validation combines every kind with every count up to 4 blocks + 1.  It
    repeats these pairs if they are too few for `FULL` cases.  All other counts get one kind each: the kinds are
    assigned in turn.  Counts beyond 4 blocks, or next to a count at which the plan changes, get the first kind too.
    """
    rng = np.random.default_rng(seed)
    kinds = list(operations.of(sort).kinds)
    block = block_of(sort)
    dense = 4 * block + 1
    top = max((_FULL_TOP if full else _QUICK_TOP) // sort.columns, reach(sort.plan), dense)
    top = min(top, sort.plan.max_n)
    test_counts = assembly.test_counts(sort, top)
    near = around(test_counts, top)
    ns = counts(test_counts, block, top, -(-FULL // (2 * len(kinds))) if full else QUICK // 2, rng)
    pairs = [(n, kind) for n in ns if n <= dense for kind in kinds] if full else []
    pairs *= max(1, -(-FULL // (2 * len(pairs)))) if pairs else 1
    rest = [n for n in ns if n > dense] if full else ns
    pairs += [(n, kinds[i % len(kinds)]) for i, n in enumerate(rest)]
    pairs += [(n, kinds[0]) for n in rest if n in near or n > dense]
    return pairs + [(n, kinds[0]) for n in assembly.row_test_counts(sort, top)]


def calls(sort: Sort, number: int, n: int) -> tuple[Options, int | None]:
    """Return the options of case `number` with `n` keys, and its device-side count or None.

    Consecutive cases use different types, orders, bit ranges and device-side counts, if the sort supports them.
    """
    signature, bits = sort.signature, sort.plan.bits
    kinds = sorted({t.kind for t in TYPES.values() if KEYS[t.key].bits == bits})
    options = Options()
    if signature.key_transform:
        turn = number % (2 * len(kinds))
        options = replace(options, kind=kinds[turn // 2], descending=turn % 2 == 1)
    if signature.bit_range:
        ranges = ((0, None), (0, bits // 2), (bits // 2, bits), (3, 4), (1, bits - 1), (5, 5), (0, None))
        begin, end = ranges[number // 3 % len(ranges)]
        options = replace(options, begin=begin, end=end)
    options = operations.of(sort).turn(options, number, n, block_of(sort))
    if signature.index:
        options = replace(options, discard=number % 4 == 3)
    if signature.device_count and number % 3:
        options = replace(options, device_count=True)
        return options, (n, n - n // 3, n + 5, 0, n // 2)[number % 5]
    return options, None


def call(
    sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
) -> Call:
    """Return a call of a sort with the input `keys`, and with the expected result, which numpy computes."""
    if sort.signature.followed:
        plain = call(_plain(sort), keys, options, in_place=in_place, count=count, rng=rng)
        return (supplied if sort.signature.epilogue else boundaries)(plain, sort, rng)
    return operations.of(sort).call(sort, keys, options, in_place=in_place, count=count, rng=rng)


def _plain(sort: Sort) -> Sort:
    """Return the sort without run boundaries and epilogue."""
    return replace(sort, signature=replace(sort.signature, run_boundaries=False, epilogue=""))


def _described(sort: Sort, options: Options, count: int | None) -> str:
    """Return a text with those options of a case that differ from the defaults."""
    words = ["signed", "float"][options.kind - 1 :][:1] if options.kind else []
    words += ["descending"] * options.descending + ["keys discarded"] * options.discard
    words += operations.of(sort).reported(options)
    if sort.signature.bit_range:
        words.append(f"bits {options.begin} to {sort.plan.bits if options.end is None else options.end}")
    if count is not None:
        words.append(f"{count} on the device")
    return "".join(f", {word}" for word in words)


def run(
    engine: Engine,
    pairs: Sequence[tuple[int, str]],
    seed: int,
    *,
    stop: int = 2**62,
    progress: Callable[[Iterator[Any]], Iterator[Any]] = iter,
) -> Report:
    """Run both cases of each (count, kind) pair; stop after `stop` failures.

    In each pair, arrays start at other positions in their buffers.  `progress` wraps the iteration over the pairs, for
    example to show a bar.
    """
    report = Report()
    frame = Frame(engine, max((n for n, _ in pairs), default=0))
    rng = np.random.default_rng([seed, 1])
    sort = engine.sort
    operation = operations.of(sort)
    dtype = np.dtype(f"u{sort.key.bytes}")
    for number, (n, kind) in enumerate(progress(iter(pairs))):
        keys = operation.kinds[kind](rng, n * sort.columns, dtype)
        options, count = calls(sort, number, n)
        shifts = (number * 5 % SHIFTS, number * 7 % SHIFTS)
        case = call(sort, keys, options, in_place=False, count=count, rng=rng)
        for in_place in (False, True):
            report.cases += 1
            if in_place and (second := operation.second(options, n)) is not None:
                in_place, options = False, second
                case = call(sort, keys, options, in_place=False, count=None, rng=rng)
            problem = frame.run(replace(case, in_place=in_place and case.expected is not None), shifts)
            if problem is not None:
                report.note(Case(n, kind, in_place, operation.items, _described(sort, case.how, count)), problem)
                if report.failed >= stop:
                    return report
    if messages := engine.messages():
        report.failed += 1
        report.failures.append(f"the validation layers report: {messages.splitlines()[0]}")
    return report


def boundaries(call: Call, sort: Sort, rng: np.random.Generator) -> Call:
    """Add run boundaries to `call`: a random option `shift`, and the expected report.

    Keys belong to the same run if they are equal from bit `shift` on.
    """
    shift = int(rng.integers(0, sort.plan.bits))
    keys = call.expected
    if keys is None:  # an argsort that discards keys
        keys = call.keys[oracle.permutation(call.keys, sort, call.how)]
    return replace(call, how=replace(call.how, shift=shift), report=oracle.changes(keys, sort, shift))


def supplied(call: Call, sort: Sort, rng: np.random.Generator) -> Call:
    """Adapt `call` to a sort with an epilogue.

    The contents of the epilogue's report are not checked; but the epilogue must not write outside of its report.
    """
    room = report_length(sort, call.n) if report_words(sort) != (0, 0) else None
    return replace(call, how=replace(call.how, shift=int(rng.integers(0, sort.plan.bits))), report_room=room)
