"""What stands behind a sort, in the same plan: steps that tell where its keys change, or that call an epilogue."""

from __future__ import annotations

from hsgen import operations
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType, Signature
from hsgen.core.plan import Plan
from hsgen.core.sort import Part, Sort
from hsgen.stages import epilogue, run_boundaries


def fit(signature: Signature, other: str) -> None:
    """Refuse what nothing can follow; `other` is the name of what is no sort.

    Raises:
        Usage: such a form tells of changes, or has an epilogue, or one that is wrong.
    """
    run_boundaries.fit(signature, other)
    epilogue.fit(signature, other)


def followed(
    kernels: tuple[Kernel, ...], plan: Plan, parts: tuple[Part, ...], key: KeyType, signature: Signature, device: Device
) -> tuple[tuple[Kernel, ...], Plan]:
    """Return kernels and plan of a sort with those of what looks at the sorted keys behind it, if anything does."""
    if signature.run_boundaries:
        return run_boundaries.appended(kernels, plan, parts, run_boundaries.shape(key, signature, device))
    if signature.epilogue:
        return epilogue.appended(kernels, plan, parts, epilogue.shape(key, signature, device))
    return kernels, plan


def report_words(sort: Sort) -> tuple[int, int]:
    """Return the words that a report has room for: so many, and so many a key; (0, 0) where there is none."""
    always = operations.of(sort).report
    if always != (0, 0):
        return always
    if sort.signature.run_boundaries:
        return 1, 1
    says = epilogue.parsed(sort.signature.epilogue) if sort.signature.epilogue else None
    return (says.report_words, says.report_words_per_key) if says else (0, 0)


def report_length(sort: Sort, n: int) -> int:
    """Return the words that the report of `n` keys has room for; 0 where there is none."""
    words, words_per_key = report_words(sort)
    return words + words_per_key * n
