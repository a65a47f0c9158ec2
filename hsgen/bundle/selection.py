"""The sorts of a target that a choice names, and which of the targets get which APIs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from hsgen.algorithms import operation
from hsgen.bundle.manifest import COMPANIONS, Choice
from hsgen.core.errors import Usage
from hsgen.core.keys import PLAIN, TYPES, Signature, described
from hsgen.core.sort import Sort
from hsgen.targets.target import AUTO, Target


def shared_out(apis: Sequence[str], targets: Sequence[Target]) -> list[tuple[str, ...]]:
    """Return for each target those of the named APIs that it has; nothing where none is named.

    Raises:
        Usage: an API that none of the targets has, or a target that has none of the APIs.
    """
    for api in apis:
        if targets and not any(api in t.apis for t in targets):
            every = ", ".join(dict.fromkeys(a for t in targets for a in t.apis))
            one = f"target {targets[0].name}: has no api {api}; it has {every}"
            raise Usage(one if len(targets) == 1 else f"api {api}: no named target has it; they have {every}")
    for target in targets:
        if apis and not set(apis) & set(target.apis):
            raise Usage(f"target {target.name}: has no api {' or '.join(apis)}; it has {', '.join(target.apis)}")
    return [tuple(api for api in apis if api in t.apis) for t in targets]


def sorts(target: Target, choice: Choice, needed: Iterable[str] = ()) -> list[Sort]:
    """Return the sorts of `target` that `choice` names, in a fixed order.

    Each algorithm is made for every width and value of the choice that it goes with: algorithms for the widths that
    they have tables for, packed words for keys of 32 bits, prefix sums for plain elements; and with the sort for any
    count the one that the target has compiled first.  The types of keys in
    `needed` must be among what is sorted.

    Raises:
        Usage: one of the sorts is not served; an algorithm, a value or a type that is needed goes with nothing else.
    """
    made: dict[str, Sort] = {}
    used: set[str] = set()
    for label, width, value in _asked(target, choice):
        signature = operation(label).signature(choice.signature(value))
        for key in operation(label).types(choice.keys, width):
            of = (key, signature, choice.max_n)
            sort = target.default(*of) if label == AUTO else target.sort(label, *of)
            first = _first(target, *of) if label == AUTO and not sort.plan.device_status else None
            made.setdefault(sort.file, replace(sort, first=first.file) if first else sort)
            if first:
                made.setdefault(first.file, first)
        used |= {label, width, value}
    _refuse(target, choice, used, needed)
    return list(made.values())


def _first(target: Target, key: str, signature: Signature, max_n: int) -> Sort | None:
    """Return the sort that serves calls while the kernels of the sort for any count are compiled; None if the target
    names none, or none that serves the signature.  A sort that reports a status has none, since the other reports
    none."""
    label = target.firsts.get(target.keys_of("u64" if signature.value == "packed" else TYPES[key].key))
    try:
        return target.sort(label, key, signature, max_n) if label else None
    except Usage:
        return None


def _refuse(target: Target, choice: Choice, used: set[str], needed: Iterable[str]) -> None:
    """Refuse a choice in which a value, an algorithm or a type that is needed is not `used`."""
    where, keys, labels = f"target {target.name}", ", ".join(choice.keys), ", ".join(_named(choice))
    values = f" with value {', '.join(choice.values)}" if choice.values != ("none",) else ""
    have = "`hsgen targets` lists what it has"
    plain_only = [operation(label).plain_only for label in _named(choice)]
    if all(plain_only):
        asked = [described(signature) for signature in map(choice.untyped, choice.values) if signature != PLAIN]
        if asked:
            raise Usage(f"{where}: {labels} {plain_only[0]} plain elements alone, not {keys} {asked[0]}; name a sort")
    if "packed" in set(choice.values) - used:
        raise Usage(f"{where}: value packed goes with keys of 32 bits and tables of u64, not with {labels} for {keys}")
    for label in (a for a in _named(choice) if a not in used):
        raise Usage(f"{where}: has no {label} for {keys}{values}; {have}")
    for key in (k for k in needed if TYPES[k].key not in used):
        raise Usage(f"{where}: has no {labels} for {key}{values}; {have}")


def _named(choice: Choice) -> tuple[str, ...]:
    """The algorithms of a choice that its user thinks of: digests come along with others."""
    return tuple(a for a in choice.algorithms if a not in COMPANIONS) or choice.algorithms


def _asked(target: Target, choice: Choice) -> Iterator[tuple[str, str, str]]:
    """The labels, widths and values of a choice that go with each other."""
    pairs = product(choice.algorithms, choice.widths)
    more = [(a, w, v) for a, w in pairs for v in operation(a).more_values(choice.values)]
    for label, width, value in (*product(choice.algorithms, choice.widths, choice.values), *more):
        if value == "packed" and width != "u32":
            continue
        if operation(label).plain_only and value != "none":
            continue
        without_tables = (*target.implicit(width), *target.derived(width))
        if label in (AUTO, *target.labels("u64" if value == "packed" else width), *without_tables):
            yield label, width, value
