"""Uniform control flow around barriers, in a form that WGSL's uniformity analysis accepts.

A kernel is correct only if all lanes of a work-group agree on the conditions around a barrier.  A WGSL compiler must
also be able to prove it.  The compiler takes a value from memory for uniform only if ``workgroupUniformLoad`` returned
it.  If the compiler could not prove that a condition is uniform, `share` marks the condition as shared, or a variable
on which the condition depends.  In the printed kernel, one lane broadcasts the value of what is shared.
"""

from __future__ import annotations

from collections.abc import Iterator

from hsgen.emit.wgsl.expressions import ATOMICS
from hsgen.emit.wgsl.tree import (
    BOOL,
    I32,
    U32,
    Assign,
    Call,
    Declare,
    Element,
    Evaluate,
    Expr,
    Function,
    If,
    Lacking,
    Leave,
    Loop,
    Member,
    Name,
    Return,
    Stmt,
    Var,
    inside,
    refuse,
    statements,
    walk,
)

_BARRIERS = frozenset({"workgroupBarrier", "storageBarrier"})
_SUBGROUP = frozenset({"subgroupBarrier"})
"""The barriers of a subgroup, which become barriers of the work-group in WGSL.

In the C text, only the lanes of a subgroup need to agree on the conditions around such a barrier.
"""
_VARYING = ("local_invocation_index", "subgroup_invocation_id")


def share(kernel: Function) -> None:
    """Mark the conditions and variables to broadcast, so that compilers can prove uniform control flow at all barriers.

    Raises:
        Unsupported: a function that the kernel calls has a barrier.
        Lacking: the lanes of a work-group may disagree on a condition around a subgroup barrier.
    """
    for function in kernel.calls:
        if _has_barrier(function.body, _BARRIERS | _SUBGROUP):
            refuse(f"{function.name} has a barrier; only kernels may")
    lets = {
        s.var: s
        for s in statements(kernel.body)
        if isinstance(s, Declare) and s.value is not None and not s.var.written
    }
    while True:
        proven, agreed = Flow(kernel.body, False), Flow(kernel.body, True)
        unproven = next((s for s in _deciding(kernel.body, False, False) if proven.varies(s)), None)
        if unproven is None:
            break
        let = _origin(_condition(unproven), lets, proven, agreed)
        (unproven if let is None else let).shared = True
    for stmt in statements(kernel.body):  # a broadcast may be unnecessary because of others that were added after it
        if isinstance(stmt, (Declare, If, Loop)) and stmt.shared:
            stmt.shared = False
            flow = Flow(kernel.body, False)
            stmt.shared = any(flow.varies(s) for s in _deciding(kernel.body, False, False))
    flow = Flow(kernel.body, False)
    for stmt in _deciding(kernel.body, False, False, _BARRIERS | _SUBGROUP):
        if flow.varies(stmt):
            raise Lacking("barriers of subgroups", stmt.line)


def _is_barrier(stmt: Stmt, names: frozenset[str]) -> bool:
    match stmt:
        case Evaluate(call=Call(name=name)):
            return name in names
        case Declare(shared=shared) | If(shared=shared) | Loop(shared=shared):
            return shared
    return False


def _has_barrier(body: list[Stmt], names: frozenset[str]) -> bool:
    return any(_is_barrier(stmt, names) for stmt in statements(body))


def _condition(stmt: If | Loop) -> Expr:
    assert stmt.condition is not None
    return stmt.condition


def _leaves(body: list[Stmt]) -> bool:
    """Whether `body`, statements of a loop, contains a `break` or `continue` for this loop."""
    return any(isinstance(s, Leave) or (not isinstance(s, Loop) and any(map(_leaves, inside(s)))) for s in body)


def _deciding(body: list[Stmt], after: bool, looping: bool, names: frozenset[str] = _BARRIERS) -> Iterator[If | Loop]:
    """Yield the branches and loops whose conditions decide which lanes reach a barrier of `names`.

    after: whether a barrier follows the statements `body`.
    looping: whether the loop around the statements contains a barrier.
    """
    for at, stmt in enumerate(body):
        later = after or _has_barrier(body[at + 1 :], names)
        returns = later and any(isinstance(s, Return) for s in statements([stmt]))
        if isinstance(stmt, Loop):
            within = _has_barrier([*stmt.body, *stmt.step], names)
            if (within or returns) and stmt.condition is not None:
                yield stmt
            yield from _deciding(stmt.begin, later or within, looping, names)
            yield from _deciding(stmt.body, later or within, within, names)
            continue
        if isinstance(stmt, If) and (
            _has_barrier([*stmt.yes, *stmt.no], names) or returns or (looping and _leaves([stmt]))
        ):
            yield stmt
        for part in inside(stmt):
            yield from _deciding(part, later, looping, names)


def _origin(condition: Expr, lets: dict[Var, Declare], proven: Flow, agreed: Flow) -> Declare | None:
    """Return the earliest declaration on which a condition depends, and whose value is uniform without a proof.

    Return None if there is no such declaration.
    lets: the declarations of variables that are not assigned to later.
    proven, agreed: the analyses without and with the assumption that loads from a uniform address agree.
    """
    for e in walk(condition):
        if isinstance(e, Name) and e.var in proven.varying and e.var not in agreed.varying and e.var in lets:
            let = lets[e.var]
            assert let.value is not None
            earlier = _origin(let.value, lets, proven, agreed)
            if earlier is not None or e.var.type in (I32, U32, BOOL):
                return earlier or let
    return None


class Flow:
    """An analysis that finds the local variables of a kernel whose values may differ between lanes.

    agreed: whether to take non-atomic loads from a uniform address for uniform.  Without data races, all lanes load the
    same value.
    """

    def __init__(self, body: list[Stmt], agreed: bool) -> None:
        self.agreed = agreed
        self.varying: set[Var] = set()
        self.diverging: set[int] = set()
        size = -1
        while size != len(self.varying) + len(self.diverging):
            size = len(self.varying) + len(self.diverging)
            self._visit(body, False, None)

    def varies(self, stmt: If | Loop) -> bool:
        """Whether the condition of a statement may differ between lanes."""
        return not stmt.shared and stmt.condition is not None and self.differs(stmt.condition)

    def differs(self, e: Expr) -> bool:
        """Whether the value of an expression may differ between lanes."""
        match e:
            case Name(var=var):
                return var.name in _VARYING if var.space == "builtin" else var.space == "private" or var in self.varying
            case Element(var=var, index=index):
                known = var.space == "function" or (self.agreed and not var.atomic)
                return not known or var in self.varying or self.differs(index)
            case Call(name=name, function=function):
                if name in ATOMICS or name.startswith("subgroup"):
                    return True
                if function is not None and any(v.space not in ("uniform", "builtin") for v in function.uses):
                    return True
        return any(map(self.differs, e.parts()))

    def _visit(self, body: list[Stmt], apart: bool, loop: Loop | None) -> None:
        for stmt in body:
            match stmt:
                case Declare(var=var, value=value, shared=shared):
                    if not shared and (apart or (value is not None and self.differs(value))):
                        self.varying.add(var)
                case Assign():
                    self._assign(stmt, apart)
                case Leave() if apart and loop is not None:
                    self.diverging.add(id(loop))
                case Loop():
                    self._visit(stmt.begin, apart, loop)
                    within = apart or id(stmt) in self.diverging or self.varies(stmt)
                    self._visit(stmt.body, within, stmt)
                    self._visit(stmt.step, within, stmt)
                case _:
                    within = apart or (isinstance(stmt, If) and self.varies(stmt))
                    for part in inside(stmt):
                        self._visit(part, within, loop)

    def _assign(self, stmt: Assign, apart: bool) -> None:
        root, at = stmt.target, False
        while isinstance(root, Member):
            root = root.of
        if isinstance(root, Element):
            at = self.differs(root.index)
        if isinstance(root, (Name, Element)) and (apart or at or self.differs(stmt.value)):
            self.varying.add(root.var)
