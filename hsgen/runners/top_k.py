"""Selections in `hsgen.cuda` and `hsgen.opencl`: the keywords of `TopK` for numbers per row, such as lengths, and the
checks of a call's arguments.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, TypedDict

from hsgen.core.interpreter import Options
from hsgen.operations.top_k import OPERATION
from hsgen.runners.base import Calls
from hsgen.runners.row_numbers import keywords


class Features(TypedDict, total=False):
    """The keywords by which users create a `TopK`: True for a keyword means that each call passes an array of such
    numbers in device memory.

    lengths: the length of each row.
    starts: the start and the length of each row.
    takes: the number of keys to select from each row.
    row_count: a single number, the number of rows, which calls pass as `count`.
    value_starts: the index of the first value of each row, as for values in a page table.
    """

    lengths: bool
    starts: bool
    takes: bool
    row_count: bool
    value_starts: bool


class Numbers(TypedDict, total=False):
    """The keywords of calls of `TopK`: arrays in device memory, with a 32-bit number for each row.

    lengths: the number of keys of each row, at most n / rows.
    starts: the index of the first key of each row; by default, row i begins at i * n / rows.
    takes: the number of keys to select from each row, at most k.  The rest of the row's k results is filled with the
    key that is last in the order, and with values whose bits are all 1.
    count: a single number, the number of rows.  Later rows are neither read nor written.
    value_starts: the index of the first value of each row.  The value of key i of a row has the index
    ``value_starts[row] + i``.
    """

    lengths: Any
    starts: Any
    takes: Any
    count: Any
    value_starts: Any


_FEATURES = {"lengths": "row_lengths", "starts": "row_starts", "takes": "row_takes"}
"""Maps keywords of `Features` to fields of `Signature`; a keyword that is absent here has the name of its field."""


class TopKCalls(Calls):
    """Checks the arguments of calls that select the first keys of rows; `features` states which arrays of numbers per
    row a call passes.
    """

    operation = OPERATION
    verb, done = "select", "selected"
    hint = ", and the rows as rows={rows}"

    def __init__(self, key: Any, value: Any, order: Any, features: Features) -> None:
        named = keywords(features, Features.__annotations__)
        on = {_FEATURES.get(name, name): bool(use) for name, use in named.items()}
        on["row_lengths"] = on.get("row_lengths", False) or on.get("row_starts", False)
        super().__init__(key, value, order, **on)

    def arrays(self, numbers: Numbers, **arrays: Any) -> tuple[Any, ...]:
        """Return the arrays of a call in the order of `roles`.

        numbers, arrays: the arrays, by the names of the caller's arguments.
        """
        by_name = {**arrays, **keywords(numbers, Numbers.__annotations__)}
        return tuple(by_name.get(self.names[role]) for role in self.roles)

    def check_given(self, present: Container[str]) -> None:
        """See `Calls`; a call must have exactly those arrays of numbers per row that the selection was made for."""
        switches = {feature: name for name, feature in _FEATURES.items()}
        for role, buffer in self.buffers.items():
            if not (feature := buffer.feature):
                continue
            name, has, switch = self.names[role], getattr(self.sort.signature, feature), switches.get(feature, feature)
            if role in present and not has:
                raise ValueError(f"{name} is given; make the selection with {switch}=True")
            if role not in present and has:
                raise ValueError(f"{name} is missing: this selection has {switch}=True")
        super().check_given(present)

    def length(self, role: str, n: int, options: Options) -> int:
        """See `Calls`; if n is 0, a call uses no items.

        If the call passes the starts of rows, rows may overlap, so the source may have fewer than n items.  The starts
        are known only on the device, so the host checks only for one item: the result is 1.
        """
        signature = self.sort.signature
        anywhere = role == "source" and signature.row_starts
        anywhere |= role == "values" and (signature.row_starts or signature.value_starts)
        return min(n, 1) if anywhere else super().length(role, n, options) if n else 0
