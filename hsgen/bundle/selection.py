"""The sorts of a target that a choice names, and which of the targets get which APIs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from itertools import product

from hsgen.algorithms import DERIVED, EVERY, IMPLICIT, operation
from hsgen.bundle.choosing import COMPANIONS
from hsgen.bundle.manifest import Choice
from hsgen.core.errors import Usage
from hsgen.core.keys import PLAIN, TYPES, Signature, Type, described
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
    they have tables for, packed words for keys of 32 bits; and with the sort for any count the one that the target has
    compiled first.  A sort has all features of the choice.  Another operation has those that it supports, and no
    values if it supports none of the choice's.  The types of keys in `needed` must be among what is sorted.

    Raises:
        Usage: one of the sorts is not served; an algorithm, a value or a type that is needed goes with nothing else.
    """
    made: dict[str, Sort] = {}
    used: set[str] = set()
    of_sorts = [a for a in choice.algorithms if operation(a).by_count or operation(a).accompanies]
    segmented = any(a in EVERY and EVERY[a].TRAITS.segments for a in choice.algorithms)
    for label, width, value in _asked(target, choice, of_sorts):
        signature = operation(label).signature(choice.signature(value))
        if segmented:  # whose features these are
            signature = replace(signature, segment_ends=False, segment_count=False)
        for key in operation(label).types(choice.keys, width):
            of = (key, signature, choice.max_n)
            sort = target.default(*of) if label == AUTO else target.sort(label, *of)
            first = _first(target, *of) if label == AUTO and not sort.plan.device_status else None
            made.setdefault(sort.file, replace(sort, first=first.file) if first else sort)
            if first:
                made.setdefault(first.file, first)
        used |= {label, width, value}
    for label in (a for a in choice.algorithms if a not in of_sorts):
        for width in choice.widths:
            for value, sort in _others(target, choice, label, width):
                made.setdefault(sort.file, sort)
                used |= {label, width, value}
    _refuse(target, choice, used, needed)
    return list(made.values())


def requested(target: Target, choice: Choice, keys: Iterable[str] = ()) -> list[Sort]:
    """Return the sorts of a choice that a user requests by itself, with these types of keys.

    Each name of the choice must be honoured by at least one of its algorithms.

    Raises:
        Usage: none of the algorithms has a value, an order, a feature, the epilogue or a type of keys.
    """
    made, named = sorts(target, choice, keys), _named(choice)
    for option, has in _options(choice, keys):
        if not any(has(sort) for sort in made if _is_named(sort, named)):
            able = [label for label in known(target) if label not in named and _honours(target, choice, label, has)]
            hint = f"{', '.join(able)} {'does' if len(able) == 1 else 'do'}" if able else "omit it"
            verb = "take" if len(named) > 1 else "takes"
            where = f"target {target.name}: {', '.join(named)} for {', '.join(choice.keys)}"
            raise Usage(f"{where} {verb} no {option}; {hint}")
    return made


Has = Callable[[Sort], bool]
"""Whether a sort honours an option."""


def _options(choice: Choice, keys: Iterable[str]) -> Iterator[tuple[str, Has]]:
    """The options of a choice that are no defaults."""
    for value in choice.values:
        if value != "none":
            yield f"value {value}", lambda sort, value=value: sort.signature.value == value  # type: ignore[misc]
    if "descending" in choice.orders:
        yield "descending order", lambda sort: sort.signature.key_transform
    for name in choice.features:
        yield f"feature {name}", lambda sort, name=name: name in sort.signature.features  # type: ignore[misc]
    if choice.epilogue:
        yield "epilogue", lambda sort: bool(sort.signature.epilogue)
    for key in keys:
        yield f"key {key}", lambda sort, key=TYPES[key]: _sorts(sort, key)  # type: ignore[misc]


def _sorts(sort: Sort, key: Type) -> bool:
    """Whether calls of a sort may have keys of a type."""
    packed = sort.signature.value == "packed" and TYPES[key.name].key == "u32"
    return packed or operation(sort.algorithm).serves(sort, key)


def _is_named(sort: Sort, named: Sequence[str]) -> bool:
    """Whether a sort is of the named algorithms; without a choice by count, the sort for any count is another one."""
    return sort.algorithm in named or (AUTO in named and operation(sort.algorithm).by_count)


def _honours(target: Target, choice: Choice, label: str, has: Has) -> bool:
    """Whether an algorithm alone honours an option of a choice."""
    try:
        return any(has(sort) for sort in sorts(target, replace(choice, algorithms=(label,))))
    except Usage:
        return False


def _others(target: Target, choice: Choice, label: str, width: str) -> list[tuple[str, Sort]]:
    """The values of a choice with which an operation other than sort is served for a width, each with its sort.

    Raises:
        Usage: it is not served even without values.
    """
    out: list[tuple[str, Sort]] = []
    asked = [(w, v) for _, w, v in _asked(target, choice, (label,)) if w == width]
    why: Usage | None = None
    for value in [v for _, v in asked] or ["none"] * (label in _labels(target, width)):
        for key in operation(label).types(choice.keys, width):
            try:
                out.append((value, _served(target, choice, label, key, value)))
            except Usage as e:
                why = e
    if why is None or out:
        return out
    if all(v == "none" for _, v in asked):
        raise why
    return [("none", _served(target, choice, label, key, "none")) for key in operation(label).types(choice.keys, width)]


def _served(target: Target, choice: Choice, label: str, key: str, value: str) -> Sort:
    """An operation with a value, and with what it supports of the rest of a choice's signature."""
    whole, does = choice.signature(value), operation(label)

    def made(signature: Signature) -> Sort:
        return target.sort(label, key, does.signature(signature), choice.max_n)

    with suppress(Usage):
        return made(whole)
    kept = replace(PLAIN, value=value)
    sort = made(kept)
    for name in (f.name for f in fields(Signature)):
        with suppress(Usage):
            more = replace(kept, **{name: getattr(whole, name)})
            sort, kept = made(more), more
    return sort


def known(target: Target) -> tuple[str, ...]:
    """Return all algorithms that a choice of the target can name, except companions."""
    found = (AUTO, *sorted({a for a, _ in target.choices} | DERIVED.keys()), *IMPLICIT)
    return tuple(a for a in found if a not in COMPANIONS)


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


def _asked(target: Target, choice: Choice, labels: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """The labels, widths and values of a choice that go with each other."""
    labels = tuple(labels)
    pairs = product(labels, choice.widths)
    more = [(a, w, v) for a, w in pairs for v in operation(a).more_values(choice.values)]
    for label, width, value in (*product(labels, choice.widths, choice.values), *more):
        if value == "packed" and width != "u32":
            continue
        if operation(label).plain_only and value != "none":
            continue
        by_table = (AUTO, *target.labels("u64" if value == "packed" else width))
        if label in (*by_table, *_without_tables(target, width)):
            yield label, width, value


def _labels(target: Target, width: str) -> tuple[str, ...]:
    """The algorithms that serve a width of keys."""
    return (AUTO, *target.labels(width), *_without_tables(target, width))


def _without_tables(target: Target, width: str) -> tuple[str, ...]:
    return (*target.implicit(width), *target.derived(width))
