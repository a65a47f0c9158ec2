"""Selects the sorts of a target that a bundle's `Choice` asks for, and the APIs of each target."""

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
from hsgen.core.scratch import Scratch
from hsgen.core.sort import Sort
from hsgen.targets.target import AUTO, Target


def shared_out(apis: Sequence[str], targets: Sequence[Target]) -> list[tuple[str, ...]]:
    """Return, for each target, those of the APIs `apis` that the target has.

    Raises:
        Usage: no target has one of the APIs, or a target has none of the APIs.
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
    """Return the sorts of `target` that `choice` selects, in a fixed order.

    Each combination of an algorithm, a key width and a kind of values in the choice gives a sort, if the target
    supports it.  An algorithm supports the key widths for which the target file has its parameters.  Packed values
    require keys of 32 bits.  With the algorithm "auto", the result includes the target's first sort (see `_first`).
    A sort has all features of the choice.  Operations such as top-k have only those features that they support.  If an
    operation supports no kind of values of the choice, its kernels handle no values.

    needed: key types that the sorts must support.

    Raises:
        Usage: the target lacks a sort; no sort has an algorithm or packed values of the choice, or a needed key type.
    """
    out: dict[str, Sort] = {}
    used: set[str] = set()
    of_sorts = [a for a in choice.algorithms if operation(a).by_count or operation(a).accompanies]
    selects = any(operation(a).selects for a in choice.algorithms)
    segmented = any(a in EVERY and EVERY[a].TRAITS.segments for a in choice.algorithms)
    for label, width, value in _asked(target, choice, of_sorts):
        signature = operation(label).signature(choice.signature(value))
        if segmented:  # only the segmented sorts of the choice get these two features
            signature = replace(signature, segment_ends=False, segment_count=False)
        if selects and not operation(label).selects:
            signature = signature.of_equal_rows
        for key in operation(label).types(choice.keys, width):
            of = (key, signature, choice.max_n)
            sort = target.default(*of) if label == AUTO else target.sort(label, *of)
            first = _first(target, *of) if label == AUTO and not sort.plan.device_status else None
            out.setdefault(sort.file, _begun(sort, first) if first else sort)
            if first:
                out.setdefault(first.file, first)
        used |= {label, width, value}
    for label in (a for a in choice.algorithms if a not in of_sorts):
        for width in choice.widths:
            for value, sort in _others(target, choice, label, width):
                out.setdefault(sort.file, sort)
                used |= {label, width, value}
    _refuse(target, choice, used, needed)
    return list(out.values())


def requested(target: Target, choice: Choice, keys: Iterable[str] = ()) -> list[Sort]:
    """Return the sorts of a choice that a user has made, after a check that each of the user's options has an effect.

    Each option of the choice, and each key type in `keys`, must be supported by one of the choice's algorithms.

    Raises:
        Usage: no named algorithm supports a value, the descending order, a feature, the epilogue or a key type.
    """
    chosen, named = sorts(target, choice, keys), _named(choice)
    for option, has in _options(choice, keys):
        if not any(has(sort) for sort in chosen if _is_named(sort, named)):
            able = [label for label in known(target) if label not in named and _honours(target, choice, label, has)]
            hint = f"{', '.join(able)} {'does' if len(able) == 1 else 'do'}" if able else "omit it"
            verb = "take" if len(named) > 1 else "takes"
            where = f"target {target.name}: {', '.join(named)} for {', '.join(choice.keys)}"
            raise Usage(f"{where} {verb} no {option}; {hint}")
    return chosen


Has = Callable[[Sort], bool]
"""A predicate that tells whether a sort supports an option."""


def _options(choice: Choice, keys: Iterable[str]) -> Iterator[tuple[str, Has]]:
    """Yield (name, predicate) for each option of a choice that is not the default, and for each type in `keys`."""
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
    """Whether a sort can sort keys of the type `key`."""
    packed = sort.signature.value == "packed" and TYPES[key.name].key == "u32"
    return packed or operation(sort.algorithm).serves(sort, key)


def _is_named(sort: Sort, named: Sequence[str]) -> bool:
    """Whether a sort's algorithm is among the algorithms `named`; "auto" stands for all that "auto" can select."""
    return sort.algorithm in named or (AUTO in named and operation(sort.algorithm).by_count)


def _honours(target: Target, choice: Choice, label: str, has: Has) -> bool:
    """Whether an option, given by its predicate `has`, has an effect if `label` is the choice's only algorithm."""
    try:
        return any(has(sort) for sort in sorts(target, replace(choice, algorithms=(label,))))
    except Usage:
        return False


def _others(target: Target, choice: Choice, label: str, width: str) -> list[tuple[str, Sort]]:
    """Return pairs (kind of values, sort) for one key width and one algorithm `label` of an operation such as top-k.

    There is a pair for each kind of values in the choice that the operation supports.  If the operation supports none
    of them, there is a pair for the kind "none".

    Raises:
        Usage: the target lacks the operation for this width even without values.
    """
    out: list[tuple[str, Sort]] = []
    pairs = [(w, v) for _, w, v in _asked(target, choice, (label,)) if w == width]
    why: Usage | None = None
    for value in [v for _, v in pairs] or ["none"] * (label in _labels(target, width)):
        for key in operation(label).types(choice.keys, width):
            try:
                out.append((value, _served(target, choice, label, key, value)))
            except Usage as e:
                why = e
    if why is None or out:
        return out
    if all(v == "none" for _, v in pairs):
        raise why
    return [("none", _served(target, choice, label, key, "none")) for key in operation(label).types(choice.keys, width)]


def _served(target: Target, choice: Choice, label: str, key: str, value: str) -> Sort:
    """Return the sort for the algorithm `label` with values of the kind `value`.

    The sort has those features of the choice that its operation supports.
    """
    full, served = choice.signature(value), operation(label)

    def sort_of(signature: Signature) -> Sort:
        return target.sort(label, key, served.signature(signature), choice.max_n)

    with suppress(Usage):
        return sort_of(full)
    signature = replace(PLAIN, value=value)
    sort = sort_of(signature)
    for name in (f.name for f in fields(Signature)):
        with suppress(Usage):
            more = replace(signature, **{name: getattr(full, name)})
            sort, signature = sort_of(more), more
    return sort


def known(target: Target) -> tuple[str, ...]:
    """Return the algorithms that messages suggest to a user of the target: all but the digests (`COMPANIONS`)."""
    labels = (AUTO, *sorted({a for a, _ in target.choices} | DERIVED.keys()), *IMPLICIT)
    return tuple(a for a in labels if a not in COMPANIONS)


def _first(target: Target, key: str, signature: Signature, max_n: int) -> Sort | None:
    """Return the target's *first* sort, which compiles quickly, and serves calls until "auto" is compiled.

    The result is None if the target names no first sort, or if that sort does not support the signature.  `sorts` calls
    this function only if "auto" reports no retries (`DeviceStatus`), because the first sort could not report them.
    """
    label = target.firsts.get(target.keys_of("u64" if signature.value == "packed" else TYPES[key].key))
    try:
        return target.sort(label, key, signature, max_n) if label else None
    except Usage:
        return None


def _begun(sort: Sort, first: Sort) -> Sort:
    """Return `sort` with the file name of its first sort, and with scratch that suffices for both sorts."""
    rules = dict.fromkeys((*sort.plan.scratch.rules, *first.plan.scratch.rules))
    return replace(sort, first=first.file, plan=replace(sort.plan, scratch=Scratch(tuple(rules))))


def _refuse(target: Target, choice: Choice, used: set[str], needed: Iterable[str]) -> None:
    """Check that each algorithm of a choice, each key type in `needed`, and packed values if chosen, gave a sort.

    used: the algorithms, key widths and kinds of values of the sorts.

    Raises:
        Usage: no sort has one of them, or the algorithms support only plain unsigned elements.
    """
    where, keys, labels = f"target {target.name}", ", ".join(choice.keys), ", ".join(_named(choice))
    values = f" with value {', '.join(choice.values)}" if choice.values != ("none",) else ""
    have = "`hsgen targets` lists what it has"
    plain_only = [operation(label).plain_only for label in _named(choice)]
    if all(plain_only):
        forms = [described(signature) for signature in map(choice.untyped, choice.values) if signature != PLAIN]
        if forms:
            raise Usage(f"{where}: {labels} {plain_only[0]} plain elements alone, not {keys} {forms[0]}; name a sort")
    if "packed" in set(choice.values) - used:
        raise Usage(f"{where}: value packed goes with keys of 32 bits and tables of u64, not with {labels} for {keys}")
    for label in (a for a in _named(choice) if a not in used):
        raise Usage(f"{where}: has no {label} for {keys}{values}; {have}")
    for key in (k for k in needed if TYPES[k].key not in used):
        raise Usage(f"{where}: has no {labels} for {key}{values}; {have}")


def _named(choice: Choice) -> tuple[str, ...]:
    """Return the algorithms of a choice without `COMPANIONS`; if no algorithm remains, return all."""
    return tuple(a for a in choice.algorithms if a not in COMPANIONS) or choice.algorithms


def _asked(target: Target, choice: Choice, labels: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each combination (algorithm, key width, kind of values) of the choice that the target supports.

    labels: the algorithms to combine.
    """
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
    """Return all algorithms of a target for a key width, including those without parameters in the target file."""
    return (AUTO, *target.labels(width), *_without_tables(target, width))


def _without_tables(target: Target, width: str) -> tuple[str, ...]:
    return (*target.implicit(width), *target.derived(width))
