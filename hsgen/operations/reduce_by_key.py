"""A reduction by key: for each run of equal adjacent keys, the key, and the sum, minimum or maximum of the values.

The number of keys of each run and the index of its first key are optional outputs.  `Options.reduction`, a number that
the call passes after n, encodes the reduction, the type of values, and which optional outputs the call stores.
"""

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
from hsgen.operations.arguments import COUNT, ONE, SCRATCH, VALUE_TYPE, Arguments, Buffer, Number
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import KINDS, Keys, Make
from hsgen.operations.oracle import ordered, unordered
from hsgen.operations.scan import FLOAT, exact_floats

REDUCTIONS = ("sum", "min", "max")
"""The reductions of values.  In `Options.reduction`, the index of a reduction here is its code."""
VALUE_TYPES = ("u32", "i32", "f32")
"""The types of values.  The index of a type here is its kind (`hsgen.core.keys.Type.kind`)."""
COUNTS, FIRSTS = 16, 32
"""Flags in `Options.reduction`.

COUNTS: the call stores the number of keys of each run.  FIRSTS: the call stores the index of the first key of each run.
"""

Words = NDArray[np.uint32]


def number(reduction: str = "sum", value: str = "u32") -> int:
    """Return the code `Options.reduction` of a call, without the flags for optional outputs, which `settled` adds.

    Raises:
        Usage: the reduction or the type of values does not exist.
    """
    if reduction not in REDUCTIONS:
        raise Usage(f"reduction {reduction}: give {', '.join(REDUCTIONS)}")
    if value not in VALUE_TYPES:
        raise Usage(f"value {value}: values to reduce are {', '.join(VALUE_TYPES)}")
    return REDUCTIONS.index(reduction) | TYPES[value].kind << 2


def starts(keys: Keys) -> NDArray[np.intp]:
    """Return the index of the first key of each run, shape (runs,)."""
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])


def reduced(values: Words, begins: NDArray[np.intp], code: int) -> Words:
    """Return the reduction of the values in each run as 32-bit words, shape (runs,).

    Sums of integers wrap.  Floats are added in the order of the run.  The minimum and the maximum of floats are those
    in the total order of floats (docs/reference/semantics.md).

    values: 32-bit words, shape (n,).
    begins: the index of the first key of each run.
    code: a result of `number`.
    """
    if not len(begins):
        return values[:0]
    kind, reduction = code >> 2 & 3, REDUCTIONS[code & 3]
    if reduction == "sum":
        typed: Any = values.view(np.float32) if kind == FLOAT else values
        return np.add.reduceat(typed, begins, dtype=typed.dtype).view(np.uint32)
    by = ordered(values, kind, descending=False)
    least = (np.minimum if reduction == "min" else np.maximum).reduceat(by, begins)
    return unordered(least, kind, descending=False).astype(np.uint32)


def _lengths(rng: np.random.Generator, n: int, choices: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return lengths of runs, drawn from `choices`; their sum is at least n."""
    lengths = [0]
    while sum(lengths) < n:
        lengths += rng.choice(choices, max(1, n // int(choices.mean()))).tolist()
    return np.array(lengths, np.intp)


def runs(rng: np.random.Generator, n: int, dtype: np.dtype[Any], choices: NDArray[np.intp]) -> Keys:
    """Return n keys in runs, whose lengths are drawn from `choices`.

    The keys of adjacent runs differ in one random bit.
    """
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
"""The functions that make keys in runs, by the name of the kind of input."""


def _at_tiles(keys: Keys, rng: np.random.Generator, tile: int) -> Keys:
    """Return as many keys as `keys` has, in runs that end at a multiple of `tile`, or one key before or after it."""
    n = len(keys)
    ends = np.arange(0, n + tile, tile * int(rng.integers(1, 4)))
    ends = ends + rng.integers(-1, 2, len(ends))
    number = np.searchsorted(np.sort(ends), np.arange(n), side="right")
    return (number + int(rng.integers(0, 200))).astype(keys.dtype)


def reduced_values(run: str, operations: str) -> tuple[Number | Buffer, ...]:
    """Return the arguments `reduction`, `value_type`, `keys` and `values` of a call.

    run: the noun in comments for keys that are reduced together: "run" or "group".
    operations: the noun in comments for the operations that have these arguments, such as "reductions".
    """
    return (
        Number(
            name="reduction",
            meaning=f"of the values of a {run}",
            type="hs_reduction",
            call="hn_reduction(call)",
            javascript="reduction",
            about="The sum by default.",
            choices=REDUCTIONS,
        ),
        VALUE_TYPE,
        Buffer(name="keys", role="source"),
        Buffer(
            name="values",
            role="values",
            meaning=f"the value of each key, for {operations} with values (--value v4)",
            about="The values to reduce.",
        ),
    )


def _stored(name: str, role: str, meaning: str, about: str) -> Buffer:
    """Return an argument for an optional output, which consists of 32-bit numbers."""
    return Buffer(
        name=name, role=role, meaning=meaning, words=True, written=True, optional=True, python=name, about=about
    )


def _groups(run: str, operations: str) -> tuple[Buffer, ...]:
    """Return the arguments that receive the number of runs, and the key and the reduction of each run.

    run, operations: nouns, as in `reduced_values`.
    """
    return (
        Buffer(
            name="group_count",
            role="report",
            meaning=f"a 32-bit number: the {run}s",
            words=True,
            single=True,
            written=True,
            length=ONE,
            python="groups",
            about=f"Receives the number of {run}s, a 32-bit word.",
        ),
        Buffer(
            name="group_keys",
            role="destination",
            meaning=f"the key of each {run}",
            written=True,
            about=f"Receives the key of each {run}.",
        ),
        Buffer(
            name="group_values",
            role="values_out",
            meaning=f"the reduction of the values of each {run}, for {operations} with values",
            written=True,
            about=f"Receives the sum, the least or the greatest of the values of each {run}.",
        ),
    )


def outputs(run: str, operations: str = "reductions", place: str = "") -> tuple[Buffer, ...]:
    """Return the arguments that receive results.

    run, operations: nouns, as in `reduced_values`.
    place: the last words of the comment on the indices of first keys, which name the array that they index.
    """
    return (
        *_groups(run, operations),
        _stored(
            "counts",
            "other",
            f"a 32-bit number for each {run}: its keys; null: not stored",
            f"Receives the number of keys of each {run}, as 32-bit words.",
        ),
        _stored(
            "first_indices",
            "other_values",
            f"the same: the index of its first key{place}; null: not stored",
            f"Receives the index of the first key of each {run}{place}, as 32-bit words.",
        ),
    )


class Reduction(Operation):
    """The operation that reduces each run of equal adjacent keys among n keys."""

    name, noun, c_kind = "reduce_by_key", "reduction by key", "HS_REDUCE_BY_KEY"
    c_number = 6
    arguments = Arguments(
        about="The runs of equal adjacent keys (HS_REDUCE_BY_KEY), in their order: of sorted keys, the groups of all "
        "equal keys.  Keys are equal if their bits are.  All outputs have room for n elements; `group_count` gets"
        " how many were written.",
        members=(
            Number(name="n", meaning="keys; with `count` the capacity, below 2^30"),
            *reduced_values("run", "reductions"),
            COUNT,
            *outputs("run"),
            SCRATCH,
        ),
        number="hs_reduction_number({reduction}, hs_value_type({sort}, {value_type}), {has_counts}, "
        "{has_first_indices})",
        javascript="Reductions of runs of equal adjacent keys: docs/guides/reduce-by-key.md.",
    )
    order = 5
    report = 1, 0
    kinds = RUNS
    timed = True
    workload = "runs"
    tuned = replace(PLAIN, value="v4")
    value_types = VALUE_TYPES

    def signature(self, signature: Signature) -> Signature:
        """Return a signature without a key transform, because keys of every type are equal if their bits are equal."""
        valued = signature.value_bytes > 0 and not signature.index
        value = signature.value if valued else "none"
        return replace(PLAIN, value=value, floats=value != "none", device_count=signature.device_count)

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """Return the signature without a key transform, which supports keys of every type.

        If there are values, kernels calculate with floats, because each call states the type of its values.
        """
        return replace(signature, key_transform=False, floats=signature.value != "none")

    def serves(self, sort: Sort, key: Type) -> bool:
        """Whether the type `key` has the sort's key width; all types of that width are supported."""
        return key.key == sort.label

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Return the options with the flags `COUNTS` and `FIRSTS` in `reduction`, if the call passes these outputs.

        With a device-side count, `reduction` also gets the flag DEVICE_COUNT.  The argument of the kernels has no other
        flags, because it is just the number `reduction` (`hsgen.core.plan.CallNumber`).
        """
        stored = COUNTS * ("other" in roles) | FIRSTS * ("other_values" in roles) | DEVICE_COUNT * options.device_count
        return replace(options, reduction=options.reduction & 15 | stored)

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """Return the bytes per key of the outputs for counts and for indices of first keys, by role.

        The roles are those of inputs in other operations.
        """
        return {"other": 4, "other_values": 4}

    def turn(self, options: Options, number: int, n: int, block: int) -> Options:
        """Return the options of validation case `number`, with its reduction, type of values and optional outputs.

        Consecutive numbers go through all reductions, all types, and all combinations of optional outputs.
        """
        stored = (COUNTS | FIRSTS, COUNTS | FIRSTS, COUNTS, FIRSTS, 0)[number % 5]
        return replace(options, reduction=number % 3 | number // 3 % 3 << 2 | stored)

    def second(self, options: Options, n: int) -> Options | None:
        """Return the options with the next reduction and no device-side count, because no reduction is in place."""
        return replace(options, reduction=options.reduction & ~3 | (options.reduction + 1 & 3) % 3, device_count=False)

    def reported(self, options: Options) -> list[str]:
        """Return a phrase with the reduction and the type of values."""
        return [f"{REDUCTIONS[options.reduction & 3]} of {VALUE_TYPES[options.reduction >> 2 & 3]}"]

    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a call on `keys`, or in a fifth of all cases on as many keys in runs that end near tile boundaries.

        If the call adds floats, their sums are exact in any order.
        """
        if rng.integers(5) == 0:
            keys = _at_tiles(keys, rng, int(getattr(sort.parts[0].params, "tile", 64)))
        return self._reduced(sort, keys, options, count, rng)

    def _reduced(self, sort: Sort, keys: Keys, options: Options, count: int | None, rng: np.random.Generator) -> Call:
        """Return a call that reduces the runs of `keys`, with random values."""
        n = len(keys) if count is None else min(count, len(keys))
        begins, values, expected = starts(keys[:n]), None, None
        if sort.signature.value_bytes:
            drawn = rng.integers(0, 1 << 32, len(keys), np.uint32)
            exact = options.reduction & 15 == number("sum", "f32")
            values = (exact_floats(drawn, 1) if exact else drawn).reshape(-1, 1)
            expected = reduced(values[:n, 0], begins, options.reduction).reshape(-1, 1)
        return Call(
            n=len(keys),
            keys=keys,
            expected=keys[begins],
            in_place=False,
            values=values,
            values_expected=expected,
            how=options,
            count=count,
            report=np.array([len(begins)], np.uint32),
            counts=np.diff(begins, append=n).astype(np.uint32) if options.reduction & COUNTS else None,
            firsts=begins.astype(np.uint32) if options.reduction & FIRSTS else None,
        )

    def typical(self, n: int) -> tuple[tuple[str, Options], ...]:
        """Return three kinds of input for `load`, which sorts it: most runs are short, of all lengths, or long."""
        return tuple((kind, Options()) for kind in ("random", "zipf", "few distinct"))

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return a workload that sums the values of each run of the sorted keys; without values, it counts keys."""
        keys = np.sort(keys)
        begins = starts(keys)
        if values is None:
            after = np.diff(begins, append=len(keys)).astype(np.uint32)
        else:
            after = reduced(np.ascontiguousarray(values[:, 0]), begins, options.reduction)
        return Load(
            keys=keys,
            values=values,
            expected=keys[begins],
            values_expected=after.reshape(-1, 1),
            how=options,
            count=len(keys),
            report=np.array([len(begins)], np.uint32),
            counts=values is None,
            room=len(keys),  # outputs must have room for n runs, because only the device knows the number of runs
        )


OPERATION = Reduction()
