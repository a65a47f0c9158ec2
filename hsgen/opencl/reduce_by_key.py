"""The runs of equal adjacent keys of pyopencl arrays: build once, reduce many times.

>>> reduce = ReduceByKey(queue.context, "u32", value="f32")
>>> reduce(queue, keys, out=run_keys, groups=number, values=values, values_out=sums)   # returns the event
>>> reduce(queue, keys, out=run_keys, groups=number, values=values, values_out=most, reduction="max", counts=counts)
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hsgen.algorithms import implicit_for
from hsgen.core.interpreter import PLAIN
from hsgen.core.keys import TYPES, Signature
from hsgen.opencl.arguments import host_of
from hsgen.opencl.runner import Runner
from hsgen.operations.reduce_by_key import OPERATION, number
from hsgen.runners.arguments import key_name, serving
from hsgen.runners.base import WRITTEN, Given, alone


class ReduceByKey(Runner):
    """A reduction of runs of equal keys, compiled for a context of one device; see docs/guides/reduce-by-key.md.

    Keys are equal if their bits are.  Scratch memory is kept as in a `hsgen.opencl.sorter.Sorter`.

    Args:
        context, key, target: as of `hsgen.opencl.Sorter`.
        value: the type of values to reduce: "u32", "i32" or "f32", or its numpy type; None for no values.
        device_count: whether calls may take the number of keys from a buffer on the device.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, key type or type of values.
        hsgen.core.errors.Unavailable: the device lacks what the target needs.
        hsgen.core.errors.Wrong: the kernels do not build, or the compiler crashes.
    """

    _noun, _verb, _done = "reduction", "reduce", "reduced"
    _operation = OPERATION.name
    _apart = True
    _required = ("source", "destination", "report")
    _names: Mapping[str, str] = {
        "source": "keys",
        "destination": "out",
        "report": "groups",
        "other": "counts",
        "other_values": "first_indices",
    }
    _written = (*WRITTEN, "other", "other_values")
    _attributes = ("key", "value")

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        *,
        value: Any = None,
        device_count: bool = False,
        target: str | os.PathLike[str] | None = None,
    ) -> None:
        host = host_of(context)
        self.key, self.value = key_name(key), "none" if value is None else key_name(value)
        self._valued = value is not None
        self._number = number(value=self.value if self._valued else "u32")
        signature = OPERATION.signature(Signature(value="v4" if self._valued else "none", device_count=device_count))
        found, sort = serving(host, target, self.key, signature, implicit_for(OPERATION))
        super().__init__(context, host, found, sort, TYPES[self.key].element)
        self._how = PLAIN

    @alone
    def __call__(
        self,
        queue: Any,
        keys: Any,
        *,
        out: Any,
        groups: Any,
        values: Any = None,
        values_out: Any = None,
        reduction: str = "sum",
        counts: Any = None,
        first_indices: Any = None,
        n: int | None = None,
        count: Any = None,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Enqueue the reduction of the runs of the first `n` keys (by default all); return the event of its end.

        `groups` receives the number of runs, one 32-bit number.  The other outputs have room for n elements, of which
        one for each run is written: `out` its key, `values_out` the sum, "min" or "max" of its values, `counts` the
        number of its keys and `first_indices` the index of the first one, both as 32-bit numbers; the last two may be
        omitted.  With `count`, a 32-bit number on the device, there are min(count, n) keys.  All buffers are
        `pyopencl.array.Array` or `pyopencl.Buffer` objects, and none of the inputs is written.

        Raises:
            TypeError: an argument is of a wrong Python type, such as a numpy array.
            ValueError: a missing, unexpected or invalid buffer.
            hsgen.core.errors.Usage: n exceeds `max_n`, or there is no such reduction.
        """
        given = {"source": keys, "destination": out, "values": values, "values_out": values_out, "count": count}
        given |= {"report": groups, "other": counts, "other_values": first_indices}
        self._check_given(given)
        how = replace(self._how, reduction=number(reduction) | self._number, device_count=count is not None)
        return self._run(queue, given, n, wait_for, how)

    def _check_given(self, given: Given) -> None:
        """Refuse unexpected and missing values, and an unexpected count."""
        wanted = dict.fromkeys(("values", "values_out"), self._valued)
        self._check_values(given, wanted, self._noun, f"has values of {self.value}")
        if given["count"] is not None and not self._sort.signature.device_count:
            raise ValueError("count is given; give device_count=True when the reduction is made")

    def _size(self, role: str) -> int:
        """The bytes of one item in the buffer of a role."""
        return 4 if role.startswith("other") else super()._size(role)

    def _elements(self, role: str) -> str:
        """The type that elements of an array must have."""
        if role.startswith("values"):
            return TYPES[self.value if self._valued else "u32"].element
        return "uint32" if role.startswith("other") else super()._elements(role)
