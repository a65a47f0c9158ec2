"""Groupings in the Python APIs: reductions by key, for keys in any order; the groups have an order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hsgen.core.interpreter import options
from hsgen.core.keys import Signature
from hsgen.operations.group_by import OPERATION
from hsgen.runners.arguments import order_name
from hsgen.runners.reduce_by_key import ReductionCalls


class GroupingCalls(ReductionCalls):
    """Calls of a reduction of the groups of equal keys, with the arrays of a reduction of runs."""

    _operation = OPERATION.name
    _attributes = ("key", "value", "order")

    def _grouping(self, key: Any, value: Any, order: str) -> Signature:
        """Store the types of keys and values, and the order; return the signature of their grouping."""
        signature = self._signature(key, value, device_count=False)
        self.order = order_name(order)
        self._how = options(self.key, self.order)
        turned = self._how.kind > 0 or self._how.descending
        return OPERATION.signature(replace(signature, key_transform=turned))
