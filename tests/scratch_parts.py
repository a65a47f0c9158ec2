"""The parts of scratch that the launches of a sort use; counts are numbers, or terms of an SMT solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from hsgen.algorithms import radix
from hsgen.algorithms.radix import portions
from hsgen.algorithms.radix.hybrid import pairs
from hsgen.algorithms.radix.words import columns, words
from hsgen.core.buffers import pair_bytes
from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, VALUES, Signature
from hsgen.core.plan import Binding, Step
from hsgen.core.scratch import UNIT, Scratch
from hsgen.core.sort import Sort
from hsgen.targets import target

RICH = Signature(key_transform=True, bit_range=True, device_count=True)
FORMS = [Signature(), Signature(value="v4"), *(replace(RICH, value=value) for value in VALUES)]
LOOKING = ("radix/onesweep/onesweep:onesweep", "radix/onesweep/onesweep:histogram")
"""The templates of kernels that use a row of states for each tile of a portion."""


@cache
def shipped(name: str) -> list[Sort]:
    """Return every sort that a target supports in each signature, "auto" and each label."""
    sorts = []
    t = target.find(name)
    for signature in FORMS:
        for key in KEYS:
            for label in t.labels(key):
                try:
                    if target.algorithm(label) != "scan":
                        sorts.append(t.sort(label, key, signature))
                except Usage:
                    continue
    return sorts


class Numbers:
    """Arithmetic of a count that is an integer."""

    @staticmethod
    def up(x: Any, by: int) -> Any:
        """Return x / by, rounded up."""
        return -(-x // by)

    @staticmethod
    def choose(condition: Any, a: Any, b: Any) -> Any:
        """Return a if the condition holds, else b."""
        return a if condition else b

    def least(self, a: Any, b: Any) -> Any:
        """Return the lesser number."""
        return self.choose(a < b, a, b)

    def greatest(self, a: Any, b: Any) -> Any:
        """Return the greater number."""
        return self.choose(a > b, a, b)

    def offset(self, binding: Binding, n: Any) -> Any:
        """Return the byte offset of a binding to scratch (`hsgen.core.interpreter.offset`)."""
        within = n if binding.max_n is None else self.least(n, binding.max_n)
        return self.up(binding.plus + binding.per_n * within, UNIT) * UNIT

    def bytes(self, scratch: Scratch, n: Any) -> Any:
        """Return the size of scratch (`Scratch.bytes`)."""
        most: Any = 0
        for rule in scratch.rules:
            m = self.least(n, rule.max_n)
            size = rule.plus + rule.per_n * m + rule.per_unit * self.least(self.up(m, rule.unit), rule.units)
            most = self.greatest(most, self.choose(n <= rule.min_n, 0, size))
        return most

    def buckets(self, p: Any, n: Any) -> Any:
        """Return the number of buckets of pairs (`pairs.bits`)."""
        limit, top = pairs.limit(p), pairs.top_bits(p)
        number: Any = 1 << top
        for bits in range(top - 1, 0, -1):
            number = self.choose(n <= limit << bits, 1 << bits, number)
        return number


INTEGERS = Numbers()


def parts_of_scratch(sort: Sort, step: Step, n: Any, by: Numbers = INTEGERS) -> Iterator[tuple[str, Any, Any]]:
    """Yield the parts of scratch that a launch for `n` keys uses: name, start, and size in bytes."""
    kernel = sort.kernel(step.kernel)
    p, key, value = kernel.params, sort.key, sort.signature.value_bytes
    capacity, n = n, by.least(n, step.guard.max_n)  # with a device-side count there may be fewer keys
    for buffer, binding in zip(kernel.buffers, step.bindings, strict=True):
        if binding.role != "scratch":
            continue
        size = {"pair": n * pair_bytes(key), "value": n * value, "key": n * key.bytes}.get(buffer.type)
        if step.indirect:
            size = 12 * len(sort.plan.steps)
        elif buffer.name in ("words", "table"):
            assert isinstance(p, radix.Params)
            tiles = by.up(n, p.tile)
            portion = by.choose(n <= portions.whole(p), tiles, by.up(n, portions.count(p) * p.tile))
            rows: Any = 0  # of partitions and buckets: see test_radix_key_buckets
            if kernel.template in LOOKING:
                rows = p.radix * columns(p) * portion
            elif kernel.template.startswith("radix/reduce_scan/"):
                rows = p.radix * columns(p) * by.least(tiles, p.groups)
            size = 4 * words(p).tile_states.start + (0 if kernel.index64 else 4 * rows)
            size = 8 * (p.radix + rows) if buffer.name == "table" else size
        elif buffer.name == "bounds":  # the starts of buckets use the memory of values
            assert isinstance(p, radix.Params)
            size = 4 * (2 * by.buckets(p, n) + 1)
        assert size is not None, (buffer.name, buffer.type)
        kind = "value" if buffer.name == "bounds" else buffer.type
        name = "grids" if step.indirect else kind if kind in ("pair", "value") else buffer.name
        yield name, by.offset(binding, capacity), size


def layout(sort: Sort, step: Step) -> tuple[str, bool, int]:
    """Return the layout of scratch: by algorithm, separately for cooperative radix sorts, and by part of the sort.

    With a device-side count, the steps of several parts are launched, and the kernels of one part run.
    """
    kernel, guard = sort.kernel(step.kernel), step.guard
    parts = (p.min_n for p in sort.parts if p.min_n <= guard.min_n and guard.max_n <= p.max_n)
    return kernel.algorithm, getattr(kernel.params, "STRATEGY", "") == "cooperative", next(parts, -1)


def part_of(sort: Sort, step: Step, name: str, begin: Any) -> str:
    """Return the name of a part under which launches share its memory."""
    if getattr(sort.kernel(step.kernel).params, "path_from", None):  # merge path alternates between two buffers
        return f"{begin} on"
    return "other" if name in ("dealt", "partitioned") else name  # the second buffer of keys, by its uses
