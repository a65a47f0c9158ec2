"""Functions that make a `Choice`, the selection of sorts for a bundle.

The sources are the options of a command, the manifest of an existing bundle, or both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hsgen.algorithms import DERIVED, EVERY, IMPLICIT, operation
from hsgen.bundle.manifest import Choice
from hsgen.core.errors import Usage
from hsgen.core.keys import FEATURES, KEYS, ORDERS, TYPES, VALUES
from hsgen.core.scratch import ANY_N
from hsgen.targets.target import AUTO, Target

COMPANIONS = tuple(name for name in EVERY if operation(name).accompanies)
"""The algorithms that a bundle has in addition to "auto" if the user names no algorithms.

At present, these are the digests, which hash the keys to check a sort.
"""


def offered(target: Target) -> tuple[str, ...]:
    """Return the key types for which a target has a sort or a prefix sum.

    A target file with parameters for u32 also serves types of 8 and 16 bits.
    """
    return tuple(t for t in TYPES if target.labels(t))


def choose(
    target: Target,
    keys: Iterable[str],
    apis: Iterable[str],
    algorithms: Iterable[str],
    *,
    values: Iterable[str] = (),
    orders: Iterable[str] = (),
    features: Iterable[str] = (),
    epilogue: str = "",
) -> Choice:
    """Return the choice with these key types, APIs, algorithms and so on; an empty list stands for its default.

    The default keys are those for which the target file has parameters.  The default APIs are all APIs of the target.
    The default algorithm is "auto", a sort that uses different algorithms for small and large counts.  The other
    defaults are no values, ascending order, and no features.

    Raises:
        Usage: the target lacks a named key type, API or algorithm, or a name is unknown.
    """
    have = _known(target)
    default = {
        "key": tuple(k for k in KEYS if any(k == x for _, x in target.choices)),
        "api": target.apis,
        "algorithm": (AUTO,),
        "value": ("none",),
        "order": ("ascending",),
        "feature": (),
    }
    requested = (keys, apis, algorithms, values, orders, features)
    picked: dict[str, Any] = {}
    for word, names in zip(have, requested, strict=True):
        chosen = set(names)
        for name in sorted(chosen - set(have[word])):
            raise Usage(f"target {target.name}: has no {word} {name}; it has {', '.join(have[word])}")
        picked[word] = tuple(n for n in have[word] if n in (chosen or default[word]))
    return Choice(**{f"{word}s": names for word, names in picked.items()}, epilogue=epilogue)


def again(target: Target, have: Choice) -> Choice:
    """Return the choice `have` of an existing bundle, after a check that the target file still supports the choice.

    Raises:
        Usage: the target no longer has a key type, API or algorithm of the choice.
    """
    more = {"values": have.values, "orders": have.orders, "features": have.features}
    choice = choose(target, have.keys, have.apis, have.algorithms, **more, epilogue=have.epilogue)
    return replace(choice, glsl_only=have.glsl_only, max_n=have.max_n)


def _known(target: Target) -> dict[str, tuple[str, ...]]:
    """Return all names that the target allows in each list of a `Choice`: keys, APIs, algorithms and so on.

    The lists of every choice are in the order of the lists that this function returns.
    """
    return {
        "key": offered(target),
        "api": target.apis,
        "algorithm": (AUTO, *sorted({a for a, _ in target.choices} | DERIVED.keys()), *IMPLICIT),
        "value": tuple(VALUES),
        "order": ORDERS,
        "feature": FEATURES,
    }


def widened(choice: Choice, have: Choice | None, target: Target) -> Choice:
    """Return the union of `choice` and the choice `have` of an existing bundle, which `choice` extends.

    Names that the target no longer has are left out.  If `choice` has no epilogue or no `max_n`, the result has that
    of `have`.  Whether the bundle has SPIR-V depends on `choice` alone.
    """
    if have is None:
        return choice
    both = {f"{word}s": names for word, names in _known(target).items()}
    names: dict[str, Any] = {
        name: tuple(n for n in known if n in (*getattr(choice, name), *getattr(have, name)))
        for name, known in both.items()
    }
    max_n = choice.max_n if choice.max_n < ANY_N else have.max_n
    return replace(choice, **names, epilogue=choice.epilogue or have.epilogue, max_n=max_n)
