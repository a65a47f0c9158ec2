"""OpenCL signatures for kernels in other languages, which can then run as C++ for OpenCL 2021."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hsgen.core.kernels import Kernel
from hsgen.tree.nodes import Block, Function, Plain, Statement
from hsgen.tree.printing import text as printed
from hsgen.tree.reading import read
from hsgen.tree.walking import leading, spaced, statements

OPTION = "-cl-std=CLC++2021"


def functions(text: str, change: Callable[[Function], Function]) -> str:
    """Return a kernel text in which `change` has replaced each function."""
    tree = read(text)
    return printed(statements(tree, lambda x: change(x) if isinstance(x, Function) else x))


def framed(head: str, function: Function, body: Sequence[Statement]) -> Function:
    """Return a function with the signature and the first statements of the text `head`, followed by `body`.

    function: the function that the result replaces.  The white space and comments before `function` and before its
    closing brace are also in the result.
    """
    *first, framed_function = read(head).body  # the parser returns each attribute as a separate statement
    assert isinstance(framed_function, Function)
    words = [w for x in first if isinstance(x, Plain) for w in x.words]
    block = Block(framed_function.body.open, [*framed_function.body.body, *body], function.body.close)
    return Function(spaced([*words, *framed_function.head], leading(function.head[0])), block)


def attributes(kernel: Kernel) -> str:
    """Return the attributes of a kernel in OpenCL C: its subgroup width and its work-group size."""
    width = f"__attribute__((intel_reqd_sub_group_size({kernel.subgroup})))\n" if kernel.subgroup > 1 else ""
    return f"{width}__attribute__((reqd_work_group_size({kernel.work_group}, 1, 1)))\n"
