"""Functions that append a stage to a sort: a report of run boundaries, or an epilogue."""

from __future__ import annotations

from hsgen import operations
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType, Signature
from hsgen.core.plan import Plan
from hsgen.core.sort import Part, Sort
from hsgen.stages import epilogue, run_boundaries


def fit(signature: Signature, operation: str) -> None:
    """Check that the stage of a signature, run boundaries or an epilogue, is valid and that the operation supports it.

    operation: "" for a sort, otherwise the name of the operation.

    Raises:
        Usage: the operation or the signature does not support run boundaries or the epilogue, or the epilogue is
            invalid.
    """
    run_boundaries.fit(signature, operation)
    epilogue.fit(signature, operation)


def followed(
    kernels: tuple[Kernel, ...], plan: Plan, parts: tuple[Part, ...], key: KeyType, signature: Signature, device: Device
) -> tuple[tuple[Kernel, ...], Plan]:
    """Append the stage of the signature to a sort; return the kernels and the plan of both.

    If the signature has no stage, the sort's kernels and plan are returned unchanged.
    parts: the algorithms of the sort.
    """
    if signature.run_boundaries:
        return run_boundaries.appended(kernels, plan, parts, run_boundaries.shape(key, signature, device))
    if signature.epilogue:
        return epilogue.appended(kernels, plan, parts, epilogue.shape(key, signature, device))
    return kernels, plan


def report_words(sort: Sort) -> tuple[int, int]:
    """Return the size of a sort's report: a number of 32-bit words, and a number of further words per key.

    (0, 0) means that the sort has no report.
    """
    always = operations.of(sort).report
    if always != (0, 0):
        return always
    if sort.signature.run_boundaries:
        return 1, 1
    fragment = epilogue.parsed(sort.signature.epilogue) if sort.signature.epilogue else None
    return (fragment.report_words, fragment.report_words_per_key) if fragment else (0, 0)


def report_length(sort: Sort, n: int) -> int:
    """Return the number of 32-bit words in the report for `n` keys; 0 without a report."""
    words, words_per_key = report_words(sort)
    return words + words_per_key * n
