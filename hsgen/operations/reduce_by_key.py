"""For each run of equal adjacent keys its key, its count, the index of its first key, and a reduction of its values."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import Usage
from hsgen.core.flags import DEVICE_COUNT
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, TYPES, Signature, Type
from hsgen.core.sort import Sort
from hsgen.operations.arguments import SCRATCH, Arguments, Buffer, Number
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import KINDS, Keys, Make
from hsgen.operations.oracle import ordered, unordered
from hsgen.operations.scan import FLOAT, exact_floats

REDUCTIONS = ("sum", "min", "max")
"""The reductions of values, in the order of their numbers."""
VALUE_TYPES = ("u32", "i32", "f32")
"""The types of values, by kind (`hsgen.core.keys.Type`)."""
COUNTS, FIRSTS = 16, 32
"""The flags of a call that stores counts, and of one that stores the indices of first keys."""

Words = NDArray[np.uint32]


def number(reduction: str = "sum", value: str = "u32") -> int:
    """Return the number of a call that reduces values of a type; what it stores is added by `settled`.

    Raises:
        Usage: there is no such reduction, or none of values of this type.
    """
    if reduction not in REDUCTIONS:
        raise Usage(f"reduction {reduction}: give {', '.join(REDUCTIONS)}")
    if value not in VALUE_TYPES:
        raise Usage(f"value {value}: values to reduce are {', '.join(VALUE_TYPES)}")
    return REDUCTIONS.index(reduction) | TYPES[value].kind << 2


def starts(keys: Keys) -> NDArray[np.intp]:
    """Return the indices of the first keys of runs, shape (groups,)."""
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])


def reduced(values: Words, begins: NDArray[np.intp], how: int) -> Words:
    """Return the reduction of the values of each run, shape (groups,): 32-bit words, as the values, shape (n,).

    begins: the indices of the first keys of runs.  how: a number of `number`.  Integers wrap.  Floats are added from
    the first to the last; their least and greatest are those of the total order.
    """
    if not len(begins):
        return values[:0]
    kind, reduction = how >> 2 & 3, REDUCTIONS[how & 3]
    if reduction == "sum":
        typed: Any = values.view(np.float32) if kind == FLOAT else values
        return np.add.reduceat(typed, begins, dtype=typed.dtype).view(np.uint32)
    by = ordered(values, kind, descending=False)
    least = (np.minimum if reduction == "min" else np.maximum).reduceat(by, begins)
    return unordered(least, kind, descending=False).astype(np.uint32)


def _lengths(rng: np.random.Generator, n: int, choices: NDArray[np.intp]) -> NDArray[np.intp]:
    """Lengths of runs, drawn from `choices`, that cover n keys."""
    found = [0]
    while sum(found) < n:
        found += rng.choice(choices, max(1, n // int(choices.mean()))).tolist()
    return np.array(found, np.intp)


def runs(rng: np.random.Generator, n: int, dtype: np.dtype[Any], choices: NDArray[np.intp]) -> Keys:
    """Return n keys in runs of these lengths; adjacent runs differ, in one bit of any significance."""
    lengths = _lengths(rng, n, choices)
    bits = dtype.type(1) << rng.integers(0, 8 * dtype.itemsize, len(lengths)).astype(dtype)
    return np.repeat(np.bitwise_xor.accumulate(bits), lengths)[:n].astype(dtype)


def _of(*lengths: int) -> Make:
    choices = np.array(lengths, np.intp)
    return lambda rng, n, dtype: runs(rng, n, dtype, choices)


RUNS: dict[str, Make] = {
    "short runs": _of(1, 1, 2, 3, 5),
    "all equal": KINDS["all equal"],
    "all different": _of(1),
    "runs of 1 to 300": _of(*range(1, 301)),
    "few keys": lambda rng, n, dtype: rng.integers(0, 3, n, dtype),
    "powers of two +- 1": _of(*(x + d for x in (4, 16, 64, 256, 1024, 4096) for d in (-1, 0, 1))),
    "long runs": _of(1, 5000, 20000, 100000),
}
"""The kinds of input of a reduction by key."""


def _at_tiles(keys: Keys, rng: np.random.Generator, tile: int) -> Keys:
    """Runs that end at multiples of a tile, or one key before or after."""
    n = len(keys)
    ends = np.arange(0, n + tile, tile * int(rng.integers(1, 4)))
    ends = ends + rng.integers(-1, 2, len(ends))
    number = np.searchsorted(np.sort(ends), np.arange(n), side="right")
    return (number + int(rng.integers(0, 200))).astype(keys.dtype)


class Reduction(Operation):
    """The runs of n keys."""

    name, noun, c_kind = "reduce_by_key", "reduction by key", "HS_REDUCE_BY_KEY"
    c_number = 6
    arguments = Arguments(
        about="The runs of equal adjacent keys (HS_REDUCE_BY_KEY), in their order: of sorted keys, the groups of all "
        "equal keys.  Keys are equal if their bits are.  All outputs have room for n elements; `group_count` gets"
        " how many were written.",
        members=(
            Number(name="n", meaning="keys; with `count` the capacity, below 2^30"),
            Number(name="reduction", meaning="of the values of a run", type="hs_reduction", call="hn_reduction(call)"),
            Number(
                name="value_type",
                meaning='HS_U32, HS_I32 or HS_F32; 0: as matched, and for "v4" HS_U32',
                type="hs_type",
                call="hn_reduced(call)",
            ),
            Buffer(name="keys", role="source"),
            Buffer(
                name="values", role="values", meaning="the value of each key, for reductions with values (--value v4)"
            ),
            Buffer(
                name="count",
                role="count",
                meaning="the device-side count, 32 bits, at most n counts; null: n keys",
                words=True,
                single=True,
            ),
            Buffer(
                name="group_count",
                role="report",
                meaning="a 32-bit number: the runs",
                words=True,
                single=True,
                written=True,
            ),
            Buffer(name="group_keys", role="destination", meaning="the key of each run", written=True),
            Buffer(
                name="group_values",
                role="values_out",
                meaning="the reduction of the values of each run, for reductions with values",
                written=True,
            ),
            Buffer(
                name="counts",
                role="other",
                meaning="a 32-bit number for each run: its keys; null: not stored",
                words=True,
                written=True,
            ),
            Buffer(
                name="first_indices",
                role="other_values",
                meaning="the same: the index of its first key; null: not stored",
                words=True,
                written=True,
            ),
            SCRATCH,
        ),
        number="hs_reduction_number({reduction}, hs_value_type({sort}, {value_type}), {has_counts}, "
        "{has_first_indices})",
    )
    order = 5
    report = 1, 0
    kinds = RUNS
    timed = True
    workload = "runs"
    tuned = replace(PLAIN, value="v4")
    value_types = VALUE_TYPES

    def signature(self, signature: Signature) -> Signature:
        """See `Operation`: equal keys have equal bits, of every type."""
        valued = signature.value_bytes > 0 and not signature.index
        value = signature.value if valued else "none"
        return replace(PLAIN, value=value, floats=value != "none", device_count=signature.device_count)

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """See `Operation`."""
        return replace(signature, key_transform=False, floats=signature.value != "none")

    def serves(self, sort: Sort, key: Type) -> bool:
        """See `Operation`: keys of any type of the width."""
        return key.key == sort.label

    def settled(self, n: int, how: Options, given: Container[str]) -> Options:
        """See `Operation`: counts and indices are stored if there are buffers for them.

        The flag of a device-side count is in the number, since the number of a call is without flags.
        """
        wanted = COUNTS * ("other" in given) | FIRSTS * ("other_values" in given) | DEVICE_COUNT * how.device_count
        return replace(how, reduction=how.reduction & 15 | wanted)

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """See `Operation`: outputs, counts and indices of first keys."""
        return {"other": 4, "other_values": 4}

    def turn(self, how: Options, number: int, n: int, block: int) -> Options:
        """See `Operation`: every reduction of every type, and every choice of what is stored."""
        stored = (COUNTS | FIRSTS, COUNTS | FIRSTS, COUNTS, FIRSTS, 0)[number % 5]
        return replace(how, reduction=number % 3 | number // 3 % 3 << 2 | stored)

    def second(self, how: Options, n: int) -> Options | None:
        """See `Operation`: no reduction is in place; the second case has the next reduction."""
        return replace(how, reduction=how.reduction & ~3 | (how.reduction + 1 & 3) % 3, device_count=False)

    def reported(self, how: Options) -> list[str]:
        """See `Operation`."""
        return [f"{REDUCTIONS[how.reduction & 3]} of {VALUE_TYPES[how.reduction >> 2 & 3]}"]

    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return the call on these keys, or on runs that end around multiples of a tile; sums of floats are exact."""
        if rng.integers(5) == 0:
            keys = _at_tiles(keys, rng, int(getattr(sort.parts[0].params, "tile", 64)))
        return self._reduced(sort, keys, how, count, rng)

    def _reduced(self, sort: Sort, keys: Keys, how: Options, count: int | None, rng: np.random.Generator) -> Call:
        """The call on these keys with random values."""
        n = len(keys) if count is None else min(count, len(keys))
        begins, values, expected = starts(keys[:n]), None, None
        if sort.signature.value_bytes:
            drawn = rng.integers(0, 1 << 32, len(keys), np.uint32)
            exact = how.reduction & 15 == number("sum", "f32")
            values = (exact_floats(drawn, 1) if exact else drawn).reshape(-1, 1)
            expected = reduced(values[:n, 0], begins, how.reduction).reshape(-1, 1)
        return Call(
            n=len(keys),
            keys=keys,
            expected=keys[begins],
            in_place=False,
            values=values,
            values_expected=expected,
            how=how,
            count=count,
            report=np.array([len(begins)], np.uint32),
            counts=np.diff(begins, append=n).astype(np.uint32) if how.reduction & COUNTS else None,
            firsts=begins.astype(np.uint32) if how.reduction & FIRSTS else None,
        )

    def typical(self, n: int) -> tuple[tuple[str, Options], ...]:
        """See `Operation`: sums of runs of one key, of a few runs of all lengths, and of long runs."""
        return tuple((kind, Options()) for kind in ("random", "zipf", "few distinct"))

    def load(self, sort: Sort, keys: Keys, values: NDArray[Any] | None, how: Options, rng: np.random.Generator) -> Load:
        """Return the keys sorted, with the sums of their values; without values, with the counts of runs."""
        keys = np.sort(keys)
        begins = starts(keys)
        if values is None:
            after = np.diff(begins, append=len(keys)).astype(np.uint32)
        else:
            after = reduced(np.ascontiguousarray(values[:, 0]), begins, how.reduction)
        return Load(
            keys=keys,
            values=values,
            expected=keys[begins],
            values_expected=after.reshape(-1, 1),
            how=how,
            count=len(keys),
            report=np.array([len(begins)], np.uint32),
            counts=values is None,
            room=len(keys),  # as calls require, since only the device knows how many runs there are
        )


OPERATION = Reduction()
