"""Group-by in `hsgen.cuda` and `hsgen.opencl`: reductions of groups of equal keys, which need not be adjacent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hsgen.core.interpreter import options
from hsgen.operations.group_by import OPERATION
from hsgen.runners.arguments import order_name
from hsgen.runners.reduce_by_key import ReductionCalls


class GroupingCalls(ReductionCalls):
    """Checks the arguments of calls that reduce the groups of equal keys; `order` is the order of the groups by key."""

    operation = OPERATION
    attributes = ("key", "value", "order")

    def __init__(self, key: Any, value: Any, order: Any) -> None:
        super().__init__(key, value)
        self.order = order_name(order)
        self.options = options(self.key, self.order)
        turned = self.options.kind > 0 or self.options.descending
        self.signature = OPERATION.signature(replace(self.signature, key_transform=turned))
